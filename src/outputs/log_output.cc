#include "outputs/log_output.h"

#include <utility>

#include "flow/output_records.h"

namespace portolan {

Status LogOutput::OpenFiles(Env& env, const std::optional<CommittedOutput>& known, const LogOutputOptions& options) {
  const auto mark = known && !known->lanes.empty() ? std::optional(known->lanes[0]) : std::nullopt;
  ASSIGN_OR_RETURN(auto files, LogFiles::Open(env, options.files, mark));
  std::vector<std::unique_ptr<LaneFiles>> lanes;
  lanes.push_back(std::move(files));
  Start(std::move(lanes), options.writing);
  return {};
}

void LogOutput::Show() {
  if (shown_ || showing_ || writer(0).stalled()) return;
  shown_ = true;
  showing_ = true;
  writer(0).Send([this]() -> Status {
    RETURN_IF_ERROR(log().Flush());
    showing_ = false;
    return {};
  });
}

Status LogOutput::Committed() {
  const OutputMark mark = described(0);
  const uint64_t finished = mark.length > 0 ? mark.serial - 1 : mark.serial;
  if (packs_ && finished > packing_to_) {
    packing_to_ = finished;
    Pack(finished);
  }
  return Output::Committed();
}

// A piece, then whatever else waits for the thread, then the next piece.
void LogOutput::Pack(uint64_t finished) {
  writer(0).Send([this, finished]() -> Status {
    ASSIGN_OR_RETURN(const bool more, log().PackSome(finished));
    if (more) Pack(finished);
    return {};
  });
}

Status LogOutput::FinishPacking() {
  if (!packs_) return {};
  writer(0).Send([this, finished = packing_to_]() -> Status {
    for (bool more = true; more;) {
      ASSIGN_OR_RETURN(more, log().PackSome(finished));
    }
    return {};
  });
  return Flush();
}

Result<std::unique_ptr<RecordLog>> RecordLog::Open(Env& env, const Manifest& manifest, std::string_view name,
                                                   const LogOutputOptions& options) {
  ASSIGN_OR_RETURN(const auto known, FindOutput(manifest, name));
  std::unique_ptr<RecordLog> log(
      new RecordLog(std::string(name), known, IsWhole(manifest, known, options.enabled), options));
  RETURN_IF_ERROR(log->OpenFiles(env, known, options));
  return log;
}

void RecordLog::Add(OutputItem&& item) {
  if (!enabled() || item.records.empty()) return;
  const uint64_t size = item.records.size();
  Send(
      [item = std::move(item)](LogFile& file) {
        PackedRecords packed(item.records);
        while (packed.Next()) file.Add(packed.record(), packed.tag());
      },
      size);
}

}  // namespace portolan
