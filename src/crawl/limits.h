// Limits: how many pages, bytes and how much time a whole crawl may take. A reached limit stays reached.
//
// The shards of a crawl share one object. A page is counted when its fetch begins (Begin), because each fetch in flight
// may become a page that counts. So the limit of pages is never exceeded, however many shards fetch at the same time.
//
// Thread: any; one lock inside, not used if there is no limit of pages or bytes. No clock: time comes with the calls.

#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <mutex>
#include <string_view>

namespace portolan {

class Limits {
 public:
  struct Options {
    uint64_t max_pages = 0;   // 0: no limit, here and below
    uint64_t max_bytes = 0;   // received
    int64_t max_time_ns = 0;  // since the crawl began, pauses not counted
  };
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  explicit Limits(const Options& options) : options_(options) {}

  // Adds what was fetched in earlier runs: pages that count, and bytes.
  void Add(uint64_t pages, uint64_t bytes) {
    if (!counts()) return;
    const std::lock_guard lock(mutex_);
    pages_ += pages;
    bytes_ += bytes;
    Look();
  }
  // What other processes fetched for the same crawl, as they said last. They do not count what they have begun, so a
  // crawl of several processes may exceed the limits by what all fetch between two reports.
  void SetElsewhere(uint64_t pages, uint64_t bytes) {
    if (!counts()) return;
    const std::lock_guard lock(mutex_);
    pages_elsewhere_ = pages;
    bytes_elsewhere_ = bytes;
    Look();
  }
  // Begins a fetch that may become a page. False: pages and running fetches may already reach the limit.
  bool Begin() {
    if (options_.max_pages == 0) return true;
    const std::lock_guard lock(mutex_);
    if (pages_ + pages_elsewhere_ + open_ >= options_.max_pages) return false;
    ++open_;
    return true;
  }
  // Ends such a fetch; `counted`: it became a page that counts.
  void End(bool counted) {
    if (options_.max_pages == 0) return;
    const std::lock_guard lock(mutex_);
    --open_;
    if (counted) ++pages_;
    Look();
  }
  void AddBytes(uint64_t bytes) {
    if (options_.max_bytes == 0) return;
    const std::lock_guard lock(mutex_);
    bytes_ += bytes;
    Look();
  }

  // Checks the time. True: a limit is reached.
  bool Check(int64_t running_ns) {
    if (options_.max_time_ns > 0 && running_ns >= options_.max_time_ns) Reach(Which::kTime);
    return any_reached();
  }
  bool any_reached() const { return which_ != Which::kNone; }
  // "max_pages" …; empty if none is reached.
  std::string_view reached() const {
    constexpr std::string_view kNames[] = {"", "max_pages", "max_bytes", "max_time"};
    return kNames[static_cast<size_t>(which_.load())];
  }
  // Time until the limit of time; kNever if there is none.
  int64_t TimeLeft(int64_t running_ns) const {
    return options_.max_time_ns > 0 ? options_.max_time_ns - running_ns : kNever;
  }

 private:
  enum class Which : uint8_t { kNone, kPages, kBytes, kTime };

  bool counts() const { return options_.max_pages > 0 || options_.max_bytes > 0; }
  // Only the first one is stored.
  void Reach(Which which) {
    Which none = Which::kNone;
    which_.compare_exchange_strong(none, which);
  }
  void Look() {
    if (options_.max_pages > 0 && pages_ + pages_elsewhere_ >= options_.max_pages) Reach(Which::kPages);
    if (options_.max_bytes > 0 && bytes_ + bytes_elsewhere_ >= options_.max_bytes) Reach(Which::kBytes);
  }

  const Options options_;
  std::atomic<Which> which_{Which::kNone};
  std::mutex mutex_;
  // Guarded by mutex_:
  uint64_t pages_ = 0;
  uint64_t open_ = 0;  // begun and not ended
  uint64_t bytes_ = 0;
  uint64_t pages_elsewhere_ = 0;
  uint64_t bytes_elsewhere_ = 0;
};

}  // namespace portolan
