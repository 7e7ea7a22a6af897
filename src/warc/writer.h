// WarcWriter: builds WARC 1.1 records, one gzip member each, at the end of the caller's string.
//
// No file, clock or randomness inside: the caller gives times and record ids, appends the bytes where it likes, and
// gets what the index needs. The same calls give the same bytes. docs/formats/warc.md describes the records field by
// field.
//
// What comes from the web cannot break the format: blanks and control characters in URIs are percent-encoded, in other
// values they become blanks.
//
// Memory: a scratch copy of the record (GzipMember compresses whole buffers), kept between calls up to kKeepScratch.
// Thread: one owner.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "warc/digest.h"
#include "warc/gzip_member.h"
#include "warc/warc_format.h"
#include "warc/warc_time.h"

namespace portolan {

// 128 random bits. Six of them are replaced by the marks of a version 4 UUID.
struct WarcId {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const WarcId&) const = default;
};

// "<urn:uuid:01234567-89ab-4cde-8f01-23456789abcd>"
std::string FormatWarcId(const WarcId& id);

using Sha1 = std::array<char, 20>;

struct WarcRecordSpec {
  WarcType type = WarcType::kResponse;
  WarcId id;
  WarcTime date;
  std::string_view target_uri;    // empty: none (warcinfo)
  std::string_view content_type;  // empty: what the type usually has (HTTP message, warc-fields)

  // The block is the two of them; the payload digest is of the second.
  std::string_view http_head;
  std::string_view payload;
  // Known already: saves a pass over the payload. Needed in a revisit, whose payload is not here.
  std::optional<Sha1> payload_sha1;

  std::optional<WarcId> warcinfo_id;
  std::span<const WarcId> concurrent_to;
  std::string_view ip_address;
  std::string_view truncated;                   // "length", "time", "disconnect" or "unspecified"
  std::span<const std::string_view> protocols;  // "h2", "tls/1.3": one field each
  std::string_view cipher_suite;                // "TLS_AES_128_GCM_SHA256"
  std::string_view identified_payload_type;     // the type detected from the bytes, whatever the server said
  std::string_view filename;                    // warcinfo only

  // Revisit only.
  std::string_view profile = kIdenticalPayloadProfile;
  std::optional<WarcId> refers_to;
  std::string_view refers_to_target_uri;
  std::optional<WarcTime> refers_to_date;
};

struct WrittenRecord {
  uint64_t length = 0;  // bytes appended
  Sha1 block_sha1{};    // zero where the record has none
  Sha1 payload_sha1{};  // of `payload`, or what the spec gave
};

struct WarcWriterOptions {
  bool gzip = true;
  // GzipMember's 1 to 12. 1 is by far the fastest; see `portolan bench warc`.
  int level = 1;
  // False: a record with a payload digest has no block digest beside it, which saves a pass over the page.
  bool block_digest_always = true;
};

class WarcWriter {
 public:
  static Result<WarcWriter> Create(const WarcWriterOptions& options);

  // Appends the record to `out`.
  WrittenRecord Append(const WarcRecordSpec& spec, std::string& out);
  // Appends a record that was written without gzip, as this writer would have written it.
  void AppendWritten(std::string_view record, std::string& out);

 private:
  static constexpr size_t kKeepScratch = size_t{4} << 20;

  WarcWriter(std::optional<GzipMember> gzip, bool block_digest_always)
      : gzip_(std::move(gzip)), block_digest_always_(block_digest_always) {}
  Sha1 Hash(std::string_view first, std::string_view second);

  std::optional<GzipMember> gzip_;  // without: plain
  bool block_digest_always_;
  Digester sha1_;
  std::string scratch_;
};

// A revisit record that was written without gzip and without refers_to… can be given them later: the place in it where
// their fields go. REQUIRES: `record` is such a record.
size_t RefersToPlace(std::string_view record);
// The fields that go there.
void AppendRefersTo(std::string_view target_uri, const WarcTime& date, std::string& out);

// One "name: value" line of a warcinfo or metadata block.
void AppendWarcField(std::string& block, std::string_view name, std::string_view value);

// "PREFIX-20260131123001250-00007-host.warc.gz": bytes that do not belong in a file name become '_'.
std::string WarcFileName(std::string_view prefix, const WarcTime& time, uint32_t serial, std::string_view host,
                         bool gzip = true);

}  // namespace portolan
