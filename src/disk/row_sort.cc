#include "disk/row_sort.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "io/rng.h"

namespace portolan {

template <size_t kNumbers>
RowSortOf<kNumbers>::RowSortOf(Env& env, const Options& options)
    : env_(env), options_(options), most_(std::max<size_t>(options.memory / kRowSize, 1)) {}

template <size_t kNumbers>
Status RowSortOf<kNumbers>::Add(const Row& row) {
  if (rows_.size() == most_) RETURN_IF_ERROR(WriteRun());
  // Doubling would need up to three times the bound for a moment.
  if (rows_.size() == rows_.capacity()) rows_.reserve(std::clamp<size_t>(2 * rows_.size(), 64, most_));
  rows_.push_back(row);
  ++size_;
  return {};
}

template <size_t kNumbers>
Status RowSortOf<kNumbers>::WriteRun() {
  if (file_ == nullptr) {
    ASSIGN_OR_RETURN(Rng rng, Rng::FromSystem());
    const std::string path = JoinPath(options_.dir, fmt::format("portolan-sort-{:016x}", rng.Next()));
    ASSIGN_OR_RETURN(file_, env_.Open(path, OpenMode::kCreate));
    RETURN_IF_ERROR(env_.Remove(path));
  }
  std::ranges::sort(rows_);
  Run run;
  run.begin = run.at = file_->Size();
  // In the machine's own byte order: no other program reads it.
  RETURN_IF_ERROR(
      file_->Append(std::string_view(reinterpret_cast<const char*>(rows_.data()), rows_.size() * kRowSize)));
  run.end = file_->Size();
  runs_.push_back(std::move(run));
  rows_.clear();
  return {};
}

template <size_t kNumbers>
Status RowSortOf<kNumbers>::Sort() {
  if (runs_.empty()) {
    std::ranges::sort(rows_);
    return {};
  }
  if (!rows_.empty()) RETURN_IF_ERROR(WriteRun());
  std::vector<Row>().swap(rows_);
  for (size_t i = 0; i < runs_.size(); ++i) RETURN_IF_ERROR(Advance(i));
  return {};
}

template <size_t kNumbers>
Status RowSortOf<kNumbers>::Advance(size_t index) {
  Run& run = runs_[index];
  if (run.next == run.rows.size()) {
    const size_t share = std::max(options_.memory / runs_.size(), kLeastBuffer) / kRowSize;
    const size_t count = std::min<uint64_t>(share, (run.end - run.at) / kRowSize);
    if (count == 0) return {};
    run.rows.resize(count);
    run.next = 0;
    RETURN_IF_ERROR(ReadExactly(*file_, run.at, reinterpret_cast<char*>(run.rows.data()), count * kRowSize));
    run.at += count * kRowSize;
  }
  heads_.push({run.rows[run.next++], index});
  return {};
}

template <size_t kNumbers>
Result<bool> RowSortOf<kNumbers>::Next(Row& row) {
  if (runs_.empty()) {
    if (next_ == rows_.size()) return false;
    row = rows_[next_++];
    return true;
  }
  if (heads_.empty()) return false;
  const Head head = heads_.top();
  heads_.pop();
  row = head.row;
  RETURN_IF_ERROR(Advance(head.run));
  return true;
}

template <size_t kNumbers>
Status RowSortOf<kNumbers>::Rewind() {
  next_ = 0;
  heads_ = {};
  for (size_t i = 0; i < runs_.size(); ++i) {
    runs_[i].at = runs_[i].begin;
    runs_[i].rows.clear();
    runs_[i].next = 0;
    RETURN_IF_ERROR(Advance(i));
  }
  return {};
}

template class RowSortOf<1>;
template class RowSortOf<2>;
template class RowSortOf<3>;
template class RowSortOf<4>;

}  // namespace portolan
