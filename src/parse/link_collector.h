// LinkCollector: the links of one page into a LinkList, each URL once.
//
// Menus repeat themselves: without this every page would send the same hundred links twice through the crawler. A link
// that stands on a page several times keeps what all its places agree on for nofollow and embed (one honest link
// outweighs them), and whatever any place says for the rest.
//
// Thread: one owner. Memory bound: 8 to 16 bytes a link besides the list, kept for the next page.

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

  // False where the limit kept a new link out.
  bool Add(std::string_view url, uint64_t hash, uint64_t host_hash, uint8_t flags);

  // Of the link that the last Add, which said true, was about: its index in the list.
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
