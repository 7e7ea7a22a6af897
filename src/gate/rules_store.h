// RulesStore: the compiled rules of all origins, on disk, each found again by its position.
//
// DRUM's values have one size and rules have many, so RobotsCache stores a position and the bytes are here: a log cut
// into segments (docs/formats/rules_store.md), a block of its own for each rules. A position is the block's place in
// the whole log, so a segment is found by where it begins. Rules that were written to the same segment shortly before
// are not written again: most hosts of a provider have the same file.
//
// A segment goes when the newest thing in it has expired: nobody who looks at a reference's time asks for it then. Who
// does not look is told that there is nothing.
//
// The rules that were put or asked for last stay opened in RAM.
//
// Thread: one owner.
// Memory bound: Options::memory for opened rules (one file that is larger stands alone), 16 bytes for each of the
// positions that can be shared, 100 bytes a segment and one reader with its largest block. At the bound of opened rules
// the longest unused go; a miss costs one or two reads.
// Durability: Checkpointable. Rules that were put after the last commit are gone after a crash, as is whoever knew
// their position.

#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/manifest.h"
#include "io/env.h"
#include "robots/robots_rules.h"

namespace portolan {

class RulesStore : public Checkpointable {
 public:
  struct Options {
    std::string name = "rules";
    uint64_t memory = uint64_t{16} << 20;
    uint64_t segment_size = uint64_t{64} << 20;  // a segment is closed when it is this long
    // Expired segments are kept so much longer, for clocks that are set back.
    uint32_t slack_s = 3600;
  };

  // Positions below are the gate's own words; no rules are there.
  static constexpr uint64_t kFirstPosition = kFileHeaderSize;
  static constexpr uint64_t kMaxPosition = (uint64_t{1} << 48) - 1;

  static Result<std::unique_ptr<RulesStore>> Open(Env& env, const Manifest& manifest, const Options& options);

  // Where `rules` are, until `expires` (unix seconds). kInvalidArgument for bytes that are no rules.
  Result<uint64_t> Put(std::string_view rules, uint32_t expires);

  // Null: there is nothing at that position (any more), or its bytes are damaged; ask the host again. An error is the
  // disk's. The rules live until the next call.
  Result<const RobotsRules*> Get(uint64_t position);

  // Lets go of segments whose newest rules expired before `unix_s`, less the slack.
  void RemoveExpired(uint32_t unix_s);

  size_t segments() const { return segments_.size(); }
  uint64_t bytes() const;  // on disk
  uint64_t opened_bytes() const { return opened_bytes_; }
  uint64_t shared() const { return shared_; }    // puts that wrote nothing
  uint64_t reads() const { return reads_; }      // rules that RAM had not, since it was opened
  uint64_t damaged() const { return damaged_; }  // gets that found broken bytes

  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return RemoveUnnamed(env_, dir_, described_, retired_); }

  static constexpr std::string_view kKind = "rules";
  static constexpr uint8_t kRulesBlock = 1;  // on disk: the kind byte

 private:
  struct Segment {
    uint64_t id = 0;
    uint64_t length = 0;
    uint32_t newest = 0;  // the latest time at which something in it expires
  };
  struct Opened {
    uint64_t position = 0;
    std::string bytes;
    RobotsRules rules;
  };
  struct Shared {
    uint64_t hash = 0;
    uint64_t position = 0;
  };
  static constexpr size_t kShared = 4096;
  static constexpr size_t kOpenedCost = 160;  // of an entry beside its bytes: list node, table, rounding

  RulesStore(Env& env, std::string dir, const Options& options) : env_(env), dir_(std::move(dir)), options_(options) {}
  Status Restore(const ManifestSection& section);
  std::string NameOf(const Segment& segment) const;
  Status StartSegment();
  // The bytes at `position`, which die with the next call; none for no or damaged bytes.
  Result<std::optional<std::string_view>> Read(uint64_t position);
  // To the front of those in RAM. Null: these are no rules.
  const RobotsRules* Keep(uint64_t position, std::string_view bytes);

  Env& env_;
  const std::string dir_;
  const Options options_;

  std::map<uint64_t, Segment> segments_;  // by where they begin in the log; the writer's is the last
  uint64_t next_segment_ = 1;
  uint64_t log_end_ = 0;  // where the next segment begins
  std::optional<BlockFileWriter> writer_;
  std::optional<BlockFileReader> reader_;
  uint64_t reader_segment_ = 0;  // id
  std::list<Opened> opened_;     // last used first
  std::unordered_map<uint64_t, std::list<Opened>::iterator> by_position_;
  uint64_t opened_bytes_ = 0;
  std::vector<Shared> recent_;  // by hash; positions in the writer's segment
  uint64_t shared_ = 0;
  uint64_t reads_ = 0;
  uint64_t damaged_ = 0;
  std::vector<std::string> retired_;
  ManifestSection described_;
};

}  // namespace portolan
