// NearSeen: has nearly this text been captured before, and where? The table of recent texts with its log on disk.
//
//   Look       answers at once, from RAM (near_table.h): the nearest text within 3 bits, with its URL. A page that has
//              none becomes an original: only originals are in the table, so pages that are all near one page cost one
//              entry, and the answer is never a page that is itself only near another one.
//   forgetting The oldest entry leaves when a new one needs its place, except one that was found since it came: that
//              stays for one more round. So the table's size is the horizon; what is further apart is found by
//              `portolan dups`, which reads the log of the whole crawl.
//
// Thread: one owner. Deterministic. Memory bound: Options::memory. On disk: the log, about the size of the table.
// Durability: Checkpointable. The table is made again from its log (docs/formats/content.md), so a restart forgets
// nothing, except which entries were found; opened with less memory, the oldest are forgotten.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "content/near_table.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "io/env.h"

namespace portolan {

struct NearSeenOptions {
  std::string name = "near";  // of its section; the table's log is NAME.first
  uint64_t memory = uint64_t{16} << 20;
};

// The record of an original in the log.
void EncodeNearPage(const NearPage& page, std::string& out);  // replaces `out`
// nullopt: it is not a record. The URL is a view of `bytes`.
std::optional<NearPage> DecodeNearPage(std::string_view bytes);

class NearSeen : public Checkpointable {
 public:
  static Result<std::unique_ptr<NearSeen>> Open(Env& env, const Manifest& manifest, const NearSeenOptions& options);

  struct Known {
    std::string url;
    int bits = 0;  // that differ
    uint16_t depth = 0;
    uint8_t type = 0;
  };
  // nullopt: nothing near it is known, or the page itself is. REQUIRES: similarity is not 0. Errors are the disk's.
  Result<std::optional<Known>> Look(const NearPage& page);

  uint64_t found() const { return found_; }
  uint64_t forgotten() const { return forgotten_; }
  const NearTable& table() const { return table_; }

  std::vector<Checkpointable*> Checkpointables() { return {this, log_.get()}; }
  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return {}; }

  static constexpr std::string_view kKind = "near";

 private:
  // Second chances of entries that leave when one comes: a bound of the work.
  static constexpr int kSecondChances = 8;

  NearSeen(const NearSeenOptions& options, std::unique_ptr<DiskQueue> log);
  Status Restore(Env& env, const Manifest& manifest);
  Status MakeRoom(size_t url_size);
  Status Append(const NearPage& page);
  Status DropOldest();

  const NearSeenOptions options_;
  NearTable table_;
  std::unique_ptr<DiskQueue> log_;  // the entries of table_, in the same order
  uint64_t found_ = 0;
  uint64_t forgotten_ = 0;
  std::string record_;  // scratch
  ManifestSection described_;
};

}  // namespace portolan
