// GroupSums: sums by name, for any number of names.
//
//   GroupSums sums(env, {.dir = TempDirectory()});
//   RETURN_IF_ERROR(sums.Add("example.org", {1, bytes}));   …
//   RETURN_IF_ERROR(sums.Finish([&](std::string_view name, const GroupSums::Values& values) { … }));
//
// Names with the same sums are kept in a hash table. When that is as large as the bound it is sorted and written to a
// nameless file as one run; Finish merges the runs. So a table with few names costs nothing on disk, and one with
// billions is sorted once.
//
// Thread: one owner. Memory bound: Options::memory, and while runs are merged at least 4 KiB per run beyond what that
// holds. Disk: about a name and four bytes per name and run, once the names do not fit in memory.

#pragma once

#include <array>
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

class GroupSums {
 public:
  using Values = std::array<uint64_t, 4>;
  using Each = std::function<Status(std::string_view name, const Values& sums)>;
  struct Options {
    std::string dir;  // of the nameless file
    size_t memory = size_t{32} << 20;
  };

  // REQUIRES: env outlives this.
  GroupSums(Env& env, Options options);

  Status Add(std::string_view name, const Values& values);
  // Each name once, in byte order. To be called once, at the end.
  Status Finish(const Each& each);

  size_t runs() const { return runs_.size(); }

 private:
  struct Entry {
    uint64_t begin;
    uint32_t size;
    uint32_t hash;
    Values sums;
  };

  std::string_view NameOf(const Entry& entry) const { return {names_.data() + entry.begin, entry.size}; }
  size_t used() const;
  void GrowSlots();
  std::vector<uint32_t> Sorted() const;
  Status WriteRun();

  Env& env_;
  const Options options_;
  uint64_t seed_ = 0;  // names may come from outside
  std::string names_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // by hash: an entry's number plus 1
  std::optional<SpoolFile> spool_;
  std::vector<SpoolPart> runs_;
};

}  // namespace portolan
