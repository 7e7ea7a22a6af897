#include "follow/pair_sort.h"

#include <algorithm>
#include <array>

namespace portolan {

PairSort::PairSort(Env& env, const Options& options)
    : env_(env), options_(options), most_(std::max<size_t>(options.memory / (2 * sizeof(uint64_t)), 16)) {
  pairs_.reserve(most_);  // pages that are never touched cost nothing
}

void PairSort::SortPairs() {
  if (pairs_.size() < 256) {
    std::ranges::sort(pairs_);
  } else {
    std::vector<std::array<size_t, 256>> counts(8);
    for (auto& count : counts) count.fill(0);
    for (const uint64_t pair : pairs_) {
      for (size_t byte = 0; byte < 8; ++byte) ++counts[byte][pair >> (8 * byte) & 255];
    }
    other_.reserve(most_);
    other_.resize(pairs_.size());
    for (size_t byte = options_.low_is_rising ? 4 : 0; byte < 8; ++byte) {
      auto& count = counts[byte];
      if (std::ranges::find(count, pairs_.size()) != count.end()) continue;
      size_t sum = 0;
      for (size_t& each : count) sum += std::exchange(each, sum);
      for (const uint64_t pair : pairs_) other_[count[pair >> (8 * byte) & 255]++] = pair;
      pairs_.swap(other_);
    }
  }
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
}

Status PairSort::WriteRun() {
  SortPairs();
  if (!spool_) {
    ASSIGN_OR_RETURN(spool_, SpoolFile::Make(env_, options_.dir, "pairs"));
  }
  SpoolPart part{.begin = spool_->size()};
  uint64_t last = 0;
  for (const uint64_t pair : pairs_) {
    AppendVarint(spool_->buffer(), pair - last);
    last = pair;
    RETURN_IF_ERROR(spool_->FlushFull());
  }
  RETURN_IF_ERROR(spool_->Flush());
  part.end = spool_->size();
  parts_.push_back(part);
  pairs_.clear();
  return {};
}

Status PairSort::Sort() {
  if (!spool_) {
    SortPairs();
    std::vector<uint64_t>().swap(other_);
    return {};
  }
  if (!pairs_.empty()) RETURN_IF_ERROR(WriteRun());
  std::vector<uint64_t>().swap(pairs_);
  std::vector<uint64_t>().swap(other_);
  const size_t share = std::min<size_t>(options_.memory / parts_.size(), size_t{1} << 20);
  for (const SpoolPart& part : parts_) runs_.push_back({SpoolReader(spool_->file(), part, share)});
  for (uint32_t i = 0; i < runs_.size(); ++i) {
    uint64_t pair = 0;
    ASSIGN_OR_RETURN(const bool more, Advance(runs_[i], pair));
    if (more) heads_.Push({pair, i});
  }
  return {};
}

Result<bool> PairSort::Advance(Run& run, uint64_t& pair) {
  if (run.reader.done()) return false;
  RETURN_IF_ERROR(run.reader.Need(kMaxVarint));
  uint64_t gap = 0;
  if (!run.reader.TakeVarint(gap)) return SpoolBroken("number");
  run.last += gap;
  pair = run.last;
  return true;
}

Result<bool> PairSort::Next(uint64_t& pair) {
  if (!spool_) {
    if (next_ == pairs_.size()) return false;
    pair = pairs_[next_++];
    return true;
  }
  while (!heads_.empty()) {
    Head head = heads_.top();
    const uint64_t found = head.pair;
    ASSIGN_OR_RETURN(const bool more, Advance(runs_[head.run], head.pair));
    if (more) {
      heads_.ReplaceTop(head);
    } else {
      heads_.Pop();
    }
    if (given_ == found) continue;
    given_ = found;
    pair = found;
    return true;
  }
  return false;
}

}  // namespace portolan
