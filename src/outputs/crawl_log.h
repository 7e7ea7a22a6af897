// CrawlLog: one JSON object per fetch, one line each: what was requested, when, and the result.
//
//   {"time":"2026-01-31T12:30:01.250Z","url":"https://example.org/","kind":"page","outcome":"answered","status":200,
//    "bytes":5120,"decoded":20480,"ms":143,"depth":2,"via":"https://example.com/","mime":"text/html",
//    "content_type":"text/html; charset=utf-8","title":"An example","ip":"192.0.2.7","links":37}
//
// A visit after the first has "visit": how the payload compares with the last one ("not_modified", "same", "other",
// "unknown"), "unchanged_since": the time of the capture that holds an unchanged payload, and "gone" if the page was
// there and is no longer (404, 410).
//
// Failures are in it like successes, so that the log alone describes the whole crawl. Files are
// log/crawl-<serial>.jsonl; finished ones are packed (log_files.h). The shard's thread only moves the line's data into
// a LogLine; the writing thread formats it. A recovered crawl has each fetch once: what Show wrote beyond the
// checkpoint is cut off.
//
// Thread, memory, errors: output.h.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "disk/manifest.h"
#include "flow/fetch_line.h"
#include "flow/page_result.h"
#include "io/env.h"
#include "outputs/log_output.h"

namespace portolan {

// The data of one line.
struct LogLine {
  FetchLine about;
  UrlKind kind = UrlKind::kPage;
  FetchOutcome outcome = FetchOutcome::kAnswered;
  int status = 0;
  FetchTimes times;
  uint64_t wire_bytes = 0;
  uint64_t body_bytes = 0;
  HttpVersion version = HttpVersion::kUnknown;
  std::string mime;
  std::string content_type;
  std::string server;
  std::string location;
  std::string title;
  std::string detail;
  std::string redirect;  // the target, canonical, of an answer 3xx
  uint64_t links = 0;
  uint64_t fingerprint = 0;
  uint64_t similarity = 0;

  uint64_t bytes() const;  // of memory, about
};

// Moves the texts out of the result; its links stay.
LogLine MakeLogLine(PageResult& result, FetchLine&& about);
// Appends the line, with its end.
void AppendLogLine(const LogLine& line, std::string& out);

class CrawlLog : public LogOutput {
 public:
  static constexpr std::string_view kName = "log";
  static constexpr size_t kBatch = 128;  // lines that are sent to the thread at once

  // Of options.files only dir and file_size count.
  static Result<std::unique_ptr<CrawlLog>> Open(Env& env, const Manifest& manifest, LogOutputOptions options);
  // What was not flushed is lost: it is in no checkpoint.
  ~CrawlLog() override { StopWriting(); }

  void Add(PageResult& result, FetchLine&& about);
  void Show() override;

 private:
  void BeforeFlush() override { SendBatch(); }
  using LogOutput::LogOutput;
  void SendBatch();

  std::vector<LogLine> batch_;  // the owner's
  uint64_t batch_bytes_ = 0;
};

}  // namespace portolan
