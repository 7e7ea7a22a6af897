// Inbox: results of fetches, in the order in which they came, until the shard has room for them.
//
// A result that waits here still counts as in flight: its host is busy, a checkpoint stores its URL as one that is
// being fetched, and after a crash it is fetched again. So the inbox stores nothing, and a checkpoint may happen at any
// time.
//
// Thread: one owner, the shard's thread. Memory bound: what the owner puts in; it takes no more results from the fetch
// threads while one waits here.

#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "base/result.h"
#include "crawl/shard.h"
#include "flow/page_result.h"

namespace portolan {

class Inbox {
 public:
  void Add(PageResult&& page) { pages_.push_back(std::move(page)); }
  void Add(std::vector<PageResult>&& pages) {
    for (PageResult& page : pages) Add(std::move(page));
  }
  bool empty() const { return pages_.empty(); }

  // Hands over the oldest results, as far as there is room. To be called before each turn of the shard.
  Status HandOver(Shard& shard, Moment now) {
    while (!pages_.empty() && shard.HasRoomFor(pages_.front())) {
      PageResult page = std::move(pages_.front());
      pages_.pop_front();
      RETURN_IF_ERROR(shard.OnPage(std::move(page), now));
    }
    shard.SetInboxWaits(!pages_.empty());
    return {};
  }

 private:
  std::deque<PageResult> pages_;
};

}  // namespace portolan
