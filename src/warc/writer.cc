#include "warc/writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"

namespace portolan {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void AppendText(std::string& out, std::string_view value) {
  const size_t start = out.size();
  out.append(value);
  std::replace_if(out.begin() + static_cast<ptrdiff_t>(start), out.end(), IsControl, ' ');
}

void AppendUri(std::string& out, std::string_view uri) {
  if (std::ranges::none_of(uri, [](char c) { return IsControl(c) || c == ' '; })) {
    out.append(uri);
    return;
  }
  for (const char c : uri) {
    if (IsControl(c) || c == ' ') {
      out += '%';
      out += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[static_cast<unsigned char>(c) & 15];
    } else {
      out += c;
    }
  }
}

void AppendField(std::string& out, std::string_view name, std::string_view value) {
  out.append(name);
  out.append(": ");
  AppendText(out, value);
  out.append("\r\n");
}

void AppendUriField(std::string& out, std::string_view name, std::string_view uri) {
  out.append(name);
  out.append(": ");
  AppendUri(out, uri);
  out.append("\r\n");
}

void AppendSha1Field(std::string& out, std::string_view name, const Sha1& sha1) {
  AppendField(out, name, LabelledSha1(std::string_view(sha1.data(), sha1.size())));
}

std::string_view DefaultContentType(WarcType type) {
  switch (type) {
    case WarcType::kResponse:
    case WarcType::kRevisit:
      return "application/http; msgtype=response";
    case WarcType::kRequest:
      return "application/http; msgtype=request";
    case WarcType::kWarcinfo:
    case WarcType::kMetadata:
      return "application/warc-fields";
    default:
      return "application/octet-stream";
  }
}

// A warcinfo or metadata block is not a payload; a request has one only when it sends a body.
bool HasPayloadDigest(const WarcRecordSpec& spec) {
  switch (spec.type) {
    case WarcType::kResponse:
    case WarcType::kResource:
    case WarcType::kConversion:
      return true;
    case WarcType::kRequest:
      return !spec.payload.empty();
    default:
      return false;
  }
}

void AppendHeader(std::string& out, const WarcRecordSpec& spec, const WrittenRecord& facts, bool payload_digest,
                  bool block_digest) {
  out.append("WARC/1.1\r\n");
  AppendField(out, warc_field::kType, WarcTypeName(spec.type));
  AppendField(out, warc_field::kRecordId, FormatWarcId(spec.id));
  if (spec.warcinfo_id) AppendField(out, warc_field::kWarcinfoId, FormatWarcId(*spec.warcinfo_id));
  AppendField(out, warc_field::kDate, FormatWarcDate(spec.date));
  if (!spec.target_uri.empty()) AppendUriField(out, warc_field::kTargetUri, spec.target_uri);
  if (!spec.filename.empty()) AppendField(out, warc_field::kFilename, spec.filename);
  for (const WarcId& id : spec.concurrent_to) AppendField(out, warc_field::kConcurrentTo, FormatWarcId(id));
  if (spec.type == WarcType::kRevisit) {
    AppendField(out, warc_field::kProfile, spec.profile);
    if (spec.refers_to) AppendField(out, warc_field::kRefersTo, FormatWarcId(*spec.refers_to));
    if (!spec.refers_to_target_uri.empty()) {
      AppendUriField(out, warc_field::kRefersToTargetUri, spec.refers_to_target_uri);
    }
    if (spec.refers_to_date) AppendField(out, warc_field::kRefersToDate, FormatWarcDate(*spec.refers_to_date));
  }
  if (!spec.ip_address.empty()) AppendField(out, warc_field::kIpAddress, spec.ip_address);
  for (const std::string_view protocol : spec.protocols) AppendField(out, warc_field::kProtocol, protocol);
  if (!spec.cipher_suite.empty()) AppendField(out, warc_field::kCipherSuite, spec.cipher_suite);
  if (!spec.truncated.empty()) AppendField(out, warc_field::kTruncated, spec.truncated);
  if (!spec.identified_payload_type.empty()) {
    AppendField(out, warc_field::kIdentifiedPayloadType, spec.identified_payload_type);
  }
  if (payload_digest) AppendSha1Field(out, warc_field::kPayloadDigest, facts.payload_sha1);
  if (block_digest) AppendSha1Field(out, warc_field::kBlockDigest, facts.block_sha1);
  AppendField(out, warc_field::kContentType,
              spec.content_type.empty() ? DefaultContentType(spec.type) : spec.content_type);
  fmt::format_to(std::back_inserter(out), "{}: {}\r\n\r\n", warc_field::kContentLength,
                 spec.http_head.size() + spec.payload.size());
}

std::string FileNamePart(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const bool good =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
    if (!good) c = '_';
  }
  return out;
}

}  // namespace

std::string FormatWarcId(const WarcId& id) {
  const uint64_t high = (id.high & ~uint64_t{0xf000}) | 0x4000;
  const uint64_t low = (id.low & ~(uint64_t{3} << 62)) | uint64_t{2} << 62;
  // By hand: there are four of these a page, and formatting took longer than hashing.
  std::string text = "<urn:uuid:00000000-0000-0000-0000-000000000000>";
  constexpr size_t kPrefix = 10;
  size_t at = kPrefix;
  for (const uint64_t half : {high, low}) {
    for (int shift = 60; shift >= 0; shift -= 4) {
      if (text[at] == '-') ++at;
      text[at++] = "0123456789abcdef"[half >> shift & 15];
    }
  }
  return text;
}

Result<WarcWriter> WarcWriter::Create(const WarcWriterOptions& options) {
  if (!options.gzip) return WarcWriter(std::nullopt, options.block_digest_always);
  ASSIGN_OR_RETURN(GzipMember gzip, GzipMember::Create(options.level));
  return WarcWriter(std::move(gzip), options.block_digest_always);
}

Sha1 WarcWriter::Hash(std::string_view first, std::string_view second) {
  sha1_.Start();
  sha1_.Update(first);
  sha1_.Update(second);
  Sha1 out;
  const std::string raw = sha1_.Finish();
  std::copy_n(raw.begin(), out.size(), out.begin());
  return out;
}

WrittenRecord WarcWriter::Append(const WarcRecordSpec& spec, std::string& out) {
  WrittenRecord facts;
  const bool digest = HasPayloadDigest(spec);
  if (spec.payload_sha1) {
    facts.payload_sha1 = *spec.payload_sha1;
  } else if (digest) {
    facts.payload_sha1 = Hash({}, spec.payload);
  }
  const bool block_digest = block_digest_always_ || !digest;
  // Without a head the block is the payload.
  if (block_digest) {
    facts.block_sha1 = spec.http_head.empty() && digest ? facts.payload_sha1 : Hash(spec.http_head, spec.payload);
  }

  std::string& record = gzip_ ? scratch_ : out;
  const size_t start = out.size();
  if (gzip_) scratch_.clear();
  AppendHeader(record, spec, facts, digest || (spec.type == WarcType::kRevisit && spec.payload_sha1), block_digest);
  record.append(spec.http_head);
  record.append(spec.payload);
  record.append("\r\n\r\n");
  if (gzip_) {
    gzip_->Append(scratch_, out);
    if (scratch_.capacity() > kKeepScratch) std::string().swap(scratch_);
  }
  facts.length = out.size() - start;
  return facts;
}

void WarcWriter::AppendWritten(std::string_view record, std::string& out) {
  if (gzip_) {
    gzip_->Append(record, out);
  } else {
    out += record;
  }
}

size_t RefersToPlace(std::string_view record) {
  const size_t profile = record.find(kIdenticalPayloadProfile);
  CHECK(profile != std::string_view::npos);
  return record.find('\n', profile) + 1;
}

void AppendRefersTo(std::string_view target_uri, const WarcTime& date, std::string& out) {
  AppendUriField(out, warc_field::kRefersToTargetUri, target_uri);
  AppendField(out, warc_field::kRefersToDate, FormatWarcDate(date));
}

void AppendWarcField(std::string& block, std::string_view name, std::string_view value) {
  AppendField(block, name, value);
}

std::string WarcFileName(std::string_view prefix, const WarcTime& time, uint32_t serial, std::string_view host,
                         bool gzip) {
  return fmt::format("{}-{}-{:05}-{}.warc{}", FileNamePart(prefix), Format17(time), serial, FileNamePart(host),
                     gzip ? ".gz" : "");
}

}  // namespace portolan
