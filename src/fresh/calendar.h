// Calendar: entries on disk by the time at which they are due, in queues of doubling widths.
//
// Time is in ticks. An entry's queue is the highest bit in which its due tick differs from the current one: queue 1
// holds the next tick or none, queue 2 two ticks, queue k 2^(k-1) of them (a radix heap). Queue 0 holds what is due.
// When the time reaches a queue's beginning, its entries are poured into the queues below; so an entry moves at most
// once per bit of the time that it waits, everything is appended and read in order, and nothing is sorted or searched.
// Within a tick the order is that of arrival.
//
// While an entry is poured its owner may change its mind about when it is due (Judge): the price of a visit, the prior
// and the signals have moved since it was filed. Sweep() has all entries looked at, for signals that cannot wait.
//
// Thread: one owner. Reads no clock: the owner says what time it is (calendar_clock.h makes it never go back).
// Invariants (CheckInvariants): an entry of queue k > 0 beyond the part that is to be poured differs from the current
// tick in bit k - 1 and no higher one.
// Memory bound: per queue (at most 33) what a DiskQueue holds: two blocks while it is in use, nothing when idle.
// When the disk is full: a failed call has lost nothing, at worst left an entry twice; it may be tried again.
// Durability: Checkpointables. What was popped belongs to the owner's own checkpoint.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "io/env.h"

namespace portolan {

class Calendar {
 public:
  struct Options {
    std::string name = "calendar";
    // Seconds; fixed when a crawl begins. Entries are due up to this much early, at least one second.
    uint32_t tick_s = 256;
    size_t block_size = size_t{16} << 10;
    uint64_t segment_size = uint64_t{16} << 20;
    Codec codec = Codec::kLz4;
  };
  struct Entry {
    uint32_t due_s = 0;
    std::string bytes;
  };
  // When the entry is due by what is known now; `due_s` is what it was filed with.
  using Judge = std::function<uint32_t(uint32_t due_s, std::string_view bytes)>;

  static Result<std::unique_ptr<Calendar>> Open(Env& env, const Manifest& manifest, const Options& options);
  ~Calendar();

  // It is `now_s`. An earlier time than the last one is ignored.
  void Advance(uint32_t now_s);
  Status File(uint32_t due_s, std::string_view bytes);
  // The entry that has been due for longest, or nearly: queues are poured in the order of their times.
  Result<std::optional<Entry>> Pop();

  // Pours up to `max` entries, the earliest queue first; returns how many there were.
  Result<uint64_t> Work(uint64_t max, const Judge& judge);
  bool working() const { return pouring_ > 0; }
  // Every entry is judged again in the course of the next Works.
  void Sweep();

  uint64_t size() const { return size_; }
  uint64_t ready() const { return queues_[0]->size(); }
  uint64_t pouring() const { return pouring_; }
  uint64_t poured() const { return poured_; }  // since Open

  std::vector<Checkpointable*> Checkpointables();
  Status CheckInvariants();

  static constexpr std::string_view kKind = "calendar";
  static constexpr size_t kQueues = 33;

  // The bytes of a record: u32 due_s, and the entry. nullopt: too short to be one.
  static std::optional<Entry> Decode(std::string_view record);

 private:
  class State : public Checkpointable {
   public:
    explicit State(const Calendar& calendar) : calendar_(calendar) {}
    Status Flush() override;
    ManifestSection Describe() const override { return described_; }
    Status Committed() override { return {}; }

   private:
    const Calendar& calendar_;
    ManifestSection described_;
  };

  explicit Calendar(const Options& options);
  Status Restore(const ManifestSection& section);
  size_t QueueOf(uint32_t due_s) const;
  void Pour(size_t queue);

  Options options_;
  std::array<std::unique_ptr<DiskQueue>, kQueues> queues_;
  State state_;
  uint32_t tick_ = 0;
  std::array<uint64_t, kQueues> left_{};  // to be poured, at the front of each queue
  uint64_t pouring_ = 0;                  // sum of them
  uint64_t poured_ = 0;
  uint64_t size_ = 0;
  std::string record_;  // reused
};

}  // namespace portolan
