// LinkCollector: collects the links of one page in a LinkList, each URL once.
//
// Menus repeat themselves: without this every page would send the same hundred links twice through the crawler. If a
// link appears on a page several times, nofollow and embed are set only if all places have them (one normal link is
// enough to clear them); the other flags are set if any place has them.
//
// Thread: one owner. Memory bound: 8 to 16 bytes per link besides the list, kept for the next page.

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "flow/page_result.h"

namespace portolan {

class LinkCollector {
 public:
  // Begins a page. `list` must outlive the Adds; `expected` is a guess at the number of links.
  void Begin(LinkList& list, size_t expected, size_t max_links);

  // False if the limit kept a new link out.
  bool Add(std::string_view url, uint64_t hash, uint64_t host_hash, uint8_t flags);

  // The index in the list of the link of the last Add that returned true.
  size_t last() const { return last_; }

 private:
  void Resize(size_t slots);

  LinkList* list_ = nullptr;
  size_t max_links_ = 0;
  size_t last_ = 0;
  // Open addressing over the first mask_ + 1 slots: 1 + index of the link, 0 for none.
  std::vector<uint32_t> slots_;
  size_t mask_ = 0;
};

}  // namespace portolan
