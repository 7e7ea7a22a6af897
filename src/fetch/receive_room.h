// ReceiveRoom: which fetches of a loop may receive now, by the byte budget that all answers share.
//
// The budget's last bytes are for fetches that set others free, so each kind of taking leaves some:
//
//   a large body          leaves 5/8 of the budget
//   a small body          leaves 17/32 of it. Small is what is at most 1/128 of the budget and at most 1 MiB, by its
//                         Content-Length, or by what has come where that is not known. So common pages pass beside
//                         large bodies that wait, in a line of their own
//   a fetch that begins   leaves 1/2: a quarter for pages, and the reserve of the elected
//   the elected           leaves nothing: one fetch per line and loop, the oldest that was refused, gets all it asks
//                         for until it ends and its answer is handed over. So what has begun comes to its end, however
//                         many have begun. max_body for each loop is its reserve, at most a quarter
//   a page that is made   of an answer that is whole (parse/) takes what its links and records need, beyond the budget
//                         if need be. It is made only while the budget is not used up: so that is one page per loop
//
// Bodies also leave 16 KiB for each fetch that the loop may have and that has not begun, up to an eighth of the budget:
// so those that came first do not keep the others from beginning.
//
// (Where the reserve is less than a quarter, all leave as much less.) Bodies and fetches that begin never use more than
// half, the elected not more than 3/4. What is left is for pages on their way to the disk: so answers wait for pages,
// pages for the disk, and nothing waits for what is behind it.
//
// A fetch that is refused is stalled (Exchange): its socket is not read, and its time does not run. When there is room
// again, small bodies go first, then fetches that begin, then large bodies; in a line those that say how long they are
// before the others, and of these the older ones.
//
// No large body is elected before a fetch could begin: a slow disk would be kept full by one large body after the
// other, and no small page would ever begin again. A small one is elected while an eighth of the budget is free.
//
// An elected small body that did not say its length may turn out to be large. It is moved to the line of large ones,
// where every other election is for it; until it goes on there, only small bodies that say their length are elected. So
// there is never more than one per loop that holds more than bodies may.
//
// Slow bodies: while the budget is tight, a body that brings per second less than a kMaxSluggishness-th of what it
// holds may be ended in kSlowCut, the worst first (FetchLoop). What is not slow in this sense doubles within seconds,
// up to max_body.
//
// Thread: the loop's. Memory bound: a pointer for each stalled fetch.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "fetch/fetch_options.h"
#include "io/byte_budget.h"

namespace portolan {

class Exchange;

class ReceiveRoom {
 public:
  // Paid when a fetch begins, so that most answers never ask again.
  static constexpr uint64_t kFirstBytes = uint64_t{16} << 10;
  // What a fetch over libcurl costs besides: its buffers, TLS, HTTP/2. Measured (docs/memory.md): 88 KiB over HTTP/1.1,
  // 118 KiB over HTTP/2.
  static constexpr uint64_t kCurlBytes = uint64_t{128} << 10;
  static constexpr double kMaxSluggishness = 16;

  // `on_free` is called on any thread, when it is worth asking Take…, Start and MayDeliver again; never after the
  // destructor.
  ReceiveRoom(const FetchOptions& options, std::function<void()> on_free);
  ~ReceiveRoom();
  ReceiveRoom(const ReceiveRoom&) = delete;
  ReceiveRoom& operator=(const ReceiveRoom&) = delete;

  // A new lease of `bytes` for a fetch that begins. `forced`: in any case; the loop has no other.
  bool Start(uint64_t bytes, bool forced, ByteLease& lease);
  // False: not now. The exchange may use what it has, then it stalls.
  bool Grow(Exchange& exchange, uint64_t bytes);
  void Stall(Exchange& exchange);
  // Of those that are stalled the ones that go on: they are resumed, and hold a little more.
  std::vector<Exchange*> TakeSmall() { return TakeFrom(small_); }
  std::vector<Exchange*> TakeLarge() { return TakeFrom(large_); }
  // May an answer be made a page? If not, on_free comes when it may.
  bool MayDeliver();
  // It has ended.
  void Forget(Exchange& exchange);
  // So many fetches of the loop have begun and not ended.
  void set_running(uint64_t running) { running_ = running; }
  // Answers wait that may not be made pages: while they do nobody is elected, for the reserve is still in use.
  void HoldElections(bool hold);

  // Large bodies are refused, or nearly.
  bool tight() const;

 private:
  enum Kind : uint8_t { kSmall, kSmallSeat, kLarge, kLargeSeat, kFetch, kPage, kKinds };
  struct Bell;
  struct Line {
    Kind kind;
    Kind seat;
    uint64_t leave = 0;
    std::vector<Exchange*> stalled;
    Exchange* elected = nullptr;
  };

  void Await(Kind kind, uint64_t bytes);
  void AwaitRoom(const Line& line);
  void Ring();
  // The line of an exchange that wants so many bytes more.
  Line& LineOf(const Exchange& exchange, uint64_t bytes);
  uint64_t LeaveOfSeat(const Line& line) const;
  // With what fetches that have not begun will need.
  uint64_t LeaveOf(const Line& line) const;
  bool MayElect(const Line& line, const Exchange& exchange) const;
  // It goes on as a large body: it is no small one that was elected, or that waits to go on as a large one.
  void NoteLarge(const Exchange& exchange);
  std::vector<Exchange*> TakeFrom(Line& line);

  ByteBudget* const budget_;
  const uint64_t max_running_;
  uint64_t running_ = 0;
  uint64_t leave_fetch_ = 0;
  uint64_t leave_small_seat_ = 0;
  uint64_t leave_moved_ = 0;
  uint64_t small_bytes_ = 0;
  Line small_{.kind = kSmall, .seat = kSmallSeat, .stalled = {}};
  Line large_{.kind = kLarge, .seat = kLargeSeat, .stalled = {}};
  Exchange* moved_ = nullptr;  // was elected as small, turned out large, and is stalled
  bool moved_turn_ = false;    // it is elected before others
  bool holding_ = false;
  std::shared_ptr<Bell> bell_;
};

}  // namespace portolan
