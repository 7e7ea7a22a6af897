#include "report/group_sums.h"

#include <algorithm>
#include <numeric>

#include "base/bytes.h"
#include "base/hash.h"
#include "follow/replace_heap.h"
#include "io/rng.h"

namespace portolan {
namespace {

constexpr size_t kFirstSlots = 1024;

// A run that is read back.
class SumsRun {
 public:
  SumsRun(File& file, const SpoolPart& part, size_t buffer) : reader_(file, part, buffer) {}

  Result<bool> Next() {
    if (reader_.done()) return false;
    uint64_t size = 0;
    RETURN_IF_ERROR(reader_.Need(kMaxVarint));
    if (!reader_.TakeVarint(size)) return SpoolBroken("length");
    RETURN_IF_ERROR(reader_.Need(size));
    if (reader_.view().size() < size) return SpoolBroken("name");
    name_.assign(reader_.view().substr(0, size));
    reader_.Skip(size);
    for (uint64_t& sum : sums_) {
      RETURN_IF_ERROR(reader_.Need(kMaxVarint));
      if (!reader_.TakeVarint(sum)) return SpoolBroken("sum");
    }
    return true;
  }
  const std::string& name() const { return name_; }
  const GroupSums::Values& sums() const { return sums_; }

 private:
  SpoolReader reader_;
  std::string name_;
  GroupSums::Values sums_{};
};

void AddTo(GroupSums::Values& sums, const GroupSums::Values& values) {
  for (size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
}

}  // namespace

GroupSums::GroupSums(Env& env, Options options) : env_(env), options_(std::move(options)), slots_(kFirstSlots) {}

size_t GroupSums::used() const {
  return names_.capacity() + entries_.capacity() * sizeof(Entry) + slots_.capacity() * sizeof(uint32_t);
}

void GroupSums::GrowSlots() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    size_t at = entries_[i].hash & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = i + 1;
  }
}

Status GroupSums::Add(std::string_view name, const Values& values) {
  if (seed_ == 0) {
    ASSIGN_OR_RETURN(Rng rng, Rng::FromSystem());
    seed_ = rng.Next() | 1;
  }
  const auto hash = static_cast<uint32_t>(Hash64(name, seed_));
  size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    Entry& entry = entries_[slots_[at] - 1];
    if (entry.hash == hash && NameOf(entry) == name) {
      AddTo(entry.sums, values);
      return {};
    }
  }
  // Vectors double: what they would take then must fit as well.
  const size_t growth = (names_.size() + name.size() > names_.capacity() ? names_.capacity() : 0) +
                        (entries_.size() == entries_.capacity() ? entries_.capacity() * sizeof(Entry) : 0);
  if (!entries_.empty() && used() + growth + name.size() > options_.memory) {
    RETURN_IF_ERROR(WriteRun());
    return Add(name, values);
  }
  entries_.push_back({names_.size(), static_cast<uint32_t>(name.size()), hash, values});
  names_ += name;
  slots_[at] = static_cast<uint32_t>(entries_.size());
  if (entries_.size() * 2 > slots_.size()) GrowSlots();
  return {};
}

std::vector<uint32_t> GroupSums::Sorted() const {
  std::vector<uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](uint32_t a, uint32_t b) { return NameOf(entries_[a]) < NameOf(entries_[b]); });
  return order;
}

Status GroupSums::WriteRun() {
  if (!spool_) {
    ASSIGN_OR_RETURN(spool_, SpoolFile::Make(env_, options_.dir, "sums"));
  }
  SpoolPart run{.begin = spool_->size()};
  for (const uint32_t i : Sorted()) {
    AppendString(spool_->buffer(), NameOf(entries_[i]));
    for (const uint64_t sum : entries_[i].sums) AppendVarint(spool_->buffer(), sum);
    RETURN_IF_ERROR(spool_->FlushFull());
  }
  RETURN_IF_ERROR(spool_->Flush());
  run.end = spool_->size();
  runs_.push_back(run);
  entries_.clear();
  names_.clear();
  std::ranges::fill(slots_, 0);
  return {};
}

Status GroupSums::Finish(const Each& each) {
  if (runs_.empty()) {
    for (const uint32_t i : Sorted()) RETURN_IF_ERROR(each(NameOf(entries_[i]), entries_[i].sums));
    return {};
  }
  RETURN_IF_ERROR(WriteRun());
  names_ = {};
  entries_ = {};
  slots_ = {};
  std::vector<SumsRun> runs;
  runs.reserve(runs_.size());
  struct Head {
    const SumsRun* run;
    size_t number;
  };
  const auto before = [](const Head& a, const Head& b) {
    const int order = a.run->name().compare(b.run->name());
    return order != 0 ? order < 0 : a.number < b.number;
  };
  ReplaceHeap<Head, decltype(before)> heads(before);
  for (const SpoolPart& part : runs_) {
    SumsRun& run = runs.emplace_back(spool_->file(), part, std::min(options_.memory / runs_.size(), size_t{1} << 20));
    ASSIGN_OR_RETURN(const bool more, run.Next());
    if (more) heads.Push({&run, runs.size() - 1});
  }
  std::string name;
  Values sums{};
  bool any = false;
  while (!heads.empty()) {
    const Head head = heads.top();
    if (!any || head.run->name() != name) {
      if (any) RETURN_IF_ERROR(each(name, sums));
      name = head.run->name();
      sums = {};
      any = true;
    }
    AddTo(sums, head.run->sums());
    ASSIGN_OR_RETURN(const bool more, runs[head.number].Next());
    if (more) {
      heads.ReplaceTop(head);
    } else {
      heads.Pop();
    }
  }
  return any ? each(name, sums) : Status();
}

}  // namespace portolan
