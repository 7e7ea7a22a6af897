// AdmissionWindow: how many URLs may be admitted and not yet fetched.
//
// BEAST's budgets are pages "every T time units", and T is the time that crawling a queue takes: the queues must be
// read at the rate S of crawling (thesis ch. VI.2, VII.2 and Theorem 7). Read faster, because there is still room
// somewhere, ticks pass quicker than pages are crawled, every tick gives each domain its least budget again, and
// thousands of farms live on that. Read slower, connections idle. So what is admitted and not fetched (at the gate, in
// the frontier) is kept within a window, and idle connections alone make the window larger. Of each host only the first
// few URLs count (HostTable::kNear): a giant has thousands that wait for its clock and keep nobody else out.
//
//   - a connection that idles, because no host of the frontier may be hit, while URLs wait in the queues and the window
//     is full, makes the window larger by one URL each kAsk. That is less than it could have fetched meanwhile, so the
//     window does not outrun the capacity, and it reaches what politeness needs: S × tau_h hosts and what the robots
//     loop holds;
//   - each kFade pages that end while no connection idles make it smaller by one, down to `least`: what was needed once
//     is not held for ever.
//
// Thread: one owner, the shard. No clock: time comes with the calls. Memory: none of the URLs is here. The window has
// no largest size of its own: the frontier keeps its memory by spilling, and says when it cannot take more hosts; the
// shard tells no idleness then. Not in checkpoints: after a crash it begins at `least` and grows again.

#pragma once

#include <algorithm>
#include <cstdint>

namespace portolan {

class AdmissionWindow {
 public:
  static constexpr int64_t kAsk = 100'000'000;  // ns
  static constexpr uint64_t kFade = 8;          // pages

  explicit AdmissionWindow(uint64_t least) : least_(std::max<uint64_t>(least, 1)), size_(least_) {}

  // From now on so many connections idle; 0 as soon as that ends. `full`: URLs wait for admission and Room is 0.
  void SetIdle(uint64_t connections, bool full, int64_t now_ns) {
    if (idle_ > 0 && now_ns > since_ns_) {
      // A long silence is not worth more than a window: what was asked for has not arrived yet.
      const uint64_t asks = idle_ * static_cast<uint64_t>(std::min(now_ns - since_ns_, kLongest)) + part_;
      size_ += std::min(asks / kAsk, size_);
      part_ = asks % kAsk;
    }
    idle_ = full ? connections : 0;
    busy_ = connections == 0;
    since_ns_ = now_ns;
  }
  // A page came to its end, its connection will take another one.
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
  uint64_t idle_ = 0;  // connections, that count
  bool busy_ = false;  // none idles
  int64_t since_ns_ = 0;
  uint64_t part_ = 0;     // of kAsk, that was waited and not used
  uint64_t fetched_ = 0;  // since the last one was taken off
};

}  // namespace portolan
