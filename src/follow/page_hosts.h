// Which host a page belongs to and which domain a host: numbers only, for the host graph and the domain graph.
//
// The hosts' order is that of the pages (follow/node_key.h), so a bit per page says whether it begins a host, and the
// host is the number of such bits up to it. Domains are not in the order of hosts where a registry's customer runs a
// registry: bucket.s3.amazonaws.com is a domain of its own between hosts of amazonaws.com.
//
// Thread: one owner. Memory bound: 2 bits per page and 4 bytes per host.

#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/url_dictionary.h"
#include "url/domain.h"

namespace portolan {

class PageHosts {
 public:
  // The next page; whether it begins a host.
  void Add(bool begins) {
    if (pages_ % 64 == 0) words_.push_back({0, hosts_});
    words_.back().bits |= uint64_t{begins} << pages_ % 64;
    hosts_ += begins;
    ++pages_;
  }
  void Finish() { words_.shrink_to_fit(); }

  // REQUIRES: `page` was added.
  uint64_t HostOf(uint64_t page) const {
    const Word& word = words_[page / 64];
    return word.before + static_cast<uint64_t>(std::popcount(word.bits << (63 - page % 64))) - 1;
  }
  uint64_t host_count() const { return hosts_; }

  std::vector<uint32_t> domains;  // of each host
  uint64_t domain_count = 0;

 private:
  struct Word {
    uint64_t bits;
    uint64_t before;  // hosts that began before it
  };
  std::vector<Word> words_;
  uint64_t pages_ = 0;
  uint64_t hosts_ = 0;
};

// Numbers the domains of hosts that come in order. The first pass finds the domains that are out of order, which are
// some that the Public Suffix List names, and so few; the second one numbers all.
class DomainNumbers {
 public:
  static Result<DomainNumbers> Create();

  // First pass.
  void AddHost(std::string_view host_key);
  // Second pass over the same hosts: writes the domains' keys, and gives the number of each host's.
  Result<std::vector<uint32_t>> Number(const graph::UrlDictionary& hosts, graph::UrlDictionaryWriter& names);

  // "org,example" of "org,example,www". The host itself, where no registry sells names below it, and for addresses.
  std::string DomainOf(std::string_view host_key) const;

 private:
  explicit DomainNumbers(PublicSuffixes suffixes) : suffixes_(std::move(suffixes)) {}

  PublicSuffixes suffixes_;
  std::string largest_;
  std::map<std::string, uint32_t> late_;  // out of order, and their numbers
};

}  // namespace portolan
