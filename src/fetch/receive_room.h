// ReceiveRoom: which fetches of a loop may receive now, by the byte budget that all answers share.
//
// The budget's last bytes are for those who set others free, so each kind of taking leaves some:
//
//   a body that grows     leaves 3/8 of the budget, and the reserve of the elected
//   a fetch that begins   leaves 1/4 of it, and that reserve: small pages pass beside large bodies that wait
//   the elected           leaves nothing: one fetch a loop, the oldest that was refused, gets all it asks for until it
//                         ends and its answer is handed over. So what has begun comes to its end, however many have
//                         begun; max_body for each loop is its reserve
//   a page that is made   of an answer that is whole (parse/) takes what its links and records need, beyond the budget
//                         if need be. It is made only while the budget is not used up: so that is one page a loop
//
// Taking by the first three never uses more than 3/4. What is left is for pages on their way to the disk: so answers
// wait for pages, pages for the disk, and nobody for those behind him.
//
// A fetch that is refused is stalled (Exchange): its socket is not read, and its time does not run. When there is room
// again those that are older go first.
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
  // What a fetch over libcurl costs besides: its buffers, TLS, HTTP/2. An estimate from their sizes.
  static constexpr uint64_t kCurlBytes = uint64_t{112} << 10;
  static constexpr double kMaxSluggishness = 16;

  // `on_free` is called on any thread, when it is worth asking TakeResumable, MayStart and MayDeliver again; never
  // after the destructor.
  ReceiveRoom(const FetchOptions& options, std::function<void()> on_free);
  ~ReceiveRoom();
  ReceiveRoom(const ReceiveRoom&) = delete;
  ReceiveRoom& operator=(const ReceiveRoom&) = delete;

  // A new lease of `bytes` for a fetch that begins. `forced`: in any case; the loop has no other.
  bool Start(uint64_t bytes, bool forced, ByteLease& lease);
  // False: not now. The exchange may use what it has, then it stalls.
  bool Grow(Exchange& exchange, uint64_t bytes);
  void Stall(Exchange& exchange);
  // Those that are stalled and go on: they are resumed, and hold a little more.
  std::vector<Exchange*> TakeResumable();
  // May an answer be made a page? If not, on_free comes when it may.
  bool MayDeliver();
  // It has ended.
  void Forget(Exchange& exchange);
  // Answers wait that may not be made pages: while they do nobody is elected, for the reserve is still in use.
  void HoldElections(bool hold);

  // Bodies that grow are refused, or nearly.
  bool tight() const;

 private:
  enum Kind : uint8_t { kBody, kFetch, kPage, kKinds };
  struct Bell;

  void Await(Kind kind, uint64_t bytes);

  ByteBudget* const budget_;
  uint64_t leave_body_ = 0;
  uint64_t leave_fetch_ = 0;
  std::vector<Exchange*> stalled_;
  Exchange* elected_ = nullptr;
  bool holding_ = false;
  std::shared_ptr<Bell> bell_;
};

}  // namespace portolan
