#include "outputs/crawl_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "warc/warc_time.h"

namespace portolan {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

std::string_view KindName(UrlKind kind) {
  switch (kind) {
    case UrlKind::kPage:
      return "page";
    case UrlKind::kRobots:
      return "robots";
    case UrlKind::kSitemap:
      return "sitemap";
  }
  return "unknown";
}

}  // namespace

uint64_t LogLine::bytes() const {
  return sizeof(LogLine) + about.url.size() + about.via.size() + about.duplicate_of.size() +
         about.near_duplicate_of.size() + content_type.size() + server.size() + location.size() + title.size() +
         detail.size() + redirect.size();
}

LogLine MakeLogLine(PageResult& result, FetchLine&& about) {
  LogLine line;
  line.about = std::move(about);
  line.kind = result.kind;
  line.outcome = result.outcome;
  line.status = result.status;
  line.times = result.times;
  line.wire_bytes = result.wire_bytes;
  line.body_bytes = result.body_bytes;
  line.version = result.version;
  line.mime = std::move(result.mime);
  line.content_type = std::move(result.content_type);
  line.server = std::move(result.server);
  line.location = std::move(result.location);
  line.title = std::move(result.title);
  line.detail = std::move(result.detail);
  // An answer of this class has no other links.
  if (result.status / 100 == 3 && !result.links.links.empty()) {
    line.redirect = result.links.UrlOf(result.links.links.front());
  }
  line.links = result.links.links.size();
  line.fingerprint = result.fingerprint;
  line.similarity = result.similarity;
  return line;
}

void AppendLogLine(const LogLine& line, std::string& out) {
  const FetchLine& about = line.about;
  WarcTime time;
  time.seconds = line.times.begin_unix_ns / kNsPerSecond;
  time.nanoseconds = static_cast<uint32_t>(line.times.begin_unix_ns % kNsPerSecond);
  time.fraction_digits = 3;
  // Into a buffer of fmt: through std::back_inserter it would write character by character.
  fmt::memory_buffer text;
  auto to = fmt::appender(text);
  fmt::format_to(to, R"({{"time":"{}","url":{},"kind":"{}","outcome":"{}")", FormatWarcDate(time), JsonQuote(about.url),
                 KindName(line.kind), about.denied.empty() ? FetchOutcomeName(line.outcome) : about.denied);
  if (about.attempt > 0 && HasAnswer(line.outcome)) fmt::format_to(to, R"(,"status":{})", line.status);
  if (!line.redirect.empty()) fmt::format_to(to, R"(,"redirect":{})", JsonQuote(line.redirect));
  if (about.attempt > 0) {
    fmt::format_to(to, R"(,"bytes":{},"decoded":{},"ms":{})", line.wire_bytes, line.body_bytes,
                   std::max<int64_t>(0, line.times.end_ns - line.times.begin_ns) / 1'000'000);
  }
  fmt::format_to(to, R"(,"depth":{})", about.depth);
  if (!about.via.empty()) fmt::format_to(to, R"(,"via":{})", JsonQuote(about.via));
  if (!about.rule.empty()) fmt::format_to(to, R"(,"rule":{})", JsonQuote(about.rule));
  if (about.dropped) fmt::format_to(to, R"(,"dropped":true)");
  if (about.again) fmt::format_to(to, R"(,"again":true)");
  if (about.attempt > 1) fmt::format_to(to, R"(,"attempt":{})", about.attempt);
  if (!line.mime.empty()) fmt::format_to(to, R"(,"mime":{})", JsonQuote(line.mime));
  if (!line.content_type.empty()) fmt::format_to(to, R"(,"content_type":{})", JsonQuote(line.content_type));
  if (!line.server.empty()) fmt::format_to(to, R"(,"server":{})", JsonQuote(line.server));
  if (!line.location.empty()) fmt::format_to(to, R"(,"location":{})", JsonQuote(line.location));
  if (!line.title.empty()) fmt::format_to(to, R"(,"title":{})", JsonQuote(line.title));
  if (about.address.known()) fmt::format_to(to, R"(,"ip":"{}")", about.address.ToString());
  if (line.version != HttpVersion::kUnknown) fmt::format_to(to, R"(,"http":"{}")", HttpVersionName(line.version));
  // A page that is as it was is no copy of another one.
  const bool unchanged = about.change == PayloadChange::kNotModified || about.change == PayloadChange::kSame;
  if (about.visited) fmt::format_to(to, R"(,"visit":"{}")", PayloadChangeName(about.change));
  if (about.gone) fmt::format_to(to, R"(,"gone":true)");
  if (!about.duplicate_of.empty() && !unchanged)
    fmt::format_to(to, R"(,"duplicate_of":{})", JsonQuote(about.duplicate_of));
  if (about.duplicate_unix_ms != 0) {
    fmt::format_to(to, R"(,"{}":"{}")", unchanged ? "unchanged_since" : "duplicate_time",
                   FormatWarcDate({.seconds = about.duplicate_unix_ms / 1000,
                                   .nanoseconds = static_cast<uint32_t>(about.duplicate_unix_ms % 1000) * 1'000'000,
                                   .fraction_digits = 3}));
  }
  if (!about.near_duplicate_of.empty()) {
    fmt::format_to(to, R"(,"near_duplicate_of":{},"near_bits":{})", JsonQuote(about.near_duplicate_of),
                   about.near_bits);
  }
  if (line.links > 0) fmt::format_to(to, R"(,"links":{})", line.links);
  if (line.fingerprint != 0) fmt::format_to(to, R"(,"fingerprint":"{:016x}")", line.fingerprint);
  if (line.similarity != 0) fmt::format_to(to, R"(,"similarity":"{:016x}")", line.similarity);
  if (!line.detail.empty()) fmt::format_to(to, R"(,"detail":{})", JsonQuote(line.detail));
  out.append(text.data(), text.size());
  out += "}\n";
}

Result<std::unique_ptr<CrawlLog>> CrawlLog::Open(Env& env, const Manifest& manifest, LogOutputOptions options) {
  options.files.names = kCrawlLogNames;
  options.files.blocks.reset();
  options.files.pack = true;
  ASSIGN_OR_RETURN(const auto known, FindOutput(manifest, kName));
  std::unique_ptr<CrawlLog> log(
      new CrawlLog(std::string(kName), known, IsWhole(manifest, known, options.enabled), options));
  RETURN_IF_ERROR(log->OpenFiles(env, known, options));
  return log;
}

void CrawlLog::Add(PageResult& result, FetchLine&& about) {
  if (!enabled()) return;
  if (batch_.empty()) batch_.reserve(kBatch);
  batch_bytes_ += batch_.emplace_back(MakeLogLine(result, std::move(about))).bytes();
  if (batch_.size() >= kBatch) SendBatch();
}

void CrawlLog::Show() {
  SendBatch();
  LogOutput::Show();
}

void CrawlLog::SendBatch() {
  if (batch_.empty()) return;
  Send(
      [lines = std::move(batch_)](LogFile& file) {
        std::string text;
        for (const LogLine& line : lines) AppendLogLine(line, text);
        file.Add(text);
      },
      std::exchange(batch_bytes_, 0));
  batch_.clear();
}

}  // namespace portolan
