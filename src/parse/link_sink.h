// LinkSink: takes the links that handlers find. It resolves them against the answer's URL, makes them canonical, and
// keeps each once, within the page's limit. Links left out are counted in the PageResult.
//
// Thread: one owner. Memory bound: LinkCollector's.

#pragma once

#include <cstdint>
#include <string_view>

#include "flow/page_result.h"
#include "parse/link_collector.h"
#include "url/link.h"
#include "url/url.h"

namespace portolan {

class LinkSink {
 public:
  explicit LinkSink(const LinkOptions& options) : options_(options) {}

  // Begins an answer. `expected` is a guess at the number of links. REQUIRES: both outlive the Adds.
  void Begin(const Url& base, PageResult& result, size_t expected, size_t max_links);
  // As written in the answer. False when it is not crawlable or over the limit, which is counted.
  bool Add(std::string_view href, uint8_t flags);
  // A link that is already resolved; over the limit it returns false, and nothing is counted.
  bool AddResolved(std::string_view url, uint64_t hash, uint64_t host_hash, uint8_t flags) {
    return collector_.Add(url, hash, host_hash, flags);
  }
  // The index in PageResult::links of the link that was added last.
  size_t last() const { return collector_.last(); }

 private:
  const LinkOptions options_;
  const Url* base_ = nullptr;
  PageResult* result_ = nullptr;
  LinkCollector collector_;
  Link link_;
};

}  // namespace portolan
