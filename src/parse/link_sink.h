// LinkSink: where handlers put the links that they find: resolved against the answer's URL, canonical, each once,
// within the page's limit; what is left out is counted in the PageResult.
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
  // One that is resolved already; over the limit it is false, and nothing is counted.
  bool AddResolved(std::string_view url, uint64_t hash, uint64_t host_hash, uint8_t flags) {
    return collector_.Add(url, hash, host_hash, flags);
  }
  // Of the link that was added last, in PageResult::links.
  size_t last() const { return collector_.last(); }

 private:
  const LinkOptions options_;
  const Url* base_ = nullptr;
  PageResult* result_ = nullptr;
  LinkCollector collector_;
  Link link_;
};

}  // namespace portolan
