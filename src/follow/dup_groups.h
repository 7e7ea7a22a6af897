// DupGroups: the groups of near hashes of all pages, found anew, from the last time, or from both.
//
// They are kept in DIR/near-BITS.z, a Z file (docs/formats/drum.md): every distinct hash, with the smallest hash of its
// group. If it has as many hashes as there are now, it is used as it is: hashes only ever come to the log. If there are
// few new ones, old members stay with their groups, and only pairs with a new hash are looked for: all hashes pass by
// once, beside a table of the new ones (content/near_batch.h). Otherwise all pairs are looked for
// (content/near_pairs.h).
//
// Thread: one owner. Memory bound: options.memory, half for the search and half for the groups. Durability: the file is
// written beside its place, synced and renamed: whole or not there, and made again where it does not fit.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "content/near_groups.h"
#include "disk/row_sort.h"
#include "disk/z_file.h"
#include "follow/dup_pages.h"
#include "io/env.h"

namespace portolan {

class DupGroups {
 public:
  struct Options {
    int bits = 3;
    size_t memory = size_t{128} << 20;
  };
  // REQUIRES: env and pages outlive this.
  DupGroups(Env& env, const DupPages& pages, const Options& options);

  // Of the first numbers of the rows, which are sorted. They are read to their end, several times.
  Status Find(RowSortOf<3>& rows);

  // As NearGroups::Next, but every hash is given.
  Result<bool> Next(NearGroups::Member& member);

  uint64_t parts() const { return parts_; }
  enum class How : uint8_t { kKept, kAdded, kAnew };
  How how() const { return how_; }  // what Find did

 private:
  std::string path() const;
  // The length of the file, or 0 if it is not one of ours.
  uint64_t KeptLength() const;
  Result<ZReader> OpenKept(uint64_t length) const;
  // Compares the rows' hashes with those in the file. nullopt: the file has a hash that the rows lack.
  Result<std::optional<uint64_t>> CountNew(RowSortOf<3>& rows, uint64_t length, uint64_t& distinct);
  Status AddNew(RowSortOf<3>& rows, uint64_t length, NearGroups& groups);
  Status FindAll(RowSortOf<3>& rows, NearGroups& groups);
  Status Write(RowSortOf<3>& rows, NearGroups& groups);

  Env& env_;
  const DupPages& pages_;
  const Options options_;
  uint64_t parts_ = 0;
  How how_ = How::kAnew;
  std::optional<ZReader> reader_;
};

}  // namespace portolan
