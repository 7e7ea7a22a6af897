// TopRows: of any number of named counts the largest few, for a table with a bounded number of rows.
//
// Equal counts are ordered by name, so that the same crawl gives the same report.
//
// Thread: one owner. Memory bound: `most` + 1 names.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "report/group_sums.h"

namespace portolan {

class TopRows {
 public:
  // `by`: which of the values decides.
  TopRows(size_t most, size_t by) : most_(most), by_(by) {}

  void Add(std::string_view name, const GroupSums::Values& values) {
    ++count_;
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i] += values[i];
    if (rows_.size() == most_ && (most_ == 0 || values[by_] < rows_.rbegin()->count)) return;
    rows_.insert({values[by_], std::string(name), values});
    if (rows_.size() > most_) rows_.erase(std::prev(rows_.end()));
  }

  struct Row {
    uint64_t count;
    std::string name;
    GroupSums::Values values;
    bool operator<(const Row& other) const { return count != other.count ? count > other.count : name < other.name; }
  };
  const std::set<Row>& rows() const { return rows_; }  // the largest first
  uint64_t left_out() const { return count_ - rows_.size(); }
  uint64_t count() const { return count_; }
  const GroupSums::Values& sums() const { return sums_; }  // of all, also those that are left out

 private:
  size_t most_;
  size_t by_;
  std::set<Row> rows_;
  uint64_t count_ = 0;
  GroupSums::Values sums_{};
};

}  // namespace portolan
