#include "outputs/warc_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "outputs/line_sort.h"

namespace portolan {

Result<std::unique_ptr<WarcOutput>> WarcOutput::Open(Env& env, const Clock& clock, const Manifest& manifest,
                                                     const Options& options) {
  if (options.directories.empty()) return Fail(ErrorCode::kInvalidArgument, "an archive needs a directory");
  RETURN_IF_ERROR(TellApart(env, options.directories));
  ASSIGN_OR_RETURN(const auto known, FindOutput(manifest, kName));
  const std::vector<OutputMark> marks = known ? known->lanes : std::vector<OutputMark>();
  if (marks.size() > options.directories.size()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("the archive has {} directories, the configuration names {}",
                                                         marks.size(), options.directories.size()));
  }
  std::unique_ptr<WarcOutput> output(
      new WarcOutput(env, options, known, known ? known->whole : manifest.sequence() == 0));
  for (const OutputMark& mark : marks) {
    output->next_serial_ = std::max<uint64_t>(output->next_serial_, mark.serial + 1);
  }
  output->first_serial_ = output->next_serial_;
  std::vector<std::unique_ptr<LaneFiles>> lanes;
  for (size_t i = 0; i < options.directories.size(); ++i) {
    WarcDirectoryOptions files = options.files;
    files.dir = options.directories[i];
    if (files.seed) *files.seed += i;
    const auto mark = i < marks.size() ? std::optional(marks[i]) : std::nullopt;
    ASSIGN_OR_RETURN(auto directory, WarcDirectory::Open(env, clock, files, mark, output->next_serial_));
    lanes.push_back(std::move(directory));
  }
  output->Start(std::move(lanes), options.writing);
  return output;
}

WarcOutput::~WarcOutput() { StopWriting(); }

// Before anything in them is touched.
Status WarcOutput::TellApart(Env& env, const std::vector<std::string>& directories) {
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

size_t WarcOutput::ChooseLane() const {
  if (lanes() == 1) return 0;
  const auto rank = [&](size_t lane) {
    return std::tuple(writer(lane).stalled(), writer(lane).waiting_bytes() >= behind_bytes_, given_[lane]);
  };
  size_t best = 0;
  for (size_t i = 1; i < lanes(); ++i) {
    if (rank(i) < rank(best)) best = i;
  }
  return best;
}

void WarcOutput::Write(ArchiveItem&& item) {
  if (item.bytes.empty()) return;
  const size_t lane = ChooseLane();
  const uint64_t size = item.bytes.size() + item.revisit.size();
  given_[lane] += size;
  writer(lane).Send(
      [this, lane, item = std::move(item)]() -> Status {
        if (directory(lane).full()) RETURN_IF_ERROR(CloseLane(lane));
        ASSIGN_OR_RETURN(const uint64_t added, directory(lane).Append(item));
        items_.fetch_add(1, std::memory_order_relaxed);
        bytes_.fetch_add(added, std::memory_order_relaxed);
        return {};
      },
      size);
}

Status WarcOutput::CloseLane(size_t lane) {
  std::optional<WarcDirectory::ClosedPart> part;
  RETURN_IF_ERROR(directory(lane).Close(part));
  if (!part) return {};
  const std::lock_guard lock(mutex_);
  retired_.push_back({lane, std::move(*part)});
  return {};
}

void WarcOutput::CloseFiles() {
  for (size_t i = 0; i < lanes(); ++i) {
    writer(i).Send([this, i] { return CloseLane(i); });
  }
}

Status WarcOutput::Finish() {
  CloseFiles();
  return Flush();
}

Status WarcOutput::Committed() {
  std::vector<Retired> gone;
  {
    const std::lock_guard lock(mutex_);
    std::vector<Retired> still;
    for (Retired& one : retired_) {
      const OutputMark mark = described(one.lane);
      const bool needed = one.part.serial > mark.serial || (one.part.serial == mark.serial && mark.length > 0);
      (needed ? still : gone).push_back(std::move(one));
    }
    retired_ = std::move(still);
  }
  // One that cannot be removed now is removed by the next recovery.
  for (const Retired& one : gone) static_cast<void>(env_.Remove(one.part.path));
  return Output::Committed();
}

WarcOutput::Totals WarcOutput::totals() const {
  return {.items = items_, .bytes = bytes_, .files = next_serial_ - first_serial_};
}

Result<bool> ArchiveIsFinished(const Manifest& manifest) {
  ASSIGN_OR_RETURN(const auto archive, FindOutput(manifest, WarcOutput::kName));
  if (!archive) return false;
  return std::ranges::all_of(archive->lanes, [](const OutputMark& mark) { return mark.length == 0; }) &&
         std::ranges::any_of(archive->lanes, [](const OutputMark& mark) { return mark.serial > 0; });
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
