// Inbox: results of fetches, in the order in which they came, until the shard has room for them.
//
// What is here still counts as in flight: its host is busy, a checkpoint holds its URL as one that is being fetched,
// and after a crash it is fetched again. So nothing of it need be kept, and a checkpoint may happen at any time.
//
// Thread: one owner, that of the shard. Memory bound: what the owner puts in; it takes no more from the fetch threads
// while something waits here.

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

  // Hands the first ones over, as far as there is room. To be called before each turn of the shard.
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
