#include "outputs/outputs.h"

#include <algorithm>
#include <utility>

namespace portolan {
namespace {

// If it is neither wanted nor in the manifest there is no such output.
Result<std::unique_ptr<RecordLog>> OpenRecordLog(Env& env, const Manifest& manifest, std::string_view name,
                                                 const LogOutputOptions& options) {
  if (options.files.dir.empty()) return nullptr;
  ASSIGN_OR_RETURN(const auto known, FindOutput(manifest, name));
  if (!options.enabled && !known) return nullptr;
  return RecordLog::Open(env, manifest, name, options);
}

}  // namespace

std::vector<std::string> OutputsOptions::Directories() const {
  std::vector<std::string> dirs = warc.directories;
  if (!log.files.dir.empty()) dirs.push_back(log.files.dir);
  if (links.enabled) dirs.push_back(links.files.dir);
  if (text.enabled) dirs.push_back(text.files.dir);
  return dirs;
}

std::vector<OutputsOptions::LogPlace> OutputsOptions::Logs() const {
  std::vector<LogPlace> places = {
      {log.files.dir, &kCrawlLogNames}, {links.files.dir, &kLinkLogNames}, {text.files.dir, &kTextLogNames}};
  std::erase_if(places, [](const LogPlace& place) { return place.dir.empty(); });
  return places;
}

OutputWriting Outputs::Writing() {
  return {.threads = options_.threads, .on_error = options_.on_error, .on_done = [this] {
            if (!full_ || !HasRoom()) return;
            if (full_.exchange(false) && options_.on_room) options_.on_room();
          }};
}

Result<std::unique_ptr<Outputs>> Outputs::Open(Env& env, const Clock& clock, const Manifest& manifest,
                                               const OutputsOptions& options) {
  std::unique_ptr<Outputs> outputs(new Outputs(options));
  const OutputWriting writing = outputs->Writing();
  if (!options.warc.directories.empty()) {
    WarcOutput::Options warc = options.warc;
    warc.writing = writing;
    ASSIGN_OR_RETURN(outputs->warc_, WarcOutput::Open(env, clock, manifest, warc));
  }
  if (!options.log.files.dir.empty()) {
    LogOutputOptions log = options.log;
    log.writing = writing;
    ASSIGN_OR_RETURN(outputs->log_, CrawlLog::Open(env, manifest, std::move(log)));
  }
  LogOutputOptions links = options.links;
  links.files.names = kLinkLogNames;
  links.files.blocks = FileKind::kLinks;
  links.files.tag_width = 1;
  links.writing = writing;
  ASSIGN_OR_RETURN(outputs->links_, OpenRecordLog(env, manifest, kLinkLog, links));
  LogOutputOptions text = options.text;
  text.files.names = kTextLogNames;
  text.files.blocks = FileKind::kText;
  text.writing = writing;
  ASSIGN_OR_RETURN(outputs->text_, OpenRecordLog(env, manifest, kTextLog, text));
  return outputs;
}

// Stop all before any is destroyed: a writing thread asks how much waits in all outputs.
Outputs::~Outputs() {
  for (Output* const output : All()) output->StopWriting();
}

void Outputs::Write(PageResult& result, FetchLine&& about) {
  const std::lock_guard lock(mutex_);
  if (warc_) {
    if (about.revisit) {
      result.archive.first_url = about.duplicate_of;
      result.archive.first_unix_ms = about.duplicate_unix_ms;
    }
    warc_->Write(std::exchange(result.archive, {}));
  }
  for (OutputItem& item : result.outputs) {
    RecordLog* const log = item.output == OutputId::kLinks ? links_.get() : text_.get();
    if (log != nullptr) log->Add(std::move(item));
  }
  result.outputs.clear();
  if (log_) log_->Add(result, std::move(about));
  if (HasRoom()) return;
  full_ = true;
  if (HasRoom()) full_ = false;  // it was written just now, and the writing thread did not see full_
}

std::vector<Output*> Outputs::All() const {
  std::vector<Output*> all;
  for (Output* const output : {static_cast<Output*>(warc_.get()), static_cast<Output*>(log_.get()),
                               static_cast<Output*>(links_.get()), static_cast<Output*>(text_.get())}) {
    if (output != nullptr) all.push_back(output);
  }
  return all;
}

std::vector<Checkpointable*> Outputs::Checkpointables() const {
  const std::vector<Output*> all = All();
  return {all.begin(), all.end()};
}

bool Outputs::stalled() const {
  return std::ranges::any_of(All(), [](const Output* output) { return output->stalled(); });
}

void Outputs::Resume() {
  const std::lock_guard lock(mutex_);
  for (Output* const output : All()) output->Resume();
}

bool Outputs::needs_commit() const {
  return std::ranges::any_of(All(), [](const Output* output) { return output->needs_commit(); });
}

void Outputs::Show() {
  const std::lock_guard lock(mutex_);
  if (log_) log_->Show();
}

Status Outputs::Finish() { return warc_ ? warc_->Finish() : Status(); }

Status Outputs::FinishPacking() { return log_ ? log_->FinishPacking() : Status(); }

uint64_t Outputs::waiting_bytes() const {
  uint64_t bytes = 0;
  for (const Output* const output : {static_cast<Output*>(warc_.get()), static_cast<Output*>(log_.get()),
                                     static_cast<Output*>(links_.get()), static_cast<Output*>(text_.get())}) {
    if (output != nullptr) bytes += output->waiting_bytes();
  }
  return bytes;
}

}  // namespace portolan
