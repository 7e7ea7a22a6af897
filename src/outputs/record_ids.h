// RecordIds: which WARC-Record-IDs occur more than once. An id must be unique for ever: references (WARC-Concurrent-To,
// WARC-Refers-To) cannot tell two records with the same id apart, in this archive or in one that includes both.
//
// Ids are compared by 128 bits of hash: two different ones of 10^10 are taken for the same with a probability of
// 10^-19.
//
// Thread: one owner. Memory and disk: RowSort's, 32 bytes per record.

#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "disk/row_sort.h"
#include "io/env.h"

namespace portolan {

class RecordIds {
 public:
  struct Place {
    uint64_t file = 0;  // a number chosen by the caller
    uint64_t offset = 0;
  };

  // REQUIRES: env outlives this.
  RecordIds(Env& env, const RowSort::Options& options) : rows_(env, options) {}

  // A record without an id (of ARC) is not counted.
  Status Add(std::string_view id, const Place& place);

  // Calls `each` with the place of every record whose id another one had before, by file and offset, and with the place
  // of the first. Returns the number of them. Call it once, after all were added.
  Result<uint64_t> ForEachRepeat(const std::function<void(const Place& place, const Place& first)>& each);

 private:
  RowSort rows_;
};

}  // namespace portolan
