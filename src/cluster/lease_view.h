// LeaseView: which shards this process holds, and what to do to hold them. The state machine of the leases; ShardLeases
// does its reading and writing.
//
// The bucket has one record per shard (lease_record.h). It is changed only by compare-and-set: a write names the
// revision that it replaces, and is refused if another write came first. Clocks of machines are never compared.
//
//   believe   A process believes that it holds a shard until hold_ns after it *sent* the last write that the bucket
//             took, by its own clock. Holds() is this belief. It ends by itself, without any message.
//   renew     every renew_ns. What the answer was does not matter for safety: without one the belief ends.
//   look      who does not hold a shard reads its record every look_ns. Seen `unchanged` times with one revision, and
//             no failed read in between, the holder is taken for dead: claim, with that revision as the expected one.
//   claim     writes the epoch plus one. A shard that was given back, or was never claimed, is claimed at once.
//             Likewise one that a process held which is known to be dead (Options::dead_holder).
//   lost      a belief that has ended does not come back: the process claims anew, with a new epoch.
//
// Two processes never believe at one time that they hold a shard. Proof: let r be the revision that a claim replaces.
// The holder's last write that was taken is r, sent before the claimant first read r. So the belief ends at most
// hold_ns after that reading, and the claim was sent (unchanged - 1) * look_ns after it: Valid() demands a quarter more
// than hold_ns, for clocks that run at different speeds. A write that arrives late is refused unless r still stands.
// Looks are counted instead of measuring the time since the first: when the server was away for all, holders must have
// time to renew before anyone may claim. A machine that was suspended with its clock standing still believes too long;
// against it stands the epoch, which everything that it sends carries (batch_ledger.h).
//
// Deterministic: time is an argument (steady, nanoseconds). Thread: one owner.
// Memory bound: about 250 bytes per shard.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/lease_record.h"

namespace portolan {

struct LeaseOptions {
  uint32_t shards = 1;
  uint32_t capacity = 1;  // shards that this process wants at most
  std::string node;
  uint64_t holder = 0;       // a random number, another one in each process; not 0
  uint64_t dead_holder = 0;  // of a process that is certainly dead: it held a lock that this one holds now. 0: none
  bool wants_all = true;     // false: nothing is claimed before Want
  int64_t hold_ns = 10'000'000'000;
  int64_t renew_ns = 2'500'000'000;
  int64_t look_ns = 2'000'000'000;
  uint32_t unchanged = 8;

  bool Valid() const {
    return shards > 0 && holder != 0 && renew_ns > 0 && look_ns > 0 && hold_ns >= 2 * renew_ns && unchanged >= 2 &&
           (unchanged - 1) * look_ns >= hold_ns + hold_ns / 4;
  }
};

struct LeaseCommand {
  enum class Kind : uint8_t { kRead, kWrite };
  Kind kind = Kind::kRead;
  uint32_t shard = 0;
  uint64_t expected = 0;  // kWrite: the revision that it replaces; 0: there must be no record
  LeaseRecord record;     // kWrite
};

enum class WriteOutcome : uint8_t {
  kTaken,
  kRefused,  // another write came first
  kUnknown,  // no answer: it may be taken, now or later
};

class LeaseView {
 public:
  // REQUIRES: options.Valid().
  explicit LeaseView(const LeaseOptions& options);

  // What is due now. Each command is answered once by Read, ReadFailed or Written; until then there is none for its
  // shard.
  std::vector<LeaseCommand> Turn(int64_t now_ns);
  // When the next command is due, if no answer comes before.
  int64_t NextTurn() const;

  // No record: the shard was never claimed.
  void Read(uint32_t shard, uint64_t revision, const std::optional<LeaseRecord>& record, int64_t now_ns);
  void ReadFailed(uint32_t shard, int64_t now_ns);
  void Written(uint32_t shard, WriteOutcome outcome, uint64_t revision, int64_t now_ns);

  // Gives a shard back, and does not claim it again before Want. The belief ends at once: whoever calls this has
  // stopped the shard.
  void Release(uint32_t shard, int64_t now_ns);
  void Want(uint32_t shard);

  // The epoch of the claim that this process believes to hold.
  std::optional<uint64_t> Holds(uint32_t shard, int64_t now_ns) const;
  // When that belief ends unless it is renewed; 0: it does not hold the shard.
  int64_t HeldUntil(uint32_t shard) const { return shards_[shard].held_until; }
  uint64_t Epoch(uint32_t shard) const { return shards_[shard].epoch; }
  // What the bucket said last.
  const std::optional<LeaseRecord>& Seen(uint32_t shard) const { return shards_[shard].record; }
  uint32_t HeldCount(int64_t now_ns) const;

 private:
  struct Shard {
    bool wanted = true;
    bool busy = false;   // a command waits for its answer
    bool known = false;  // was read
    uint64_t revision = 0;
    std::optional<LeaseRecord> record;
    uint32_t unchanged = 0;
    int64_t next_ns = 0;  // when to act
    // This process's claim.
    uint64_t epoch = 0;
    int64_t held_until = 0;
    // Writes without an answer: beat, and when it was sent. Bounded: older ones only shorten the belief.
    std::deque<std::pair<uint64_t, int64_t>> open;
    LeaseRecord written;  // the one that waits for its answer
    int64_t sent_ns = 0;
  };
  bool MayClaim(const Shard& shard, int64_t now_ns) const;
  LeaseCommand Write(uint32_t index, uint64_t epoch, bool free, int64_t now_ns);
  // The bucket took this process's write of that time.
  void Taken(Shard& shard, const LeaseRecord& record, int64_t sent_ns, int64_t now_ns);
  void EndIfOver(Shard& shard, int64_t now_ns) const;

  const LeaseOptions options_;
  std::vector<Shard> shards_;
  uint64_t beat_ = 0;
  uint32_t first_ = 0;  // where this process begins to look, so that processes do not all claim the same shard
};

}  // namespace portolan
