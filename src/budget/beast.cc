#include "budget/beast.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace portolan {

namespace {

uint64_t Bytes(const std::vector<std::string>& records) {
  uint64_t bytes = 0;
  for (const std::string& record : records) bytes += record.size();
  return bytes;
}

}  // namespace

Beast::Beast(Env& env, const BeastOptions& options)
    : env_(env),
      options_(options),
      state_(*this, options.name),
      queues_(options.initial_queues),
      pass_length_(options.initial_queues) {}

Beast::~Beast() = default;

Result<std::unique_ptr<Beast>> Beast::Open(Env& env, const Manifest& manifest, const BeastOptions& options) {
  constexpr uint64_t kMaxRing = 4096;  // open files
  if (options.initial_queues < 2 || options.initial_queues > options.max_queues || options.max_queues > kMaxRing ||
      options.starved_scan == 0) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: {} queues at first and {} at most, {} URLs when starved; need 2 <= first <= most <= {} "
                    "and some URLs",
                    options.name, options.initial_queues, options.max_queues, options.starved_scan, kMaxRing));
  }
  std::unique_ptr<Beast> beast(new Beast(env, options));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  uint64_t ring = options.max_queues;
  if (section != nullptr) {
    RETURN_IF_ERROR(beast->Restore(*section));
    ASSIGN_OR_RETURN(ring, section->Number("ring"));
    if (ring < beast->queues_ || ring > kMaxRing) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: a ring of {} for {} queues", options.name, ring, beast->queues_));
    }
  }
  DiskQueue::Options queue;
  queue.block_size = options.block_size;
  queue.segment_size = options.queue_segment_size;
  queue.codec = options.codec;
  queue.durable = options.durable;
  for (uint64_t i = 0; i < ring; ++i) {
    queue.name = fmt::format("{}-q{:04}", options.name, i);
    ASSIGN_OR_RETURN(auto opened, DiskQueue::Open(beast->env_, manifest, queue));
    beast->counts_.queued += opened->size();
    beast->ring_.push_back(std::move(opened));
  }
  queue.name = options.name + "-failed";
  queue.segment_size = options.failed_segment_size;
  ASSIGN_OR_RETURN(beast->failed_, DiskQueue::Open(beast->env_, manifest, queue));
  beast->counts_.failed = beast->failed_->size();
  if (Status sound = beast->CheckInvariants(); !sound) {
    return Fail(ErrorCode::kCorrupt, sound.error().message());
  }
  return beast;
}

Status Beast::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(tick_, section.Number("tick"));
  ASSIGN_OR_RETURN(queues_, section.Number("queues"));
  ASSIGN_OR_RETURN(pass_length_, section.Number("pass_length"));
  ASSIGN_OR_RETURN(emptied_, section.Number("emptied"));
  ASSIGN_OR_RETURN(rescan_left_, section.Number("rescan_left"));
  ASSIGN_OR_RETURN(rescan_size_, section.Number("rescan_size"));
  ASSIGN_OR_RETURN(queue_size_, section.Number("queue_size"));
  ASSIGN_OR_RETURN(counts_.out, section.Number("out"));
  ASSIGN_OR_RETURN(counts_.placed, section.Number("placed"));
  ASSIGN_OR_RETURN(counts_.popped, section.Number("popped"));
  ASSIGN_OR_RETURN(counts_.rebudgeted, section.Number("rebudgeted"));
  ASSIGN_OR_RETURN(counts_.passes, section.Number("passes"));
  ASSIGN_OR_RETURN(counts_.starved, section.Number("starved"));
  ASSIGN_OR_RETURN(counts_.raw_written, section.Number("raw_written"));
  ASSIGN_OR_RETURN(counts_.raw_read, section.Number("raw_read"));
  return {};
}

Status Beast::State::Flush() {
  described_ = {};
  described_.name = name_;
  described_.kind = kKind;
  const BeastCounts& counts = beast_.counts_;
  described_.numbers = {{"ring", beast_.ring_.size()},
                        {"tick", beast_.tick_},
                        {"queues", beast_.queues_},
                        {"pass_length", beast_.pass_length_},
                        {"emptied", beast_.emptied_},
                        {"rescan_left", beast_.rescan_left_},
                        {"rescan_size", beast_.rescan_size_},
                        {"queue_size", beast_.queue_size_},
                        {"out", counts.out},
                        {"placed", counts.placed},
                        {"popped", counts.popped},
                        {"rebudgeted", counts.rebudgeted},
                        {"passes", counts.passes},
                        {"starved", counts.starved},
                        {"raw_written", counts.raw_written},
                        {"raw_read", counts.raw_read}};
  return {};
}

std::vector<Checkpointable*> Beast::Checkpointables() {
  std::vector<Checkpointable*> all = {&state_, failed_.get()};
  for (const auto& queue : ring_) all.push_back(queue.get());
  return all;
}

Status Beast::Place(std::string_view record, const BudgetVerdict& verdict) {
  if (!verdict.fresh && counts_.out == 0) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("{}: a URL was returned that had not been handed out", options_.name));
  }
  // A verdict may be some queues old; its place is kept, but the current queue takes nothing.
  const uint64_t number = std::max(tick_ + 1, uint64_t{verdict.judged_tick} + 1 + verdict.place);
  const bool fits = !verdict.later && number < tick_ + queues_;
  RETURN_IF_ERROR(fits ? slot(number).Append(record) : failed_->Append(record));
  ++(fits ? counts_.queued : counts_.failed);
  if (verdict.fresh) {
    ++counts_.placed;
  } else {
    --counts_.out;
  }
  counts_.raw_written += record.size();
  return {};
}

void Beast::EndPass() {
  if (rescanning()) return;  // the next one begins when this is finished: never two in one pass
  emptied_ = 0;
  if (counts_.failed == 0) return;
  Double();
  pass_length_ = std::max(std::min(2 * pass_length_, options_.longest_pass), queues_);
  StartRescan(counts_.failed);
  ++counts_.passes;
}

void Beast::ScanStarved() {
  if (rescanning() || counts_.failed == 0) return;
  if (counts_.failed <= options_.starved_scan) return EndPass();
  Double();
  pass_length_ = std::max(pass_length_, queues_);
  StartRescan(options_.starved_scan);
  ++counts_.starved;
}

bool Beast::Advance() {
  while (slot(tick_).size() == 0) {
    if (counts_.queued == 0) {
      ScanStarved();
      return false;
    }
    CHECK(tick_ < std::numeric_limits<uint32_t>::max(), "{}: ticks do not last", options_.name);
    ++tick_;
    queue_size_ = slot(tick_).size();
    ++emptied_;
    if (emptied_ >= pass_length_) EndPass();
  }
  return true;
}

Result<std::vector<std::string>> Beast::Pop(size_t max) {
  if (max == 0 || !Advance()) return std::vector<std::string>();
  ASSIGN_OR_RETURN(std::vector<std::string> records, slot(tick_).Pop(max));
  counts_.queued -= records.size();
  counts_.popped += records.size();
  counts_.raw_read += Bytes(records);
  return records;
}

uint64_t Beast::RebudgetDue() const {
  if (counts_.queued == 0) {
    return std::min(rescan_left_, options_.starved_scan - std::min(options_.starved_scan, counts_.out));
  }
  // Done of the pass, in parts of a queue: emptied ones, and what is popped of the current one.
  __extension__ using Wide = unsigned __int128;
  const uint64_t parts = std::max<uint64_t>(queue_size_, 1);
  const Wide done = Wide{emptied_} * parts + (parts - std::min(parts, slot(tick_).size()));
  const Wide all = std::max<Wide>(Wide{pass_length_} * parts * 15 / 16, 1);
  const auto due = static_cast<uint64_t>(std::min<Wide>(rescan_size_, Wide{rescan_size_} * done / all));
  const uint64_t handed = rescan_size_ - rescan_left_;
  return due > handed ? due - handed : 0;
}

Result<std::vector<std::string>> Beast::PopFailed(size_t max) {
  // What failed again is behind these in Q_F and is not read in this pass.
  ASSIGN_OR_RETURN(std::vector<std::string> records, failed_->Pop(std::min<uint64_t>(max, rescan_left_)));
  rescan_left_ -= records.size();
  counts_.failed -= records.size();
  counts_.out += records.size();
  counts_.rebudgeted += records.size();
  counts_.raw_read += Bytes(records);
  return records;
}

Status Beast::CheckInvariants() const {
  const auto broken = [&](const std::string& what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", options_.name, what));
  };
  if (queues_ < 2 || queues_ > ring_.size()) return broken(fmt::format("{} queues", queues_));
  if (pass_length_ < queues_) return broken(fmt::format("a pass of {} with {} queues", pass_length_, queues_));
  if (tick_ > std::numeric_limits<uint32_t>::max()) return broken(fmt::format("tick {}", tick_));
  uint64_t within = 0;
  uint64_t all = 0;
  for (uint64_t i = 0; i < ring_.size(); ++i) {
    all += ring_[i]->size();
    if (i < queues_) within += slot(tick_ + i).size();
  }
  if (all != counts_.queued || within != all) {
    return broken(fmt::format("{} URLs in queues, {} before the horizon, {} counted", all, within, counts_.queued));
  }
  if (failed_->size() != counts_.failed || rescan_left_ > counts_.failed || rescan_left_ > rescan_size_) {
    return broken(fmt::format("{} URLs failed, {} counted, {} of {} to be read", failed_->size(), counts_.failed,
                              rescan_left_, rescan_size_));
  }
  if (counts_.placed != counts_.popped + counts_.queued + counts_.failed + counts_.out) {
    return broken(fmt::format("{} placed, but {} popped, {} queued, {} failed, {} out", counts_.placed, counts_.popped,
                              counts_.queued, counts_.failed, counts_.out));
  }
  return {};
}

}  // namespace portolan
