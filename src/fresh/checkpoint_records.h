// CheckpointRecords: a small set of records that is held in RAM and written as a whole to one file at each checkpoint.
//
// For state that fits in some megabytes and changes everywhere: the entries of pages that are being visited, the sample
// of pages from which the threshold is computed.
//
// Thread: one owner. Memory bound: none of its own but one block while it writes; the owner's records are the owner's.
// Durability: Checkpointable. Block files of the queue's kind, blocks of kind kBlockKind.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "io/env.h"

namespace portolan {

class CheckpointRecords : public Checkpointable {
 public:
  using Emit = std::function<Status(std::string_view record)>;
  // Gives every record, at each Flush.
  using Source = std::function<Status(const Emit& emit)>;

  static constexpr std::string_view kKind = "records";
  static constexpr uint8_t kBlockKind = 5;  // on disk

  // REQUIRES: `env` outlives this.
  CheckpointRecords(Env& env, std::string dir, std::string name, Source source);

  // Reads the records that the manifest names; none, if it names none. To be called before the first Flush.
  Status Restore(const Manifest& manifest, const Emit& each);

  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override;

 private:
  Env& env_;
  const std::string dir_;
  const std::string name_;
  const Source source_;
  uint64_t next_file_ = 1;
  std::vector<std::string> retired_;
  ManifestSection described_;
};

}  // namespace portolan
