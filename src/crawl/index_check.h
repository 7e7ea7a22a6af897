// Does an index agree with the records? Two comparisons, each in both directions, in bounded memory:
//
//   FileIndexCheck     the index of one WARC file with the captures in it: exactly one line per capture, with the same
//                      key, timestamp and values (CaptureFields; charset and languages are not checked, because only
//                      the crawler knew them)
//   MergedIndexCheck   the index of the whole archive with those of the files: exactly their lines, byte by byte
//
// Lines become rows (disk/row_sort.h) with their place and a hash. A line is read again only if the hashes differ, to
// say what differs. Two different lines for the same place have the same hash with a probability of 2^-64.
//
// Thread: one owner. Memory bound: that of one RowSort each.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/archive_check.h"
#include "disk/row_sort.h"
#include "io/env.h"
#include "warc/record.h"

namespace portolan {

class MergedIndexCheck {
 public:
  MergedIndexCheck(Env& scratch, const RowSort::Options& sort, const CheckSink& sink)
      : rows_(scratch, sort), sink_(sink) {}

  // Adds a line of the index of a WARC file.
  Status AddOfFile(const std::string& index, uint64_t filename_hash, uint64_t offset, const FileLine& line);
  // Reads the merged index. `complete`: it must have all lines of the files' indexes; otherwise only its form and order
  // are checked.
  Status Compare(Env& env, const std::string& path, bool complete, uint64_t& lines);

 private:
  Status Judge(const std::string& merged);
  void JudgePlace(const std::string& merged, const std::vector<RowSort::Row>& rows);
  std::string NameOf(const RowSort::Row& row) const;

  RowSort rows_;
  const CheckSink& sink_;
  std::vector<std::string> indexes_;  // paths, by number
};

class FileIndexCheck {
 public:
  // `index` is the index of the WARC file `name`: sorted, or in the order of the file while the file grows.
  FileIndexCheck(Env& env, Env& scratch, const RowSort::Options& sort, const CheckSink& sink, std::string index,
                 std::string name);

  // `merged` is given each line; may be null.
  Status ReadIndex(bool sorted, MergedIndexCheck* merged, uint64_t& lines);
  // Call OnCapture for each capture of the file, in order, when it is read to its end; then Finish.
  Status OnCapture(const WarcRecord& record, const std::string& path);
  Status Finish(const std::string& path);

 private:
  Status Step();  // the next row
  void Astray(const std::string& path);
  Status Explain(const RowSort::Row& row, const WarcRecord& record);

  Env& env_;
  const CheckSink& sink_;
  const std::string index_;
  const std::string name_;
  RowSort rows_;  // offset, hash, line, position
  bool begun_ = false;
  bool more_ = false;
  RowSort::Row row_{};
};

}  // namespace portolan
