// CrawlLog: one JSON object a fetch, one line each: what was asked for, when, and what became of it.
//
//   {"time":"2026-01-31T12:30:01.250Z","url":"https://example.org/","kind":"page","outcome":"answered","status":200,
//    "bytes":5120,"decoded":20480,"ms":143,"depth":2,"via":"https://example.com/","mime":"text/html",
//    "content_type":"text/html; charset=utf-8","title":"An example","ip":"192.0.2.7","links":37}
//
// Failures are in it like successes, so that the log alone tells the whole crawl. Files are log/crawl-<serial>.jsonl,
// closed at `file_size`. The checkpoint knows the serial and length of the last one: a recovered crawl has each fetch
// once; what Show wrote beyond that is cut off. As with WARC files, the owner commits a checkpoint before the first
// Add.
//
// Thread: one owner; on_error runs on the writing thread. Memory bound: options.queue_bytes waiting, as much being
// written, and kBatch. At the bound Add says false and the line is not taken. Errors: as ArchiveWriter.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "archive/append_file.h"
#include "archive/stubborn_thread.h"
#include "base/result.h"
#include "disk/manifest.h"
#include "flow/fetch.h"
#include "flow/page_result.h"
#include "io/env.h"

namespace portolan {

// What the shard knows of a fetch beyond its result.
struct FetchLine {
  std::string_view url;
  Address address;
  uint16_t depth = 0;
  uint8_t attempt = 1;           // 0: it was not fetched at all
  bool again = false;            // it will be tried again
  std::string via = {};          // the page on which it was found; empty: a seed, or nobody said
  std::string_view denied = {};  // why it was not fetched, instead of the outcome: "robots_denied" …
};

// Is it a file of a crawl's log, by its name?
bool IsCrawlLogName(std::string_view name);

// Appends the line, with its end.
void AppendFetchLine(const PageResult& result, const FetchLine& about, std::string& out);

class CrawlLog : public Checkpointable {
 public:
  struct Options {
    std::string dir;
    uint64_t file_size = uint64_t{256} << 20;
    uint64_t queue_bytes = uint64_t{4} << 20;
    bool enabled = true;  // false: lines are taken and forgotten
    bool threads = true;
    std::function<void(const Error&)> on_error = {};
  };
  static constexpr size_t kBatch = size_t{64} << 10;  // bytes of lines that go to the thread at once

  static Result<std::unique_ptr<CrawlLog>> Open(Env& env, const Manifest& manifest, const Options& options);
  // What was not flushed is gone: no checkpoint knows of it.
  ~CrawlLog() override;

  bool Add(const PageResult& result, const FetchLine& about);

  // Hands everything so far to the file, without a sync: for readers, who need not wait for a checkpoint. Call it now
  // and then; it does nothing where nothing came since.
  void Show();

  // As ArchiveWriter's.
  void StartFlush(std::function<void(Status)> done) override;
  Status Flush() override;
  ManifestSection Describe() const override;
  Status Committed() override { return {}; }

  bool stalled() const { return thread_->stalled(); }
  void Resume() { thread_->Resume(); }

  static constexpr std::string_view kName = "log";
  static constexpr std::string_view kKind = "log";

 private:
  struct Mark {
    uint64_t serial = 0;  // the highest that was used
    uint64_t length = 0;  // of that file, if it grows; 0: it does not
  };

  CrawlLog(Env& env, const Options& options) : env_(env), options_(options) {}
  std::string PathOf(uint64_t serial) const;
  Status Recover(const ManifestSection* section);
  Status Write(const std::string& lines);  // on the writing thread
  Result<Mark> Sync();                     // likewise
  bool SendBatch(bool over_the_bound);
  void EndFlush(Status status, const Mark* mark);

  Env& env_;
  const Options options_;
  std::string batch_;                 // the owner's
  bool shown_ = true;                 // likewise: the file has all of it, or was asked to
  std::atomic<bool> showing_{false};  // one such request waits for the writing thread, and no second one

  // The writing thread's:
  uint64_t serial_ = 0;
  bool name_is_durable_ = true;
  std::optional<AppendFile> file_;

  mutable std::mutex mutex_;
  std::function<void(Status)> flushed_;  // guarded by mutex_; empty: no flush is going on
  uint64_t flush_number_ = 0;            // guarded by mutex_
  Mark described_;                       // guarded by mutex_

  std::unique_ptr<StubbornThread> thread_;  // last
};

}  // namespace portolan
