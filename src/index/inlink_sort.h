// InlinkSort: the texts of links, sorted by their target and text, with the number of links that have each.
//
// Texts stay in memory up to the bound; beyond it they are written as sorted runs, in which equal texts of a target are
// one row, and are merged at the end. So a page with a million links that say "Home" has one row per run.
//
//   row   varint target − last target, varint links, varint length, text
//
// Thread: one owner. Memory bound: options.memory, and a buffer per run. Disk: a nameless file.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "follow/spool_file.h"
#include "io/env.h"

namespace portolan {

class InlinkSort {
 public:
  using Each = std::function<Status(uint64_t target, std::string_view text, uint64_t links)>;

  static Result<InlinkSort> Make(Env& env, const std::string& dir, size_t memory);

  // REQUIRES: target < 2^32, a text of less than 64 KiB.
  Status Add(uint64_t target, std::string_view text);
  // Rising by target, then by text; each pair once. To be called once.
  Status Merge(const Each& each);

 private:
  struct Entry {
    uint32_t target;
    uint32_t size;
    uint64_t offset;  // in texts_
  };

  InlinkSort(SpoolFile spool, size_t memory) : spool_(std::move(spool)), memory_(memory) {}
  std::string_view TextOf(const Entry& entry) const {
    return std::string_view(texts_).substr(entry.offset, entry.size);
  }
  Status WriteRun();

  SpoolFile spool_;
  size_t memory_;
  std::string texts_;
  std::vector<Entry> entries_;
  std::vector<SpoolPart> runs_;
};

}  // namespace portolan
