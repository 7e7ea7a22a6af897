// Outputs: everything that a crawl writes for others to read, as one thing: WARC files, the crawl log, and (where they
// are switched on) the link log and the text log.
//
//   Write           the result of a fetch goes to all outputs that need it; nothing is refused
//   HasRoom         whether the owner should take in more answers: what waits for the disk is below queue_bytes
//   Checkpointables all of them, to be committed together
//   stalled, Resume a disk is full, and there is room again (output.h)
//
// An output that was switched off stays part of the crawl's checkpoints: its files are kept, and it is marked as not
// whole any more.
//
// Thread: one owner; but Write, HasRoom, Show and Resume may be called from any thread; on_error and on_room run on
// writing threads. Memory bound: queue_bytes, and what the owner had taken in when it was reached.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "flow/fetch_line.h"
#include "flow/page_result.h"
#include "io/clock.h"
#include "io/env.h"
#include "outputs/crawl_log.h"
#include "outputs/log_output.h"
#include "outputs/warc_output.h"

namespace portolan {

inline constexpr std::string_view kLinkLog = "links";
inline constexpr std::string_view kTextLog = "text";

struct OutputsOptions {
  WarcOutput::Options warc;  // without directories there is no archive
  LogOutputOptions log;      // an empty dir: there is none; likewise the next two
  LogOutputOptions links{.files = {}, .enabled = false};
  LogOutputOptions text{.files = {}, .enabled = false};
  uint64_t queue_bytes = uint64_t{32} << 20;
  bool threads = true;
  std::function<void(const Error&)> on_error = {};
  std::function<void()> on_room = {};  // HasRoom turned true

  // The directories that they write to.
  std::vector<std::string> Directories() const;
  // The logs, switched on or not: where they are or would be, and the names of their files.
  struct LogPlace {
    std::string dir;
    const LogNames* names;
  };
  std::vector<LogPlace> Logs() const;
};

class Outputs {
 public:
  // Restores the state in the manifest. REQUIRES: env and clock outlive this.
  static Result<std::unique_ptr<Outputs>> Open(Env& env, const Clock& clock, const Manifest& manifest,
                                               const OutputsOptions& options);

  // What was not committed is lost: it is in no checkpoint.
  ~Outputs();

  // Moves everything out of `result` except its links.
  void Write(PageResult& result, FetchLine&& about);
  bool HasRoom() const { return waiting_bytes() < options_.queue_bytes; }

  std::vector<Checkpointable*> Checkpointables() const;
  bool stalled() const;
  void Resume();
  // An output is not in the manifest yet: a commit must come before the first Write.
  bool needs_commit() const;
  // Writes the crawl log's lines so far to its file, for readers.
  void Show();
  // The crawl is done: WARC files are closed. A commit comes next.
  Status Finish();
  // After the last commit: packs what is left to be packed.
  Status FinishPacking();
  uint64_t waiting_bytes() const;

  WarcOutput* warc() { return warc_.get(); }

 private:
  explicit Outputs(const OutputsOptions& options) : options_(options) {}
  OutputWriting Writing();
  std::vector<Output*> All() const;

  const OutputsOptions options_;
  std::unique_ptr<WarcOutput> warc_;
  std::unique_ptr<CrawlLog> log_;
  std::unique_ptr<RecordLog> links_;
  std::unique_ptr<RecordLog> text_;
  std::mutex mutex_;               // of Write, Show and Resume
  std::atomic<bool> full_{false};  // HasRoom was false when last asked
};

}  // namespace portolan
