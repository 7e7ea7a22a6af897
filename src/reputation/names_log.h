// NamesLog: the names of the pay-level domains that had a URL, so that users can read what STAR knows by hash.
//
// One file that only grows: one record per domain, its hash and its name, in the order in which domains came. No name
// is looked up while crawling; a listing reads the whole log (domain_list.h).
//
// Thread: one owner. Memory bound: one block of kBlockSize, about three times in memory.
// Durability: Checkpointable. What was added before a commit is there after a crash.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "disk/block_file.h"
#include "disk/manifest.h"
#include "disk/record_block.h"
#include "io/env.h"

namespace portolan {

class NamesLog : public Checkpointable {
 public:
  static Result<std::unique_ptr<NamesLog>> Open(Env& env, const Manifest& manifest, const std::string& name);

  // Adds to the block in RAM: cannot fail. MakeRoom must be called before many more are added.
  void Add(uint64_t pld, std::string_view name);
  // Writes the block if it is full. On an error the names stay in RAM, for the next attempt.
  Status MakeRoom();
  uint64_t names() const { return names_; }

  Status Flush() override;
  ManifestSection Describe() const override { return described_; }
  Status Committed() override { return {}; }

  static constexpr std::string_view kKind = "names";
  static constexpr size_t kBlockSize = 8192;

 private:
  NamesLog(Env& env, const Manifest& manifest, const std::string& name);
  Status WriteBlock();

  Env& env_;
  const std::string name_;
  const std::string path_;
  std::optional<BlockFileWriter> file_;  // created with the first block
  RecordBlockBuilder block_;
  std::string record_;
  uint64_t names_ = 0;
  ManifestSection described_;
};

// Every name in the section's file, in order; the view is valid only during `each`. kCorrupt for a damaged file.
Status ForEachName(Env& env, const std::string& dir, const ManifestSection& section,
                   const std::function<void(uint64_t pld, std::string_view name)>& each);

}  // namespace portolan
