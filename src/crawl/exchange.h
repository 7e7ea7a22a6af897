// ShardExchange: how the shards of a crawl reach each other. ExchangePort is the interface that a shard uses, this one
// the one that the driver uses; MemoryExchange connects the shards of one process.
//
// Three kinds of things cross:
//   messages (crossing.h)  links, robots.txt of other shards' domains, ranks. They need room: a shard that sends links
//                          asks HasRoom first. They wait here until the receiver has room. They are part of a
//                          checkpoint: before it the driver moves them to the receiver's queue of arrivals
//                          (Shard::KeepArrival).
//   raises                 "another domain vouches for this one", for STAR. The receiver always takes them in its next
//                          turn: its queue of raises is on disk. They must not wait behind links: a shard takes links
//                          only while STAR has room, and STAR gets room by taking answers that may raise domains of
//                          other shards.
//   address notices        (flow/address_notice.h). Taken in the receiver's next turn. Not part of a checkpoint.
//
// Per pair of shards, each kind arrives in the order in which it was sent.
//
// What an exchange must remember across a restart is in its Checkpointables: their flush ends only when all that was
// sent before it is where it survives this process, and Committed may forget what had been taken.
//
// MemoryExchange. Thread: a port and Deliver belong to the sender's thread; Take…, Front and Pop to the receiver's. One
// lock per receiver. Other shards see what a shard sent after Deliver, at the end of its turn.
// Memory bound: per receiver Options::bytes of messages, plus the links of each sender's last page (HasRoom is asked
// once per page). Raises and notices: what the other shards send during one turn of the receiver, 8 and 32 bytes each.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "disk/manifest.h"
#include "flow/address_notice.h"
#include "frontier/phase_partition.h"

namespace portolan {

class ExchangePort {
 public:
  virtual ~ExchangePort() = default;
  // True if links may be sent to that shard now, as many as one page has.
  virtual bool HasRoom(uint32_t to) const = 0;
  virtual void Send(uint32_t to, std::string_view message) = 0;
  virtual void Raise(uint32_t to, uint64_t pld) = 0;
  virtual void Tell(uint32_t to, const AddressNotice& notice) = 0;
};

// Shards are named by their number in the crawl.
class ShardExchange {
 public:
  struct Mail {
    std::vector<AddressMail> notices;
    std::vector<uint64_t> raises;
  };
  virtual ~ShardExchange() = default;

  virtual ExchangePort& port(uint32_t from) = 0;
  // Makes what `from` has sent so far visible to the receivers.
  virtual void Deliver(uint32_t from) = 0;

  // ---- for the receiver
  virtual Mail TakeMail(uint32_t to) = 0;
  // The oldest message, if there is one. Valid until Pop.
  virtual std::optional<std::string_view> Front(uint32_t to) = 0;
  virtual void Pop(uint32_t to) = 0;  // REQUIRES: Front gave one.

  // True if no message and no raise is on its way; notices do not count. REQUIRES: no shard is in its turn.
  virtual bool Empty() const = 0;

  // Parts of the crawl's checkpoint; none if nothing outlives the process.
  virtual std::vector<Checkpointable*> Checkpointables() { return {}; }

  // ---- for a crawl with shards in other processes. All are called by the driver's thread.
  struct Here {
    bool only_waits = false;  // nothing is left here but what waits for another attempt
    uint64_t pages = 0;       // for limits of the whole crawl
    uint64_t bytes = 0;
  };
  struct Elsewhere {
    bool done = true;  // nobody has anything left, and nothing is on its way: the crawl is done
    bool only_waits = true;
    uint64_t pages = 0;
    uint64_t bytes = 0;
  };
  virtual void Note(const Here& /*here*/) {}
  virtual Elsewhere elsewhere() const { return {}; }
  // The shards are held, and what had come was kept; the flush of the Checkpointables comes next. `idle`: the shards
  // have nothing left in that state.
  virtual void BeginCheckpoint(bool /*idle*/) {}
  // True if others wait for a checkpoint of what is here, which is idle or not.
  virtual bool WantsCheckpoint(bool /*idle*/) const { return false; }
  // With phases: their clock, which all processes of the crawl share; nothing: there is only this process, and its own
  // clock does. Also called on the shard's thread.
  virtual std::optional<PhaseTime> phase_time() const { return std::nullopt; }
  // An error: this process may not or cannot go on.
  virtual Status status() const { return {}; }
};

class MemoryExchange : public ShardExchange {
 public:
  struct Options {
    uint32_t shards = 1;
    uint64_t bytes = uint64_t{1} << 20;  // of messages, per receiver
    // Called when that shard has something to take, or may send again after HasRoom was false. On any shard's thread.
    std::function<void(uint32_t shard)> wake;
  };

  explicit MemoryExchange(const Options& options);
  ~MemoryExchange() override;

  ExchangePort& port(uint32_t from) override;
  void Deliver(uint32_t from) override;
  Mail TakeMail(uint32_t to) override;
  std::optional<std::string_view> Front(uint32_t to) override;
  void Pop(uint32_t to) override;
  bool Empty() const override;

 private:
  class Port;
  struct Lane;

  const Options options_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // by receiver
  std::vector<std::unique_ptr<Port>> ports_;  // by sender
};

}  // namespace portolan
