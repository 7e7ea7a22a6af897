// Limits: what a crawl as a whole may take, of pages, bytes and time. One that is reached stays reached.
//
// Thread: one owner, the shard. No clock: time comes with the calls.

#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "crawl/counts.h"

namespace portolan {

class Limits {
 public:
  struct Options {
    uint64_t max_pages = 0;   // 0: no limit, of each
    uint64_t max_bytes = 0;   // received
    int64_t max_time_ns = 0;  // since the crawl began, pauses not counted
  };

  explicit Limits(const Options& options) : options_(options) {}

  // Looks again; true: a limit is reached.
  bool Check(const CrawlCounts& counts, int64_t running_ns) {
    if (!reached_.empty()) return true;
    if (options_.max_pages > 0 && counts.pages() >= options_.max_pages) {
      reached_ = "max_pages";
    } else if (options_.max_bytes > 0 && counts.wire_bytes >= options_.max_bytes) {
      reached_ = "max_bytes";
    } else if (options_.max_time_ns > 0 && running_ns >= options_.max_time_ns) {
      reached_ = "max_time";
    }
    return !reached_.empty();
  }
  bool any_reached() const { return !reached_.empty(); }
  // "max_pages" …, empty while none is.
  std::string_view reached() const { return reached_; }

  // One more page may be begun, beside those in flight: each of them may become one that counts.
  bool AllowsPage(const CrawlCounts& counts, uint64_t pages_in_flight) const {
    return options_.max_pages == 0 || counts.pages() + pages_in_flight < options_.max_pages;
  }
  // Until the limit of time; kNever where there is none.
  int64_t TimeLeft(int64_t running_ns) const {
    return options_.max_time_ns > 0 ? options_.max_time_ns - running_ns : kNever;
  }
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

 private:
  const Options options_;
  std::string_view reached_;
};

}  // namespace portolan
