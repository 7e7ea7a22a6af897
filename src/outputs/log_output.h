// LogOutput: an output of one lane whose files are a log (log_files.h), and RecordLog: one whose items are records that
// the page's fetch thread has packed already (flow/output_records.h), such as the link log and the text log.
//
// Thread, memory, errors: output.h.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "disk/manifest.h"
#include "flow/page_result.h"
#include "io/env.h"
#include "outputs/log_files.h"
#include "outputs/output.h"

namespace portolan {

struct LogOutputOptions {
  LogFilesOptions files;
  // False: added records are dropped. Existing files stay part of the crawl.
  bool enabled = true;
  OutputWriting writing = {};
};

class LogOutput : public Output {
 public:
  // Writes everything so far to the file, without a sync, so that readers need not wait for a checkpoint. Call it from
  // time to time; it does nothing if nothing was added since.
  virtual void Show();

  Status Committed() override;

  // Packs what is left to be packed, and waits for it: after the last commit.
  Status FinishPacking();

 protected:
  LogOutput(std::string name, const std::optional<CommittedOutput>& known, bool whole, const LogOutputOptions& options)
      : Output(std::move(name), known, whole, 1), enabled_(options.enabled), packs_(options.files.pack) {}
  ~LogOutput() override { StopWriting(); }

  // Opens the files and starts the thread.
  Status OpenFiles(Env& env, const std::optional<CommittedOutput>& known, const LogOutputOptions& options);
  // Whether the log has everything since the start of the crawl.
  static bool IsWhole(const Manifest& manifest, const std::optional<CommittedOutput>& known, bool enabled) {
    return enabled && (known ? known->whole : manifest.sequence() == 0);
  }

  bool enabled() const { return enabled_; }
  LogFiles& log() { return static_cast<LogFiles&>(files(0)); }
  // Runs `add` on the writing thread with a file that has room. It must not fail.
  template <typename Add>
  void Send(Add&& add, uint64_t bytes) {
    shown_ = false;
    writer(0).Send(
        [this, add = std::forward<Add>(add)]() mutable -> Status {
          ASSIGN_OR_RETURN(LogFile * file, log().Prepare());
          add(*file);
          return {};
        },
        bytes);
  }

 private:
  void Pack(uint64_t finished);

  const bool enabled_;
  const bool packs_;
  uint64_t packing_to_ = 0;           // the owner's: files up to this serial were asked to be packed
  bool shown_ = true;                 // the owner's: the file has all of it, or was asked to
  std::atomic<bool> showing_{false};  // one such request waits for the writing thread, and no second one
};

class RecordLog : public LogOutput {
 public:
  static Result<std::unique_ptr<RecordLog>> Open(Env& env, const Manifest& manifest, std::string_view name,
                                                 const LogOutputOptions& options);
  ~RecordLog() override { StopWriting(); }

  // Its records are in the form of PackedRecords.
  void Add(OutputItem&& item);

 private:
  using LogOutput::LogOutput;
};

}  // namespace portolan
