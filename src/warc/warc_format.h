// The words of WARC (ISO 28500: 0.17, 0.18, 1.0, 1.1): record types, field names, profiles, and the bounds we keep.
//
// Written once, used by the reader, the checks and the writer. docs/formats/warc.md explains them.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace portolan {

enum class WarcType : uint8_t {
  kWarcinfo,
  kResponse,
  kResource,
  kRequest,
  kMetadata,
  kRevisit,
  kConversion,
  kContinuation,
  kOther,  // another type, which the standard allows
};

inline constexpr std::array<std::string_view, 9> kWarcTypeNames = {
    "warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion", "continuation", "other"};

constexpr std::string_view WarcTypeName(WarcType type) { return kWarcTypeNames[static_cast<size_t>(type)]; }

namespace warc_field {
inline constexpr std::string_view kType = "WARC-Type";
inline constexpr std::string_view kRecordId = "WARC-Record-ID";
inline constexpr std::string_view kDate = "WARC-Date";
inline constexpr std::string_view kContentLength = "Content-Length";
inline constexpr std::string_view kContentType = "Content-Type";
inline constexpr std::string_view kConcurrentTo = "WARC-Concurrent-To";
inline constexpr std::string_view kBlockDigest = "WARC-Block-Digest";
inline constexpr std::string_view kPayloadDigest = "WARC-Payload-Digest";
inline constexpr std::string_view kIpAddress = "WARC-IP-Address";
inline constexpr std::string_view kRefersTo = "WARC-Refers-To";
inline constexpr std::string_view kRefersToTargetUri = "WARC-Refers-To-Target-URI";
inline constexpr std::string_view kRefersToDate = "WARC-Refers-To-Date";
inline constexpr std::string_view kTargetUri = "WARC-Target-URI";
inline constexpr std::string_view kTruncated = "WARC-Truncated";
inline constexpr std::string_view kWarcinfoId = "WARC-Warcinfo-ID";
inline constexpr std::string_view kFilename = "WARC-Filename";
inline constexpr std::string_view kProfile = "WARC-Profile";
inline constexpr std::string_view kIdentifiedPayloadType = "WARC-Identified-Payload-Type";
inline constexpr std::string_view kSegmentNumber = "WARC-Segment-Number";
inline constexpr std::string_view kSegmentOriginId = "WARC-Segment-Origin-ID";
inline constexpr std::string_view kSegmentTotalLength = "WARC-Segment-Total-Length";
inline constexpr std::string_view kProtocol = "WARC-Protocol";         // proposed for 1.2, repeatable
inline constexpr std::string_view kCipherSuite = "WARC-Cipher-Suite";  // proposed for 1.2
}  // namespace warc_field

inline constexpr std::string_view kIdenticalPayloadProfile =
    "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest";
inline constexpr std::string_view kNotModifiedProfile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified";

// Bounds of what the reader holds in memory, whatever a file says.
inline constexpr size_t kMaxWarcHeader = size_t{1} << 20;  // version line and named fields of one record
inline constexpr size_t kMaxHttpHead = size_t{256} << 10;  // status line and fields at the front of a block
inline constexpr size_t kMaxArcLine = size_t{64} << 10;    // the one line that heads an ARC record

}  // namespace portolan
