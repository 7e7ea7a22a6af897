#include "archive/archive_writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <optional>
#include <utility>

#include "archive/line_sort.h"
#include "base/check.h"

namespace portolan {

struct ArchiveWriter::Barrier {
  size_t missing;
  std::vector<WarcDirectory::Mark> marks;
  std::function<void(Status)> done;
};

Result<std::unique_ptr<ArchiveWriter>> ArchiveWriter::Open(Env& env, const Clock& clock, const Manifest& manifest,
                                                           const Options& options) {
  if (options.directories.empty()) return Fail(ErrorCode::kInvalidArgument, "an archive needs a directory");
  RETURN_IF_ERROR(TellApart(env, options.directories));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(kName, kKind));
  std::vector<std::optional<WarcDirectory::Mark>> marks(options.directories.size());
  std::unique_ptr<ArchiveWriter> writer(new ArchiveWriter(env, options));
  if (section != nullptr) {
    ASSIGN_OR_RETURN(const uint64_t count, section->Number("directories"));
    if (count > marks.size()) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("the archive has {} directories, the configuration names {}", count, marks.size()));
    }
    writer->needs_commit_ = count < marks.size();
    for (size_t i = 0; i < marks.size(); ++i) {
      WarcDirectory::Mark mark;
      if (i < count) {
        ASSIGN_OR_RETURN(mark.serial, section->Number(fmt::format("d{}.serial", i)));
        ASSIGN_OR_RETURN(mark.length, section->Number(fmt::format("d{}.length", i)));
        ASSIGN_OR_RETURN(mark.index_length, section->Number(fmt::format("d{}.index", i)));
        marks[i] = mark;
      }
      writer->next_serial_ = std::max<uint64_t>(writer->next_serial_, mark.serial + 1);
    }
  }
  writer->first_serial_ = writer->next_serial_;
  for (size_t i = 0; i < marks.size(); ++i) {
    WarcDirectoryOptions files = options.files;
    files.dir = options.directories[i];
    if (files.seed) *files.seed += i;
    ASSIGN_OR_RETURN(WarcDirectory directory, WarcDirectory::Open(env, clock, files, marks[i], writer->next_serial_));
    writer->lanes_.push_back(std::make_unique<Lane>(std::move(directory)));
    writer->described_.push_back(marks[i].value_or(WarcDirectory::Mark{}));
  }
  for (const auto& lane : writer->lanes_) {
    lane->thread = std::make_unique<StubbornThread>(
        options.threads, options.queue_bytes,
        [self = writer.get()](const Error& error) {
          self->FailFlush(error);
          if (self->options_.on_error) self->options_.on_error(error);
        },
        "archive");
  }
  return writer;
}

// Before anything in them is touched.
Status ArchiveWriter::TellApart(Env& env, const std::vector<std::string>& directories) {
  std::map<std::string, std::string> known;  // by identity
  for (const std::string& dir : directories) {
    RETURN_IF_ERROR(env.CreateDirs(dir));
    ASSIGN_OR_RETURN(std::string identity, env.Identity(dir));
    const auto [first, is_new] = known.try_emplace(std::move(identity), dir);
    if (is_new) continue;
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("archive directories {} and {} are one and the same", first->second, dir));
  }
  return {};
}

ArchiveWriter::~ArchiveWriter() {
  for (const auto& lane : lanes_) {
    if (lane->thread) lane->thread->Stop();  // Open may have had no thread for it
  }
  FailFlush(Error(ErrorCode::kClosed, "the archive is closed"));
}

bool ArchiveWriter::TryWrite(ArchiveItem&& item) {
  if (item.bytes.empty()) return true;
  std::vector<Lane*> order;
  for (const auto& lane : lanes_) order.push_back(lane.get());
  std::ranges::stable_sort(order, {}, &Lane::given);
  const uint64_t size = item.bytes.size();
  auto shared = std::make_shared<ArchiveItem>(std::move(item));
  for (Lane* lane : order) {
    if (lane->thread->stalled()) continue;
    const bool sent = lane->thread->TrySend(
        [this, lane, shared]() -> Status {
          if (lane->directory.full()) RETURN_IF_ERROR(CloseLane(*lane));
          RETURN_IF_ERROR(lane->directory.Append(*shared));
          items_.fetch_add(1, std::memory_order_relaxed);
          bytes_.fetch_add(shared->bytes.size(), std::memory_order_relaxed);
          return {};
        },
        size);
    if (sent) {
      lane->given += size;
      return true;
    }
  }
  item = std::move(*shared);
  return false;
}

Status ArchiveWriter::CloseLane(Lane& lane) {
  std::optional<WarcDirectory::ClosedPart> part;
  RETURN_IF_ERROR(lane.directory.Close(part));
  if (!part) return {};
  const auto at = std::ranges::find_if(lanes_, [&](const auto& one) { return one.get() == &lane; });
  const std::lock_guard lock(mutex_);
  retired_.push_back({static_cast<size_t>(at - lanes_.begin()), std::move(*part)});
  return {};
}

void ArchiveWriter::CloseFiles() {
  for (const auto& lane : lanes_) {
    lane->thread->Send([this, lane = lane.get()] { return CloseLane(*lane); });
  }
}

Status ArchiveWriter::Finish() {
  CloseFiles();
  return Flush();
}

void ArchiveWriter::StartFlush(std::function<void(Status)> done) {
  auto barrier = std::make_shared<Barrier>(
      Barrier{lanes_.size(), std::vector<WarcDirectory::Mark>(lanes_.size()), std::move(done)});
  {
    const std::lock_guard lock(mutex_);
    CHECK(barrier_ == nullptr, "a flush is going on");
    barrier_ = barrier;
  }
  // A thread that comes to a stop from here on finds the barrier and fails it.
  for (const auto& lane : lanes_) {
    if (const auto error = lane->thread->stalled_by()) return FailFlush(*error);
  }
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i]->thread->Send([this, i, barrier]() -> Status {
      ASSIGN_OR_RETURN(const WarcDirectory::Mark mark, lanes_[i]->directory.Sync());
      Reach(barrier, i, mark);
      return {};
    });
  }
}

void ArchiveWriter::Reach(const std::shared_ptr<Barrier>& barrier, size_t lane, const WarcDirectory::Mark& mark) {
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

void ArchiveWriter::FailFlush(const Error& error) {
  std::function<void(Status)> done;
  {
    const std::lock_guard lock(mutex_);
    if (barrier_ == nullptr) return;
    done = std::move(barrier_->done);
    barrier_.reset();
  }
  done(std::unexpected(error));
}

Status ArchiveWriter::Flush() {
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

ManifestSection ArchiveWriter::Describe() const {
  ManifestSection section;
  section.name = kName;
  section.kind = kKind;
  const std::lock_guard lock(mutex_);
  section.numbers["directories"] = described_.size();
  for (size_t i = 0; i < described_.size(); ++i) {
    section.numbers[fmt::format("d{}.serial", i)] = described_[i].serial;
    section.numbers[fmt::format("d{}.length", i)] = described_[i].length;
    section.numbers[fmt::format("d{}.index", i)] = described_[i].index_length;
  }
  return section;
}

Status ArchiveWriter::Committed() {
  std::vector<Retired> gone;
  {
    const std::lock_guard lock(mutex_);
    std::vector<Retired> still;
    for (Retired& one : retired_) {
      const WarcDirectory::Mark& mark = described_[one.lane];
      const bool needed = one.part.serial > mark.serial || (one.part.serial == mark.serial && mark.length > 0);
      (needed ? still : gone).push_back(std::move(one));
    }
    retired_ = std::move(still);
  }
  needs_commit_ = false;
  // One that cannot be removed now is removed by the next recovery.
  for (const Retired& one : gone) static_cast<void>(env_.Remove(one.part.path));
  return {};
}

bool ArchiveWriter::stalled() const {
  return std::ranges::any_of(lanes_, [](const auto& lane) { return lane->thread->stalled(); });
}

void ArchiveWriter::Resume() {
  for (const auto& lane : lanes_) {
    if (lane->thread->stalled()) lane->thread->Resume();
  }
}

ArchiveWriter::Totals ArchiveWriter::totals() const {
  return {.items = items_, .bytes = bytes_, .files = next_serial_ - first_serial_};
}

Result<bool> ArchiveIsFinished(const Manifest& manifest) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(ArchiveWriter::kName, ArchiveWriter::kKind));
  if (section == nullptr) return false;
  ASSIGN_OR_RETURN(const uint64_t directories, section->Number("directories"));
  bool any = false;
  for (uint64_t i = 0; i < directories; ++i) {
    ASSIGN_OR_RETURN(const uint64_t serial, section->Number(fmt::format("d{}.serial", i)));
    ASSIGN_OR_RETURN(const uint64_t length, section->Number(fmt::format("d{}.length", i)));
    if (length > 0) return false;
    any = any || serial > 0;
  }
  return any;
}

Status MergeArchiveIndex(Env& env, const std::vector<std::string>& directories, const std::string& output) {
  std::vector<std::string> inputs;
  for (const std::string& dir : directories) {
    ASSIGN_OR_RETURN(const std::vector<std::string> names, env.List(dir));
    for (const std::string& name : names) {
      const std::string path = JoinPath(dir, name);
      if (name.ends_with(".cdxj") && path != output) inputs.push_back(path);
    }
  }
  return MergeLines(env, inputs, output);
}

}  // namespace portolan
