// ExchangeBoxes: what waits between a shard and the worker of its exchange (cluster_exchange.h), both ways. The shard
// and the driver never wait here for the network.
//
// A batch that came is given to the shard in two steps: its raises with the next TakeMail, before anything else, and
// its messages by Front and Pop. Front gives nothing of a batch whose raises are still here. So when Front has nothing
// more, everything up to `given` is the shard's, and nothing of what comes after: that is the position for a
// checkpoint.
//
// Thread: ExchangePort, Deliver, TakeMail, Front, Pop: the shard's, or the driver's while the shard is held. NoteFlush,
// Note, WantsCheckpoint, elsewhere: the driver's. The second half: the worker's. One lock, never held for long.
// Memory bound: per receiver out_bytes and the links of one page; in_bytes and one fetch of the transport; beyond these
// raises, robots.txt requests, and notices (kMaxNotices; more are dropped, as on the way).

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster_exchange_options.h"
#include "cluster/link_receiver.h"
#include "crawl/exchange.h"

namespace portolan {

class ExchangeBoxes : public ExchangePort {
 public:
  static constexpr size_t kMaxNotices = 65'536;

  explicit ExchangeBoxes(const ClusterExchangeOptions& options);

  // ---- the shard
  bool HasRoom(uint32_t to) const override;
  void Send(uint32_t to, std::string_view message) override;
  void Raise(uint32_t to, uint64_t pld) override { turn_[to].raises.push_back(pld); }
  void Tell(uint32_t to, const AddressNotice& notice) override { turn_[to].notices.push_back(notice); }
  void Deliver();
  ShardExchange::Mail TakeMail();
  std::optional<std::string_view> Front();
  void Pop();

  // ---- the driver
  bool Empty() const;
  void NoteFlush(bool idle);
  bool WantsCheckpoint(bool idle) const;
  void Note(const ShardExchange::Here& here);
  ShardExchange::Elsewhere elsewhere() const;
  std::optional<PhaseTime> phase_time() const;
  Status status() const;
  ExchangeCounters counters() const;
  std::string trouble() const;

  // ---- the worker
  struct Out {
    std::string messages;  // each after its length
    uint64_t count = 0;
    std::vector<uint64_t> raises;
    std::vector<AddressNotice> notices;
    bool empty() const { return count == 0 && raises.empty(); }  // but for notices
  };
  // What is to go to that shard.
  Out TakeOut(uint32_t to);
  // Puts a batch that came into the box.
  void Add(uint64_t sequence, const LinkBatchHeader& header, std::string messages, std::vector<uint64_t> raises);
  bool HasRoomIn() const { return in_bytes_ < options_.in_bytes; }
  void AddNotices(uint32_t from, const std::vector<AddressNotice>& notices);
  // Whether that receiver's batches find room.
  void SetRoom(uint32_t to, bool room);
  void SetAllStored(bool stored) { all_stored_ = stored; }
  void SetElsewhere(const ShardExchange::Elsewhere& elsewhere);
  // The phases' clock, when it is known better: shard and driver are woken.
  void SetPhaseTime(const PhaseTime& time);
  void Fail(const Error& error);
  void SetTrouble(std::string trouble);
  template <typename Change>
  void Count(Change&& change) {
    const std::lock_guard lock(mutex_);
    change(counters_);
  }
  ShardExchange::Here here() const;
  // The position of what the shard was given, and whether the driver said that it was idle then. REQUIRES: the shard is
  // held.
  LinkPosition given() const;
  bool idle() const { return flushed_idle_; }
  // Where reading begins.
  void Begin(const LinkPosition& position);

 private:
  struct Chunk {
    uint64_t sequence = 0;
    LinkBatchHeader header;
    std::string messages;
    std::vector<uint64_t> raises;
    bool mailed = false;  // its raises were taken
  };
  void GiveOver(const Chunk& chunk);  // REQUIRES: mutex_ is held

  const ClusterExchangeOptions options_;
  std::vector<Out> turn_;  // by receiver: what was sent since Deliver; the shard's

  std::vector<std::atomic<uint64_t>> out_bytes_;  // by receiver: of messages in out_
  std::vector<std::atomic<bool>> room_;           // by receiver
  mutable std::atomic<bool> turned_away_{false};  // HasRoom said no
  std::atomic<uint64_t> in_bytes_{0};
  std::atomic<bool> all_stored_{true};
  std::atomic<uint64_t> changes_{0};  // of what was sent or given
  uint64_t flushed_changes_ = ~uint64_t{0};
  bool flushed_idle_ = false;

  mutable std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<Out> out_;  // by receiver
  std::deque<Chunk> in_;
  LinkPosition given_;
  std::vector<AddressMail> notices_;
  ShardExchange::Here here_;
  ShardExchange::Elsewhere elsewhere_{.done = false, .only_waits = false};
  std::optional<PhaseTime> phase_time_;
  Status failed_;
  std::string trouble_;
  ExchangeCounters counters_;

  // The receiver's:
  std::optional<Chunk> reading_;
  size_t at_ = 0;
  std::string_view front_;  // empty data: none
};

}  // namespace portolan
