#include "outputs/warc_directory.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "outputs/line_sort.h"
#include "warc/cdxj.h"
#include "warc/warc_time.h"

namespace portolan {
namespace {

constexpr std::string_view kWarcSuffix = ".warc.gz";
constexpr std::string_view kIndexSuffix = ".cdxj";
constexpr std::string_view kPartSuffix = ".cdxj.part";
constexpr int64_t kNsPerSecond = 1'000'000'000;

WarcTime TimeOf(int64_t unix_ns) {
  WarcTime time;
  time.seconds = unix_ns / kNsPerSecond;
  time.nanoseconds = static_cast<uint32_t>(unix_ns % kNsPerSecond);
  time.fraction_digits = 3;
  return time;
}

std::string InfoBlock(const CrawlInfo& info) {
  std::string block;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) AppendWarcField(block, name, value);
  };
  add("software", info.software);
  add("format", "WARC File Format 1.1");
  add("conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/");
  add("robots", info.robots);
  add("operator", info.operator_name);
  add("contact", info.contact);
  add("http-header-user-agent", info.user_agent);
  add("description", info.description);
  return block;
}

}  // namespace

std::string PrefixInNames(std::string_view prefix) {
  return WarcFileName(prefix, {}, 1, "host").substr(0, prefix.size());
}

std::optional<ArchiveFileName> ParseArchiveFileName(std::string_view name, std::string_view prefix) {
  constexpr size_t kTimeDigits = 17;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  if (name.size() < kTimeDigits + 2 || name[0] != '-' || name[kTimeDigits + 1] != '-' ||
      !std::ranges::all_of(name.substr(1, kTimeDigits), IsDigit)) {
    return std::nullopt;
  }
  name.remove_prefix(kTimeDigits + 2);
  ArchiveFileName parsed{};
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), parsed.serial);
  if (error != std::errc() || parsed.serial == 0) return std::nullopt;
  name.remove_prefix(static_cast<size_t>(end - name.data()));
  if (!name.starts_with('-')) return std::nullopt;
  if (name.ends_with(kWarcSuffix)) {
    parsed.kind = ArchiveFileName::Kind::kWarc;
  } else if (name.ends_with(kIndexSuffix)) {
    parsed.kind = ArchiveFileName::Kind::kIndex;
  } else if (name.ends_with(kPartSuffix)) {
    parsed.kind = ArchiveFileName::Kind::kPart;
  } else if (name.find(".cdxj.tmp") != std::string_view::npos) {
    parsed.kind = ArchiveFileName::Kind::kTemporary;
  } else {
    return std::nullopt;
  }
  return parsed;
}

void AppendCdxjLine(const ArchiveItem& item, uint64_t offset, std::string_view filename, std::string& out) {
  const bool has_digest = std::ranges::any_of(item.payload_sha1, [](char byte) { return byte != 0; });
  const Capture capture{
      .url = item.url,
      .mime = item.mime,
      .mime_detected = item.mime_detected,
      .status = item.status,
      .payload_sha1 = {item.payload_sha1.data(), has_digest ? item.payload_sha1.size() : 0},
      .length = item.response_length,
      .offset = offset,
      .filename = filename,
      .charset = item.charset,
      .languages = {},
      .truncated = item.truncated,
      .redirect = item.redirect,
  };
  AppendCapture(item.key, Format14({.seconds = item.unix_seconds}), capture, out);
  out += '\n';
}

Result<std::unique_ptr<WarcDirectory>> WarcDirectory::Open(Env& env, const Clock& clock,
                                                           const WarcDirectoryOptions& options,
                                                           const std::optional<OutputMark>& mark,
                                                           std::atomic<uint64_t>& next_serial) {
  RETURN_IF_ERROR(env.CreateDirs(options.dir));
  ASSIGN_OR_RETURN(WarcWriter writer, WarcWriter::Create({}));
  ASSIGN_OR_RETURN(const Rng rng, options.seed ? Result<Rng>(Rng(*options.seed)) : Rng::FromSystem());
  std::unique_ptr<WarcDirectory> directory(new WarcDirectory(env, clock, options, next_serial, std::move(writer), rng));
  directory->options_.prefix = PrefixInNames(options.prefix);
  RETURN_IF_ERROR(directory->Recover(mark));
  return directory;
}

Status WarcDirectory::Recover(const std::optional<OutputMark>& mark) {
  ASSIGN_OR_RETURN(const std::vector<std::string> names, env_->List(options_.dir));
  const OutputMark known = mark.value_or(OutputMark{});
  serial_ = known.serial;
  bool removed = false;
  for (const std::string& name : names) {
    const auto parsed = ParseArchiveFileName(name, options_.prefix);
    if (!parsed) continue;
    const std::string path = JoinPath(options_.dir, name);
    if (!mark) {
      return Fail(ErrorCode::kExists, fmt::format("{}: of another crawl; take another directory or prefix", path));
    }
    using Kind = ArchiveFileName::Kind;
    const bool grows = parsed->serial == known.serial && known.length > 0;
    const bool never_happened = parsed->serial > known.serial;
    if (never_happened || parsed->kind == Kind::kTemporary || (grows && parsed->kind == Kind::kIndex) ||
        (!grows && parsed->kind == Kind::kPart)) {
      RETURN_IF_ERROR(env_->Remove(path));
      removed = true;
    } else if (grows && parsed->kind == Kind::kWarc) {
      const std::string stem = path.substr(0, path.size() - kWarcSuffix.size());
      ASSIGN_OR_RETURN(AppendFile warc, AppendFile::Continue(*env_, path, known.length));
      ASSIGN_OR_RETURN(AppendFile part,
                       AppendFile::Continue(*env_, stem + std::string(kPartSuffix), known.index_length));
      open_.emplace(OpenFile{stem, name, std::move(warc), std::move(part), /*name_is_durable=*/true});
    }
  }
  if (known.length > 0 && !open_) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: no file {}-…-{:05}-…{}; the checkpoint names it with {} bytes", options_.dir,
                            options_.prefix, known.serial, kWarcSuffix, known.length));
  }
  return removed ? SyncDirOnce(*env_, options_.dir) : Status();
}

Status WarcDirectory::OpenNext() {
  // A second try makes the same file again, so that no empty one is left behind.
  const WarcTime time = TimeOf(clock_->UnixNs());
  if (next_name_.empty()) {
    next_own_serial_ = next_serial_->fetch_add(1);
    next_name_ = WarcFileName(options_.prefix, time, static_cast<uint32_t>(next_own_serial_), options_.host);
  }
  const uint64_t serial = next_own_serial_;
  const std::string& name = next_name_;
  const std::string path = JoinPath(options_.dir, name);
  const std::string stem = path.substr(0, path.size() - kWarcSuffix.size());
  ASSIGN_OR_RETURN(AppendFile warc, AppendFile::Make(*env_, path));
  ASSIGN_OR_RETURN(AppendFile part, AppendFile::Make(*env_, stem + std::string(kPartSuffix)));

  const std::string block = InfoBlock(options_.info);
  WarcRecordSpec info;
  info.type = WarcType::kWarcinfo;
  info.id = {.high = rng_.Next(), .low = rng_.Next()};
  info.date = time;
  info.filename = name;
  info.payload = block;
  std::string record;
  writer_.Append(info, record);
  warc.Add(record);

  serial_ = serial;
  open_.emplace(OpenFile{stem, name, std::move(warc), std::move(part)});
  next_name_.clear();
  return {};
}

// Its index line is written as other tools write it: with the type "warc/revisit", and the digest of the payload that
// is elsewhere.
void WarcDirectory::MakeRevisit(const ArchiveItem& item) {
  const int64_t ms = item.first_unix_ms;
  WarcTime date;
  date.seconds = ms / 1000;
  date.nanoseconds = static_cast<uint32_t>(ms % 1000) * 1'000'000;
  date.fraction_digits = 3;
  std::string record = item.revisit.substr(0, item.refers_at);
  AppendRefersTo(item.first_url, date, record);
  record.append(item.revisit, item.refers_at);
  const std::string_view before = std::string_view(item.bytes).substr(0, item.response_begin);
  const std::string_view after = std::string_view(item.bytes).substr(item.response_begin + item.response_length);
  revisit_.bytes = before;
  revisit_.response_begin = item.response_begin;
  writer_.AppendWritten(record, revisit_.bytes);
  revisit_.response_length = static_cast<uint32_t>(revisit_.bytes.size() - before.size());
  revisit_.bytes += after;
  revisit_.key = item.key;
  revisit_.url = item.url;
  revisit_.unix_seconds = item.unix_seconds;
  revisit_.status = item.status;
  revisit_.mime = "warc/revisit";
  revisit_.mime_detected = item.mime_detected;
  revisit_.payload_sha1 = item.payload_sha1;
  revisit_.truncated = item.truncated;
  revisit_.redirect = item.redirect;
}

Result<uint64_t> WarcDirectory::Append(const ArchiveItem& given) {
  const bool copy = !given.first_url.empty() && !given.revisit.empty();
  if (copy) MakeRevisit(given);
  const ArchiveItem& item = copy ? revisit_ : given;
  if (!open_) RETURN_IF_ERROR(OpenNext());
  // Before adding: a step that failed is run again and must not add twice.
  if (open_->warc.wants_flush()) RETURN_IF_ERROR(open_->warc.Flush());
  if (open_->part.wants_flush()) RETURN_IF_ERROR(open_->part.Flush());
  if (!item.key.empty()) {
    std::string line;
    AppendCdxjLine(item, open_->warc.size() + item.response_begin, open_->name, line);
    open_->part.Add(line);
  }
  open_->warc.Add(item.bytes);
  return item.bytes.size();
}

Status WarcDirectory::Close(std::optional<ClosedPart>& part) {
  if (!open_) return {};
  RETURN_IF_ERROR(open_->warc.Sync());
  RETURN_IF_ERROR(open_->part.Sync());
  RETURN_IF_ERROR(SortLines(*env_, open_->part.path(), open_->part.size(), open_->stem + std::string(kIndexSuffix),
                            options_.index_memory));
  part = ClosedPart{serial_, open_->part.path()};
  open_.reset();
  return {};
}

Result<OutputMark> WarcDirectory::Sync() {
  if (!open_) return OutputMark{.serial = serial_};
  RETURN_IF_ERROR(open_->warc.Sync());
  RETURN_IF_ERROR(open_->part.Sync());
  if (!open_->name_is_durable) {
    RETURN_IF_ERROR(SyncDirOnce(*env_, options_.dir));
    open_->name_is_durable = true;
  }
  return OutputMark{.serial = serial_, .length = open_->warc.size(), .index_length = open_->part.size()};
}

}  // namespace portolan
