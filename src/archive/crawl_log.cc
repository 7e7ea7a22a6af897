#include "archive/crawl_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <iterator>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "io/clock.h"
#include "warc/warc_time.h"

namespace portolan {
namespace {

constexpr std::string_view kNamePrefix = "crawl-";
constexpr std::string_view kNameSuffix = ".jsonl";

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

// 0: not a file of a log.
uint64_t SerialOf(std::string_view name) {
  if (!name.starts_with(kNamePrefix) || !name.ends_with(kNameSuffix)) return 0;
  name.remove_prefix(kNamePrefix.size());
  name.remove_suffix(kNameSuffix.size());
  uint64_t serial = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), serial);
  return error == std::errc() && end == name.data() + name.size() ? serial : 0;
}

}  // namespace

bool IsCrawlLogName(std::string_view name) { return SerialOf(name) > 0; }

void AppendFetchLine(const PageResult& result, const FetchLine& about, std::string& out) {
  WarcTime time;
  time.seconds = result.times.begin_unix_ns / kSecond;
  time.nanoseconds = static_cast<uint32_t>(result.times.begin_unix_ns % kSecond);
  time.fraction_digits = 3;
  // Into a buffer of fmt: through std::back_inserter it would write character by character.
  fmt::memory_buffer line;
  auto to = fmt::appender(line);
  fmt::format_to(to, R"({{"time":"{}","url":{},"kind":"{}","outcome":"{}")", FormatWarcDate(time), JsonQuote(about.url),
                 KindName(result.kind), about.denied.empty() ? FetchOutcomeName(result.outcome) : about.denied);
  if (about.attempt > 0 && HasAnswer(result.outcome)) fmt::format_to(to, R"(,"status":{})", result.status);
  // An answer of this class has no other links.
  if (result.status / 100 == 3 && !result.links.links.empty()) {
    fmt::format_to(to, R"(,"redirect":{})", JsonQuote(result.links.UrlOf(result.links.links.front())));
  }
  if (about.attempt > 0) {
    fmt::format_to(to, R"(,"bytes":{},"decoded":{},"ms":{})", result.wire_bytes, result.body_bytes,
                   std::max<int64_t>(0, result.times.end_ns - result.times.begin_ns) / 1'000'000);
  }
  fmt::format_to(to, R"(,"depth":{})", about.depth);
  if (!about.via.empty()) fmt::format_to(to, R"(,"via":{})", JsonQuote(about.via));
  if (about.again) fmt::format_to(to, R"(,"again":true)");
  if (about.attempt > 1) fmt::format_to(to, R"(,"attempt":{})", about.attempt);
  if (!result.mime.empty()) fmt::format_to(to, R"(,"mime":{})", JsonQuote(result.mime));
  if (!result.content_type.empty()) fmt::format_to(to, R"(,"content_type":{})", JsonQuote(result.content_type));
  if (!result.location.empty()) fmt::format_to(to, R"(,"location":{})", JsonQuote(result.location));
  if (!result.title.empty()) fmt::format_to(to, R"(,"title":{})", JsonQuote(result.title));
  if (about.address.known()) fmt::format_to(to, R"(,"ip":"{}")", about.address.ToString());
  if (result.version != HttpVersion::kUnknown) fmt::format_to(to, R"(,"http":"{}")", HttpVersionName(result.version));
  if (!result.links.links.empty()) fmt::format_to(to, R"(,"links":{})", result.links.links.size());
  if (result.fingerprint != 0) fmt::format_to(to, R"(,"fingerprint":"{:016x}")", result.fingerprint);
  if (!result.detail.empty()) fmt::format_to(to, R"(,"detail":{})", JsonQuote(result.detail));
  out.append(line.data(), line.size());
  out += "}\n";
}

Result<std::unique_ptr<CrawlLog>> CrawlLog::Open(Env& env, const Manifest& manifest, const Options& options) {
  std::unique_ptr<CrawlLog> log(new CrawlLog(env, options));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(kName, kKind));
  RETURN_IF_ERROR(log->Recover(section));
  log->thread_ = std::make_unique<StubbornThread>(
      options.threads, options.queue_bytes,
      [self = log.get()](const Error& error) {
        self->EndFlush(std::unexpected(error), nullptr);
        if (self->options_.on_error) self->options_.on_error(error);
      },
      "log");
  return log;
}

CrawlLog::~CrawlLog() {
  if (thread_ == nullptr) return;
  thread_->Stop();
  EndFlush(Fail(ErrorCode::kClosed, "the crawl log is closed"), nullptr);
}

std::string CrawlLog::PathOf(uint64_t serial) const {
  return JoinPath(options_.dir, fmt::format("{}{:05}{}", kNamePrefix, serial, kNameSuffix));
}

Status CrawlLog::Recover(const ManifestSection* section) {
  RETURN_IF_ERROR(env_.CreateDirs(options_.dir));
  if (section != nullptr) {
    ASSIGN_OR_RETURN(described_.serial, section->Number("serial"));
    ASSIGN_OR_RETURN(described_.length, section->Number("length"));
  }
  serial_ = described_.serial;
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env_.List(options_.dir));
  bool removed = false;
  for (const std::string& name : names) {
    const uint64_t serial = SerialOf(name);
    if (serial == 0) continue;
    const std::string path = JoinPath(options_.dir, name);
    if (section == nullptr) {
      return Fail(ErrorCode::kExists, fmt::format("{}: of another crawl; take another directory", path));
    }
    if (serial <= serial_) continue;
    RETURN_IF_ERROR(env_.Remove(path));
    removed = true;
  }
  if (removed) RETURN_IF_ERROR(SyncDirOnce(env_, options_.dir));
  if (described_.length > 0) {
    ASSIGN_OR_RETURN(AppendFile file, AppendFile::Continue(env_, PathOf(serial_), described_.length));
    file_.emplace(std::move(file));
  }
  return {};
}

bool CrawlLog::Add(const PageResult& result, const FetchLine& about) {
  if (!options_.enabled) return true;
  if (batch_.size() >= kBatch && !SendBatch(/*over_the_bound=*/false)) return false;
  AppendFetchLine(result, about, batch_);
  shown_ = false;
  return true;
}

void CrawlLog::Show() {
  if (shown_ || showing_ || thread_->stalled() || !SendBatch(/*over_the_bound=*/false)) return;
  shown_ = true;
  showing_ = true;
  thread_->Send([this]() -> Status {
    if (file_) RETURN_IF_ERROR(file_->Flush());
    showing_ = false;
    return {};
  });
}

bool CrawlLog::SendBatch(bool over_the_bound) {
  if (batch_.empty()) return true;
  const uint64_t size = batch_.size();
  auto lines = std::make_shared<std::string>(std::move(batch_));
  batch_.clear();
  StubbornThread::Step step = [this, lines] { return Write(*lines); };
  if (over_the_bound) {
    thread_->Send(std::move(step));
    return true;
  }
  if (thread_->TrySend(std::move(step), size)) return true;
  batch_ = std::move(*lines);
  return false;
}

Status CrawlLog::Write(const std::string& lines) {
  if (file_ && file_->size() >= options_.file_size) {
    RETURN_IF_ERROR(file_->Sync());
    if (!name_is_durable_) RETURN_IF_ERROR(SyncDirOnce(env_, options_.dir));
    name_is_durable_ = true;
    file_.reset();
  }
  if (!file_) {
    ASSIGN_OR_RETURN(AppendFile file, AppendFile::Make(env_, PathOf(serial_ + 1)));
    file_.emplace(std::move(file));
    ++serial_;
    name_is_durable_ = false;
  }
  if (file_->wants_flush()) RETURN_IF_ERROR(file_->Flush());
  file_->Add(lines);
  return {};
}

Result<CrawlLog::Mark> CrawlLog::Sync() {
  if (!file_) return Mark{.serial = serial_};
  RETURN_IF_ERROR(file_->Sync());
  if (!name_is_durable_) RETURN_IF_ERROR(SyncDirOnce(env_, options_.dir));
  name_is_durable_ = true;
  return Mark{.serial = serial_, .length = file_->size()};
}

void CrawlLog::StartFlush(std::function<void(Status)> done) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    CHECK(!flushed_, "a flush is going on");
    flushed_ = std::move(done);
    number = ++flush_number_;
  }
  if (const auto error = thread_->stalled_by()) {
    EndFlush(std::unexpected(*error), nullptr);
    return;
  }
  SendBatch(/*over_the_bound=*/true);
  thread_->Send([this, number]() -> Status {
    ASSIGN_OR_RETURN(const Mark mark, Sync());
    {
      const std::lock_guard lock(mutex_);
      if (number != flush_number_) return {};  // of a flush that failed long ago
    }
    EndFlush({}, &mark);
    return {};
  });
}

void CrawlLog::EndFlush(Status status, const Mark* mark) {
  std::function<void(Status)> done;
  {
    const std::lock_guard lock(mutex_);
    if (!flushed_) return;
    if (mark != nullptr) described_ = *mark;
    done = std::exchange(flushed_, {});
  }
  done(std::move(status));
}

Status CrawlLog::Flush() {
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

ManifestSection CrawlLog::Describe() const {
  ManifestSection section;
  section.name = kName;
  section.kind = kKind;
  const std::lock_guard lock(mutex_);
  section.numbers["serial"] = described_.serial;
  section.numbers["length"] = described_.length;
  return section;
}

}  // namespace portolan
