#include "index/inlink_sort.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "follow/replace_heap.h"

namespace portolan {
namespace {

constexpr size_t kLeastRun = 64 << 10;  // bytes of memory

// The rows of one run.
class InlinkRun {
 public:
  InlinkRun(File& file, const SpoolPart& part, size_t buffer) : reader_(file, part, buffer) {}

  Result<bool> Next() {
    if (reader_.done()) return false;
    RETURN_IF_ERROR(reader_.Need(3 * kMaxVarint));
    uint64_t gap = 0;
    uint64_t size = 0;
    if (!reader_.TakeVarint(gap) || !reader_.TakeVarint(links) || !reader_.TakeVarint(size)) return SpoolBroken("text");
    RETURN_IF_ERROR(reader_.Need(size));
    if (reader_.view().size() < size) return SpoolBroken("text");
    target += gap;
    text.assign(reader_.view().substr(0, size));
    reader_.Skip(size);
    return true;
  }

  uint64_t target = 0;
  uint64_t links = 0;
  std::string text;

 private:
  SpoolReader reader_;
};

}  // namespace

Result<InlinkSort> InlinkSort::Make(Env& env, const std::string& dir, size_t memory) {
  ASSIGN_OR_RETURN(SpoolFile spool, SpoolFile::Make(env, dir, "inlinks"));
  return InlinkSort(std::move(spool), std::max(memory, kLeastRun));
}

Status InlinkSort::Add(uint64_t target, std::string_view text) {
  // Vectors double when they are full: half of the memory may be used.
  if ((entries_.size() + 1) * sizeof(Entry) + texts_.size() + text.size() > memory_ / 2 && !entries_.empty()) {
    RETURN_IF_ERROR(WriteRun());
  }
  entries_.push_back(
      {.target = static_cast<uint32_t>(target), .size = static_cast<uint32_t>(text.size()), .offset = texts_.size()});
  texts_ += text;
  return {};
}

Status InlinkSort::WriteRun() {
  std::ranges::sort(entries_, [this](const Entry& a, const Entry& b) {
    return a.target != b.target ? a.target < b.target : TextOf(a) < TextOf(b);
  });
  SpoolPart part{.begin = spool_.size()};
  uint64_t last = 0;
  for (size_t i = 0; i < entries_.size();) {
    size_t end = i + 1;
    while (end < entries_.size() && entries_[end].target == entries_[i].target &&
           TextOf(entries_[end]) == TextOf(entries_[i])) {
      ++end;
    }
    AppendVarint(spool_.buffer(), entries_[i].target - last);
    AppendVarint(spool_.buffer(), end - i);
    AppendString(spool_.buffer(), TextOf(entries_[i]));
    RETURN_IF_ERROR(spool_.FlushFull());
    last = entries_[i].target;
    i = end;
  }
  RETURN_IF_ERROR(spool_.Flush());
  part.end = spool_.size();
  runs_.push_back(part);
  entries_.clear();
  texts_.clear();
  return {};
}

Status InlinkSort::Merge(const Each& each) {
  if (!entries_.empty()) RETURN_IF_ERROR(WriteRun());
  entries_ = {};
  texts_ = {};
  const size_t buffer = std::min<size_t>(memory_ / std::max<size_t>(runs_.size(), 1), 1 << 20);
  std::vector<InlinkRun> runs;
  runs.reserve(runs_.size());
  const auto before = [&runs](size_t a, size_t b) {
    if (runs[a].target != runs[b].target) return runs[a].target < runs[b].target;
    const int order = runs[a].text.compare(runs[b].text);
    return order != 0 ? order < 0 : a < b;
  };
  ReplaceHeap<size_t, decltype(before)> heads(before);
  for (const SpoolPart& part : runs_) {
    runs.emplace_back(spool_.file(), part, buffer);
    ASSIGN_OR_RETURN(const bool more, runs.back().Next());
    if (more) heads.Push(runs.size() - 1);
  }
  std::optional<uint64_t> target;
  std::string text;
  uint64_t links = 0;
  while (!heads.empty()) {
    const size_t top = heads.top();
    InlinkRun& run = runs[top];
    if (target == run.target && text == run.text) {
      links += run.links;
    } else {
      if (target) RETURN_IF_ERROR(each(*target, text, links));
      target = run.target;
      text = run.text;
      links = run.links;
    }
    ASSIGN_OR_RETURN(const bool more, run.Next());
    if (more) {
      heads.ReplaceTop(top);
    } else {
      heads.Pop();
    }
  }
  return target ? each(*target, text, links) : Status();
}

}  // namespace portolan
