#include "parse/record_maker.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "parse/stored_head.h"
#include "url/surt.h"
#include "warc/http_head.h"

namespace portolan {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

WarcTime TimeOf(int64_t unix_ns) {
  WarcTime time;
  const int64_t fraction = ((unix_ns % kNsPerSecond) + kNsPerSecond) % kNsPerSecond;
  time.seconds = (unix_ns - fraction) / kNsPerSecond;
  time.nanoseconds = static_cast<uint32_t>(fraction);
  time.fraction_digits = 3;
  return time;
}

std::string_view TruncatedBy(FetchOutcome outcome) {
  switch (outcome) {
    case FetchOutcome::kBodyCut:
      return "length";
    case FetchOutcome::kTimeCut:
    case FetchOutcome::kSlowCut:
      return "time";
    case FetchOutcome::kDisconnected:
      return "disconnect";
    default:
      return {};
  }
}

void AppendMilliseconds(std::string& block, std::string_view name, int64_t from_ns, int64_t to_ns) {
  if (from_ns == 0 || to_ns < from_ns) return;
  AppendWarcField(block, name, fmt::format("{}", (to_ns - from_ns) / 1'000'000));
}

}  // namespace

Result<RecordMaker> RecordMaker::Create(const Options& options) {
  // A member's CRC shows damage and the payload digest shows copies: a second SHA-1 of each page would add nothing.
  ASSIGN_OR_RETURN(WarcWriter writer,
                   WarcWriter::Create({.gzip = true, .level = options.level, .block_digest_always = false}));
  ASSIGN_OR_RETURN(WarcWriter plain, WarcWriter::Create({.gzip = false, .block_digest_always = false}));
  ASSIGN_OR_RETURN(const Rng rng, options.seed ? Result<Rng>(Rng(*options.seed)) : Rng::FromSystem());
  return RecordMaker(options, std::move(writer), std::move(plain), rng);
}

void RecordMaker::Make(const FetchResponse& response, const ResponseHead& head, const Url& url,
                       const RecordFacts& facts, ArchiveItem& item) {
  const WarcId response_id = NextId();
  const std::string address = response.task.address.known() ? response.task.address.ToString() : std::string();
  const WarcTime date = TimeOf(response.times.begin_unix_ns);
  const std::string_view truncated = TruncatedBy(response.outcome);
  item.bytes.clear();

  WarcRecordSpec request;
  request.type = WarcType::kRequest;
  request.id = NextId();
  request.date = date;
  request.target_uri = response.task.url;
  request.http_head = response.request_head;
  request.concurrent_to = std::span(&response_id, 1);
  request.ip_address = address;
  if (!response.request_head.empty()) writer_.Append(request, item.bytes);

  std::array<std::string_view, 2> protocols;
  size_t protocol_count = 0;
  if (response.version != HttpVersion::kUnknown) protocols[protocol_count++] = HttpVersionName(response.version);
  if (!response.tls_version.empty()) protocols[protocol_count++] = response.tls_version;

  WarcRecordSpec answer;
  answer.type = WarcType::kResponse;
  answer.id = response_id;
  answer.date = date;
  answer.target_uri = response.task.url;
  answer.http_head = StoredHead(response.response_head, head, response.body.size(), head_);
  answer.payload = response.body;
  answer.ip_address = address;
  answer.truncated = truncated;
  answer.protocols = std::span(protocols.data(), protocol_count);
  answer.cipher_suite = response.tls_cipher;
  answer.identified_payload_type = facts.mime_detected;
  if (facts.not_modified != nullptr) {
    const LastVisit& last = *facts.not_modified;
    answer.type = WarcType::kRevisit;
    answer.profile = kNotModifiedProfile;
    answer.payload = {};
    if (last.has_payload()) answer.payload_sha1 = last.payload_sha1;
    answer.refers_to_target_uri = last.captured_url.empty() ? std::string_view(response.task.url) : last.captured_url;
    answer.refers_to_date = TimeOf(last.captured_unix_ms * 1'000'000);
  }
  item.response_begin = static_cast<uint32_t>(item.bytes.size());
  WrittenRecord written;
  if (facts.packed) {
    record_.clear();
    written = plain_.Append(answer, record_);
    constexpr size_t kRecordEnd = 4;  // CR LF CR LF
    stored_.Append(record_, record_.size() - kRecordEnd - answer.payload.size(), item.bytes);
    if (record_.capacity() > kKeepRecord) std::string().swap(record_);
  } else {
    written = writer_.Append(answer, item.bytes);
  }
  item.response_length = static_cast<uint32_t>(item.bytes.size() - item.response_begin);
  item.revisit.clear();
  if (facts.revisit) {
    // The same id: the request and the metadata refer to it, and only one of the two records is written.
    answer.type = WarcType::kRevisit;
    answer.payload_sha1 = written.payload_sha1;
    answer.payload = {};
    plain_.Append(answer, item.revisit);
    item.refers_at = static_cast<uint32_t>(RefersToPlace(item.revisit));
  }

  if (options_.metadata) {
    fields_.clear();
    // The names of the standard where it has one.
    if (!response.task.via.empty()) AppendWarcField(fields_, "via", response.task.via);
    AppendWarcField(fields_, "depth", fmt::format("{}", response.task.depth));
    AppendWarcField(fields_, "outcome", FetchOutcomeName(facts.outcome));
    AppendMilliseconds(fields_, "connectTimeMs", response.times.begin_ns, response.times.connected_ns);
    AppendMilliseconds(fields_, "firstByteTimeMs", response.times.begin_ns, response.times.first_byte_ns);
    AppendMilliseconds(fields_, "fetchTimeMs", response.times.begin_ns, response.times.end_ns);
    AppendWarcField(fields_, "wireBytes", fmt::format("{}", response.wire_bytes));
    if (!facts.charset.empty()) AppendWarcField(fields_, "charset-detected", facts.charset);
    if (!facts.title.empty()) AppendWarcField(fields_, "title", facts.title);
    AppendWarcField(fields_, "outlinks", fmt::format("{}", facts.links));
    WarcRecordSpec metadata;
    metadata.type = WarcType::kMetadata;
    metadata.id = NextId();
    metadata.date = date;
    metadata.target_uri = response.task.url;
    metadata.payload = fields_;
    metadata.concurrent_to = std::span(&response_id, 1);
    writer_.Append(metadata, item.bytes);
  }

  item.key.clear();
  AppendSurtKey(url, item.key);
  item.url = response.task.url;
  item.unix_seconds = date.seconds;
  item.status = facts.status;
  item.mime = facts.not_modified != nullptr ? "warc/revisit"
                                            : std::string(MediaType(head.fields.Find("content-type").value_or("")));
  item.mime_detected = facts.mime_detected;
  std::ranges::copy(written.payload_sha1, item.payload_sha1.begin());
  item.charset = facts.charset;
  item.truncated = truncated;
  item.redirect = facts.location;
}

}  // namespace portolan
