// AdmissionWindow: how many URLs may be admitted and not yet fetched.
//
// BEAST's budgets are pages "every T time units", and T is the time that crawling a queue takes: the queues must be
// read at the rate S of crawling (thesis ch. VI.2, VII.2 and Theorem 7). If they are read faster, because there is room
// somewhere, ticks pass more quickly than pages are crawled, every tick gives each domain its least budget again, and
// thousands of farms live on that. If they are read more slowly, connections idle. So the URLs that are admitted and
// not fetched (at the gate, in the frontier) are kept within a window, and only idle connections make the window
// larger. For each host only the first few URLs count (HostTable::kNear): a giant host has thousands that wait for its
// clock, and they must not keep other hosts out.
//
//   - a connection that idles because no host of the frontier may be contacted, while URLs wait in the queues and the
//     window is full, makes the window larger by one URL per kAsk. That is less than it could have fetched meanwhile,
//     so the window does not outrun the capacity, and it reaches what politeness needs: S × tau_h hosts and the URLs
//     in the robots loop;
//   - every kFade pages that end while no connection idles make it smaller by one, down to `least`: what was needed
//     once is not held for ever.
//
// Thread: one owner, the shard. No clock: time comes with the calls. Memory: constant, no URLs are stored here. The
// window has no upper bound of its own: the frontier bounds its memory by spilling, and says when it cannot take more
// hosts; the shard then reports no idle connections. Not in checkpoints: after a restart it begins at `least` and grows
// again.

#pragma once

#include <algorithm>
#include <cstdint>

namespace portolan {

class AdmissionWindow {
 public:
  static constexpr int64_t kAsk = 100'000'000;  // ns
  static constexpr uint64_t kFade = 8;          // pages

  explicit AdmissionWindow(uint64_t least) : least_(std::max<uint64_t>(least, 1)), size_(least_) {}

  // From now on this many connections idle; 0 when none does. `full`: URLs wait for admission and Room is 0.
  void SetIdle(uint64_t connections, bool full, int64_t now_ns) {
    if (idle_ > 0 && now_ns > since_ns_) {
      // A long silence counts for at most one doubling: what was asked for has not arrived yet.
      const uint64_t asks = idle_ * static_cast<uint64_t>(std::min(now_ns - since_ns_, kLongest)) + part_;
      size_ += std::min(asks / kAsk, size_);
      part_ = asks % kAsk;
    }
    idle_ = full ? connections : 0;
    busy_ = connections == 0;
    since_ns_ = now_ns;
  }
  // A page ended; its connection will take another one.
  void OnFetched() {
    if (!busy_ || size_ == least_ || ++fetched_ < kFade) return;
    fetched_ = 0;
    --size_;
  }

  uint64_t size() const { return size_; }
  uint64_t Room(uint64_t pending) const { return size_ > pending ? size_ - pending : 0; }
  // The window grows: look again after kAsk.
  bool growing() const { return idle_ > 0; }

 private:
  static constexpr int64_t kLongest = 10 * kAsk;

  const uint64_t least_;
  uint64_t size_;
  uint64_t idle_ = 0;  // idle connections that count
  bool busy_ = false;  // no connection idles
  int64_t since_ns_ = 0;
  uint64_t part_ = 0;     // of kAsk: time waited and not yet used
  uint64_t fetched_ = 0;  // pages since the window last shrank
};

}  // namespace portolan
