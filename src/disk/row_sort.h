// RowSort: rows of numbers (one, two, three or four) come back in rising order, however many there are.
//
// For checks that compare two sets in different orders, or look for duplicates: each item becomes a row (a hash, a
// place), and after sorting equal items are neighbours. Rows stay in memory up to the bound; beyond it they are written
// to one file as sorted runs, which are read side by side at the end. The file has no name while it is used, so a kill
// leaves nothing behind.
//
//   RowSort rows(env, {.dir = "/tmp"});
//   RETURN_IF_ERROR(rows.Add({hash, file, offset, 0}));    …
//   RETURN_IF_ERROR(rows.Sort());
//   for (RowSort::Row row;;) {
//     ASSIGN_OR_RETURN(const bool more, rows.Next(row));
//     if (!more) break;
//   }
//   RETURN_IF_ERROR(rows.Rewind());    // and again, from the first
//
// Thread: one owner. Memory bound: options.memory, and one buffer of kLeastBuffer for each run beyond what that holds
// (at the default that is from 8 x 10^9 rows of four on). Disk: 8 bytes per number, once there are more rows than fit
// in memory.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <queue>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

struct RowSortOptions {
  std::string dir;  // of the file, where one is needed
  size_t memory = size_t{32} << 20;
};

template <size_t kNumbers>
class RowSortOf {
 public:
  using Row = std::array<uint64_t, kNumbers>;
  using Options = RowSortOptions;
  static constexpr size_t kLeastBuffer = 4096;

  // REQUIRES: env outlives this.
  RowSortOf(Env& env, const Options& options);

  Status Add(const Row& row);
  // To be called once, after the last Add and before the next two functions.
  Status Sort();
  // The next row. False: there are no more.
  Result<bool> Next(Row& row);
  // The first row is next again. REQUIRES: Sort().
  Status Rewind();

  uint64_t size() const { return size_; }

 private:
  struct Run {
    uint64_t begin = 0;
    uint64_t at = 0;   // next byte in the file
    uint64_t end = 0;  // of the run
    std::vector<Row> rows;
    size_t next = 0;
  };
  struct Head {
    Row row;
    size_t run;
    bool operator>(const Head& other) const { return row > other.row; }
  };

  static constexpr size_t kRowSize = sizeof(Row);

  Status WriteRun();
  Status Advance(size_t run);  // its next row goes to heads_

  Env& env_;
  const Options options_;
  const size_t most_;  // rows in memory
  uint64_t size_ = 0;
  std::vector<Row> rows_;
  size_t next_ = 0;  // of rows_, where there are no runs
  std::unique_ptr<File> file_;
  std::vector<Run> runs_;
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

using RowSort = RowSortOf<4>;

}  // namespace portolan
