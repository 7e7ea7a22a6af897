// GroupCache: two small numbers for each of many keys, in a fixed number of bytes.
//
// A table of sets of eight entries, one cache line per set: a key's hash says which set, 32 bits of it stand for the
// key within the set. A full set drops its least recently used entry. A new entry begins in the middle of the order,
// not at its head: a flood of groups that are seen once pushes out only half of a set.
//
// Dropping an entry must be harmless: its users treat an unknown group as a good one. Two keys share an entry with a
// probability of 8 in 2^32, which is harmless too.
//
// Thread: one owner. Deterministic.
// Memory bound: Options::memory, all of it from the start, and one bit per set. At the bound it drops entries, as
// above. During a checkpoint up to 1 MiB that waits for the writer, and 68 bytes for each set that changes before it
// was copied.
// Durability: Checkpointable, copied part by part between other work; the entries in use are one file per checkpoint at
// which they have changed (docs/formats/budget.md). A table of another size begins empty.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "io/env.h"

namespace portolan {

class GroupCache : public Checkpointable {
 public:
  struct Entry {
    uint32_t tag = 0;  // 0: free
    uint16_t first = 0;
    uint16_t second = 0;

    // Both as one number.
    uint32_t number() const { return first | uint32_t{second} << 16; }
    void set_number(uint32_t number) {
      first = static_cast<uint16_t>(number);
      second = static_cast<uint16_t>(number >> 16);
    }
    bool operator==(const Entry&) const = default;
  };
  static constexpr size_t kWays = 8;

  struct Options {
    std::string name;
    uint64_t memory = uint64_t{4} << 20;  // rounded down to a power of two, at least one set: 64 bytes
  };
  static Result<std::unique_ptr<GroupCache>> Open(Env& env, const Manifest& manifest, const Options& options);
  ~GroupCache() override;

  // A hint that this key is asked for soon. The table is larger than the processor's caches, so a look at it waits for
  // memory; those of keys that were announced together wait together.
  void WillNeed(uint64_t hash) const { __builtin_prefetch(&sets_[SetOf(hash)], /*rw=*/1); }
  // Null when it is not known. Changes no order.
  const Entry* Find(uint64_t hash) const;
  // The entry, now the most recent of its set; new ones are 0, 0. Valid until the next call.
  Entry& Touch(uint64_t hash);

  uint64_t memory() const { return sets_.size() * sizeof(Set); }
  uint64_t used() const { return used_; }            // entries
  uint64_t forgotten() const { return forgotten_; }  // since Open

  Status Flush() override;
  void StartFlush(std::function<void(Status)> done) override;
  bool ContinueFlush(Executor& writer) override;
  ManifestSection Describe() const override;
  Status Committed() override;

  static constexpr std::string_view kKind = "groups";
  static constexpr uint8_t kBlockKind = 4;  // on disk: of a block in a queue segment file

 private:
  GroupCache(Env& env, std::string dir, const Options& options);
  Status Restore(const ManifestSection& section);
  bool RestoreSet(std::string_view record);
  using Entries = std::array<Entry, kWays>;  // the most recent first, free ones last
  struct alignas(64) Set {                   // a cache line
    Entries entries;
  };
  struct SetCopy {
    uint32_t set = 0;
    Entries entries;
  };
  struct Saving;
  // Copies the set into the checkpoint as it is now, once.
  void Copy(size_t set);
  size_t SetOf(uint64_t hash) const { return static_cast<size_t>(hash >> 32) & (sets_.size() - 1); }
  static uint32_t TagOf(uint64_t hash) {
    const auto tag = static_cast<uint32_t>(hash);
    return tag == 0 ? 1 : tag;
  }

  Env& env_;
  const std::string dir_;
  const std::string name_;
  std::vector<Set> sets_;  // a power of two
  uint64_t used_ = 0;
  uint64_t forgotten_ = 0;
  uint64_t next_file_ = 1;
  bool changed_ = true;  // since the last StartFlush
  // A checkpoint: all of it copied when copy_at_ is the number of sets.
  std::shared_ptr<Saving> saving_;  // until it is committed
  size_t copy_at_;                  // the sets from here on are copied before they change
  std::vector<bool> copied_;        // by set; of those from copy_at_ on
  std::vector<SetCopy> copy_;       // not handed to the writer yet
  std::vector<std::string> retired_;
  ManifestSection described_;  // of the last committed one
};

}  // namespace portolan
