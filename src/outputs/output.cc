#include "outputs/output.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <utility>

#include "base/check.h"

namespace portolan {

struct Output::Barrier {
  size_t missing;
  std::vector<OutputMark> marks;
  std::function<void(Status)> done;
};

Result<std::optional<CommittedOutput>> FindOutput(const Manifest& manifest, std::string_view name) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(name, kOutputKind));
  if (section == nullptr) return std::nullopt;
  CommittedOutput output;
  ASSIGN_OR_RETURN(const uint64_t lanes, section->Number("lanes"));
  ASSIGN_OR_RETURN(const uint64_t whole, section->Number("whole"));
  output.whole = whole != 0;
  for (uint64_t i = 0; i < lanes; ++i) {
    OutputMark mark;
    ASSIGN_OR_RETURN(mark.serial, section->Number(fmt::format("{}.serial", i)));
    ASSIGN_OR_RETURN(mark.length, section->Number(fmt::format("{}.length", i)));
    ASSIGN_OR_RETURN(mark.index_length, section->Number(fmt::format("{}.index", i)));
    output.lanes.push_back(mark);
  }
  return output;
}

Output::Output(std::string name, const std::optional<CommittedOutput>& known, bool whole, size_t lanes)
    : name_(std::move(name)), whole_(whole), needs_commit_(!known || known->lanes.size() < lanes) {
  if (known) described_ = known->lanes;
  CHECK(described_.size() <= lanes);
  described_.resize(lanes);
}

Output::~Output() { StopWriting(); }

void Output::Start(std::vector<std::unique_ptr<LaneFiles>> files, const OutputWriting& writing) {
  CHECK(lanes_.empty() && files.size() == described_.size());
  for (auto& one : files) {
    const auto on_error = [this, tell = writing.on_error](const Error& error) {
      FailFlush(error);
      if (tell) tell(error);
    };
    lanes_.push_back(
        {std::move(one),
         std::make_unique<RetryingWriter>(RetryingWriter::Options{
             .threaded = writing.threads, .on_error = on_error, .on_done = writing.on_done, .name = name_})});
  }
}

void Output::StopWriting() {
  for (const Lane& lane : lanes_) lane.writer->Stop();
  FailFlush(Error(ErrorCode::kClosed, "the output '" + name_ + "' is closed"));
}

OutputMark Output::described(size_t lane) const {
  const std::lock_guard lock(mutex_);
  return described_[lane];
}

void Output::StartFlush(std::function<void(Status)> done) {
  auto barrier =
      std::make_shared<Barrier>(Barrier{lanes_.size(), std::vector<OutputMark>(lanes_.size()), std::move(done)});
  {
    const std::lock_guard lock(mutex_);
    CHECK(barrier_ == nullptr, "a flush is already running");
    barrier_ = barrier;
  }
  // A thread that stalls from here on finds the barrier and fails it.
  for (const Lane& lane : lanes_) {
    if (const auto error = lane.writer->stalled_by()) return FailFlush(*error);
  }
  BeforeFlush();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].writer->Send([this, i, barrier]() -> Status {
      ASSIGN_OR_RETURN(const OutputMark mark, lanes_[i].files->Sync());
      Reach(barrier, i, mark);
      return {};
    });
  }
}

void Output::Reach(const std::shared_ptr<Barrier>& barrier, size_t lane, const OutputMark& mark) {
  std::function<void(Status)> done;
  {
    const std::lock_guard lock(mutex_);
    if (barrier_ != barrier) return;  // failed meanwhile
    barrier->marks[lane] = mark;
    if (--barrier->missing > 0) return;
    described_ = barrier->marks;
    barrier_.reset();
    done = std::move(barrier->done);
  }
  done({});
}

void Output::FailFlush(const Error& error) {
  std::function<void(Status)> done;
  {
    const std::lock_guard lock(mutex_);
    if (barrier_ == nullptr) return;
    done = std::move(barrier_->done);
    barrier_.reset();
  }
  done(std::unexpected(error));
}

Status Output::Flush() {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Status> result;
  StartFlush([&](Status status) {
    const std::lock_guard lock(mutex);
    result = std::move(status);
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return result.has_value(); });
  return *result;
}

ManifestSection Output::Describe() const {
  ManifestSection section;
  section.name = name_;
  section.kind = kOutputKind;
  const std::lock_guard lock(mutex_);
  section.numbers["lanes"] = described_.size();
  section.numbers["whole"] = whole_ ? 1 : 0;
  for (size_t i = 0; i < described_.size(); ++i) {
    section.numbers[fmt::format("{}.serial", i)] = described_[i].serial;
    section.numbers[fmt::format("{}.length", i)] = described_[i].length;
    section.numbers[fmt::format("{}.index", i)] = described_[i].index_length;
  }
  return section;
}

Status Output::Committed() {
  needs_commit_ = false;
  return {};
}

bool Output::stalled() const {
  return std::ranges::any_of(lanes_, [](const Lane& lane) { return lane.writer->stalled(); });
}

void Output::Resume() {
  for (const Lane& lane : lanes_) {
    if (lane.writer->stalled()) lane.writer->Resume();
  }
}

uint64_t Output::waiting_bytes() const {
  uint64_t bytes = 0;
  for (const Lane& lane : lanes_) bytes += lane.writer->waiting_bytes();
  return bytes;
}

}  // namespace portolan
