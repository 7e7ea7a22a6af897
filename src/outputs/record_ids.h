// RecordIds: which WARC-Record-IDs stand more than once. An id is for ever: two records with the same one cannot be
// told apart by what refers to them (WARC-Concurrent-To, WARC-Refers-To), in this archive or in one that takes both in.
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
    uint64_t file = 0;  // a number of the caller's
    uint64_t offset = 0;
  };

  // REQUIRES: env outlives this.
  RecordIds(Env& env, const RowSort::Options& options) : rows_(env, options) {}

  // A record without an id (of ARC) is not counted.
  Status Add(std::string_view id, const Place& place);

  // Calls `each` with the place of every record whose id another one had before, by file and offset, and with the place
  // of the first. Once, after all were added. The number of them.
  Result<uint64_t> ForEachRepeat(const std::function<void(const Place& place, const Place& first)>& each);

 private:
  RowSort rows_;
};

}  // namespace portolan
