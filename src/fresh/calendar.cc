#include "fresh/calendar.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/bytes.h"

namespace portolan {

Calendar::Calendar(const Options& options) : options_(options), state_(*this) {}

Calendar::~Calendar() = default;

Result<std::unique_ptr<Calendar>> Calendar::Open(Env& env, const Manifest& manifest, const Options& options) {
  if (options.tick_s == 0) return Fail(ErrorCode::kInvalidArgument, options.name + ": ticks of 0 s");
  std::unique_ptr<Calendar> calendar(new Calendar(options));
  DiskQueue::Options queue;
  queue.block_size = options.block_size;
  queue.segment_size = options.segment_size;
  queue.codec = options.codec;
  for (size_t i = 0; i < kQueues; ++i) {
    queue.name = fmt::format("{}-q{:02}", options.name, i);
    ASSIGN_OR_RETURN(calendar->queues_[i], DiskQueue::Open(env, manifest, queue));
    calendar->size_ += calendar->queues_[i]->size();
  }
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section != nullptr) RETURN_IF_ERROR(calendar->Restore(*section));
  return calendar;
}

Status Calendar::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(const uint64_t tick, section.Number("tick"));
  ASSIGN_OR_RETURN(const uint64_t tick_s, section.Number("tick_s"));
  if (tick_s == 0 || tick_s > UINT32_MAX || tick > UINT32_MAX) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: tick {} of {} s", section.name, tick, tick_s));
  }
  tick_ = static_cast<uint32_t>(tick);
  options_.tick_s = static_cast<uint32_t>(tick_s);
  for (size_t i = 1; i < kQueues; ++i) {
    ASSIGN_OR_RETURN(left_[i], section.Number(fmt::format("left_{:02}", i)));
    if (left_[i] > queues_[i]->size()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} of {} entries of queue {} are to be poured", section.name,
                                                   left_[i], queues_[i]->size(), i));
    }
    pouring_ += left_[i];
  }
  return {};
}

Status Calendar::State::Flush() {
  described_ = {};
  described_.name = calendar_.options_.name;
  described_.kind = kKind;
  described_.numbers = {{"tick", calendar_.tick_}, {"tick_s", calendar_.options_.tick_s}};
  for (size_t i = 1; i < kQueues; ++i) described_.numbers[fmt::format("left_{:02}", i)] = calendar_.left_[i];
  return {};
}

std::vector<Checkpointable*> Calendar::Checkpointables() {
  std::vector<Checkpointable*> all = {&state_};
  for (const auto& queue : queues_) all.push_back(queue.get());
  return all;
}

size_t Calendar::QueueOf(uint32_t due_s) const {
  const uint32_t due = due_s / options_.tick_s;
  return due <= tick_ ? 0 : static_cast<size_t>(std::bit_width(due ^ tick_));
}

void Calendar::Pour(size_t queue) {
  pouring_ -= left_[queue];
  left_[queue] = queues_[queue]->size();
  pouring_ += left_[queue];
}

void Calendar::Advance(uint32_t now_s) {
  const uint32_t tick = now_s / options_.tick_s;
  if (tick <= tick_) return;
  // Of the queues below the highest bit that changes everything is due; the queue of that bit begins now.
  const auto highest = static_cast<size_t>(std::bit_width(tick ^ tick_));
  tick_ = tick;
  for (size_t i = 1; i <= highest; ++i) Pour(i);
}

void Calendar::Sweep() {
  for (size_t i = 1; i < kQueues; ++i) Pour(i);
}

Status Calendar::File(uint32_t due_s, std::string_view bytes) {
  record_.clear();
  AppendLe(record_, due_s);
  record_.append(bytes);
  RETURN_IF_ERROR(queues_[QueueOf(due_s)]->Append(record_));
  ++size_;
  return {};
}

std::optional<Calendar::Entry> Calendar::Decode(std::string_view record) {
  Entry entry;
  ByteReader in(record);
  if (!in.Read(entry.due_s)) return std::nullopt;
  entry.bytes = record.substr(in.position());
  return entry;
}

Result<std::optional<Calendar::Entry>> Calendar::Pop() {
  ASSIGN_OR_RETURN(const std::string* record, queues_[0]->Front());
  if (record == nullptr) return std::nullopt;
  std::optional<Entry> entry = Decode(*record);
  if (!entry) return Fail(ErrorCode::kCorrupt, options_.name + ": an entry without a time");
  queues_[0]->PopFront();
  --size_;
  return entry;
}

Result<uint64_t> Calendar::Work(uint64_t max, const Judge& judge) {
  uint64_t done = 0;
  for (size_t i = 1; i < kQueues && pouring_ > 0; ++i) {
    for (; left_[i] > 0 && done < max; ++done) {
      ASSIGN_OR_RETURN(const std::string* record, queues_[i]->Front());
      if (record == nullptr || record->size() < sizeof(uint32_t)) {
        return Fail(ErrorCode::kCorrupt, fmt::format("{}: queue {} has no entry to pour", options_.name, i));
      }
      const std::string_view bytes = std::string_view(*record).substr(sizeof(uint32_t));
      RETURN_IF_ERROR(File(judge(LoadLe<uint32_t>(record->data()), bytes), bytes));
      queues_[i]->PopFront();
      --size_;
      --left_[i];
      --pouring_;
      ++poured_;
    }
  }
  return done;
}

Status Calendar::CheckInvariants() {
  uint64_t pouring = 0;
  for (size_t i = 1; i < kQueues; ++i) {
    pouring += left_[i];
    if (left_[i] > queues_[i]->size()) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: queue {} is to pour {} of {}", options_.name, i, left_[i], queues_[i]->size()));
    }
    if (left_[i] > 0) continue;
    ASSIGN_OR_RETURN(const std::string* record, queues_[i]->Front());
    if (record == nullptr) continue;
    const std::optional<Entry> entry = Decode(*record);
    if (!entry || QueueOf(entry->due_s) != i) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: an entry of another time in queue {}", options_.name, i));
    }
  }
  if (pouring != pouring_) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {} to pour, {} counted", options_.name, pouring, pouring_));
  }
  return {};
}

}  // namespace portolan
