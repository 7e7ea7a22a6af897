// BackQueue: the URLs of one host, in the order in which they will be fetched. Of a long queue the most is on disk.
//
//   later       URLs that failed and wait for another attempt, by time; at most kMaxLater
//   head        RAM; what is fetched next
//   blocks      references into the spill; oldest first
//   tail        RAM; the newest, until they fill a block
//
// New URLs go to the head while nothing is behind it and it is below `head_bytes`, then to the tail; a full tail
// becomes a block. When one URL is left in the head, the oldest block (or, if there is none, the tail) becomes the
// head. So a queue of any length holds at most head_bytes + 2 × block_bytes in RAM, and 12 bytes per block on disk
// (about 800 URLs).
//
// The page cache is asked for a block when kAskAhead URLs are left before it: milliseconds before the fastest host
// needs it, half a minute before most do, and not so early that it would be evicted again.
//
// A URL of `later` whose time has come goes before the head: it has already waited behind the others of its host. A
// host with kMaxLater of them is slowed down until the first is due, so the list stays short whatever the host does.
//
// Thread: one owner. On an I/O error nothing has changed.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "frontier/record_fifo.h"
#include "frontier/spill_log.h"

namespace portolan {

class BackQueue {
 public:
  static constexpr size_t kMaxLater = 64;
  static constexpr uint32_t kAskAhead = 32;
  static constexpr int64_t kAtOnce = std::numeric_limits<int64_t>::min();

  struct Limits {
    size_t head_bytes = 0;
    size_t block_bytes = 0;
  };
  struct Later {
    int64_t not_before_ns = 0;
    std::string record;
  };

  bool empty() const { return size() == 0; }
  uint64_t size() const { return in_ram() + on_disk(); }
  uint64_t in_ram() const { return head_.count() + later_count() + (rest_ ? rest_->tail.count() : 0); }
  uint64_t on_disk() const { return rest_ ? rest_->on_disk : 0; }
  size_t later_count() const { return later_ ? later_->size() : 0; }
  // Heap memory, and the part of it that Spill could free.
  size_t ram_bytes() const;
  size_t spillable_bytes() const { return head_.bytes() + (rest_ ? rest_->tail.bytes() : 0); }

  // Appends. May write a block; if that fails, the record was not taken.
  Status Push(std::string_view record, const Limits& limits, SpillLog& spill);
  // Appends without writing: RAM may exceed the limits until the next Push or Spill.
  void PushInRam(std::string_view record, const Limits& limits);
  void PushFront(std::string_view record) { head_.PushFront(record); }
  // Adds a URL for that time or later. REQUIRES: the host is not hit before ReadyAt(), so that the list stays short.
  void PushLater(std::string_view record, int64_t not_before_ns);

  // True if every URL waits in `later`, except at most one, which is then `*head` (empty if there is none).
  bool OnlyLater(std::string_view* head) const {
    *head = head_.empty() ? std::string_view() : head_.front();
    return !rest_ && head_.count() <= 1;
  }
  // Lowers the time of each URL in `later` to `soonest(record)`, if that is earlier. Their order may change.
  template <typename Soonest>
  void HurryLater(Soonest soonest) {
    if (!later_) return;
    for (Later& later : *later_) later.not_before_ns = std::min(later.not_before_ns, soonest(later.record));
    std::stable_sort(later_->begin(), later_->end(),
                     [](const Later& a, const Later& b) { return a.not_before_ns < b.not_before_ns; });
  }

  // When a URL may be taken: kAtOnce, or the time of the first in `later` if no other URL is left, or `max_later` wait.
  int64_t ReadyAt(size_t max_later) const;
  // Takes the next URL. REQUIRES: not empty and ReadyAt() <= now_ns.
  Status Pop(int64_t now_ns, SpillLog& spill, std::string& record);
  // Any URL of the queue, to get its host's name. REQUIRES: not empty. Valid until the next change.
  std::string_view Any() const;

  // Writes the larger part of the URLs in RAM, the newest, to the spill. False if there are too few.
  Result<bool> Spill(SpillLog& spill);

  // For snapshot, compaction and checks.
  const RecordFifo& head() const { return head_; }
  const std::vector<Later>* later() const { return later_.get(); }
  const RecordFifo* tail() const { return rest_ ? &rest_->tail : nullptr; }
  std::deque<SpillRef>* blocks() { return rest_ ? &rest_->blocks : nullptr; }
  const std::deque<SpillRef>* blocks() const { return rest_ ? &rest_->blocks : nullptr; }
  void RestoreHead(std::string_view record) { head_.PushBack(record); }
  void RestoreTail(std::string_view record) { GetRest().tail.PushBack(record); }
  void RestoreBlock(const SpillRef& ref);

 private:
  struct Rest {
    std::deque<SpillRef> blocks;
    uint64_t on_disk = 0;  // records in blocks
    RecordFifo tail;
    bool asked = false;  // whether the page cache was asked for the first block
  };

  Rest& GetRest();
  Status WriteTail(SpillLog& spill);
  // Adds to a head that is nearly empty.
  Status Refill(SpillLog& spill);
  void AskAhead(SpillLog& spill);

  RecordFifo head_;
  std::unique_ptr<Rest> rest_;  // most hosts have none
  std::unique_ptr<std::vector<Later>> later_;
};

}  // namespace portolan
