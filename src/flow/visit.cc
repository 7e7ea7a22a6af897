#include "flow/visit.h"

#include <algorithm>

#include "base/bytes.h"

namespace portolan {
namespace {

// On disk: never renumber.
enum LastVisitBit : uint8_t {
  kPayload = 1,
  kCapture = 2,
  kCaptureUrl = 4,
  kSimilarity = 8,
  kEtag = 16,
  kLastModified = 32,
};

size_t SizeWithoutCapture(const LastVisit& last) {
  constexpr size_t kFixed = 1 + 20 + 8;
  return kFixed + 2 + last.validators.etag.size() + 2 + last.validators.last_modified.size();
}

}  // namespace

void AppendLastVisit(const LastVisit& last, std::string& out) {
  const bool fits = SizeWithoutCapture(last) + 8 + 2 + last.captured_url.size() <= kMaxLastVisit;
  const bool capture = last.captured_unix_ms > 0 && (last.captured_url.empty() || fits);
  const uint8_t bits =
      static_cast<uint8_t>((last.has_payload() ? kPayload : 0) | (capture ? kCapture : 0) |
                           (capture && !last.captured_url.empty() ? kCaptureUrl : 0) |
                           (last.similarity != 0 ? kSimilarity : 0) | (IsValidator(last.validators.etag) ? kEtag : 0) |
                           (IsValidator(last.validators.last_modified) ? kLastModified : 0));
  AppendLe(out, bits);
  if ((bits & kPayload) != 0) out.append(last.payload_sha1.data(), last.payload_sha1.size());
  if ((bits & kCapture) != 0) AppendLe(out, static_cast<uint64_t>(last.captured_unix_ms));
  if ((bits & kCaptureUrl) != 0) AppendString(out, last.captured_url);
  if ((bits & kSimilarity) != 0) AppendLe(out, last.similarity);
  if ((bits & kEtag) != 0) AppendString(out, last.validators.etag);
  if ((bits & kLastModified) != 0) AppendString(out, last.validators.last_modified);
}

std::optional<LastVisit> DecodeLastVisit(std::string_view bytes) {
  ByteReader in(bytes);
  uint8_t bits = 0;
  if (bytes.size() > kMaxLastVisit || !in.Read(bits) || bits >= 64) return std::nullopt;
  LastVisit last;
  std::string_view text;
  if ((bits & kPayload) != 0) {
    if (!in.ReadBytes(last.payload_sha1.size(), text)) return std::nullopt;
    std::ranges::copy(text, last.payload_sha1.begin());
  }
  if ((bits & kCapture) != 0) {
    uint64_t captured = 0;
    if (!in.Read(captured) || captured == 0 || captured > INT64_MAX) return std::nullopt;
    last.captured_unix_ms = static_cast<int64_t>(captured);
  }
  if ((bits & kCaptureUrl) != 0) {
    if ((bits & kCapture) == 0 || !in.ReadString(text) || text.empty()) return std::nullopt;
    last.captured_url = text;
  }
  if ((bits & kSimilarity) != 0 && !in.Read(last.similarity)) return std::nullopt;
  const auto validator = [&](std::string& to) {
    if (!in.ReadString(text) || !IsValidator(text)) return false;
    to = text;
    return true;
  };
  if ((bits & kEtag) != 0 && !validator(last.validators.etag)) return std::nullopt;
  if ((bits & kLastModified) != 0 && !validator(last.validators.last_modified)) return std::nullopt;
  if (!in.done()) return std::nullopt;
  return last;
}

bool IsValidator(std::string_view value) {
  return !value.empty() && value.size() <= kMaxValidator && std::ranges::none_of(value, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
}

std::string_view PayloadChangeName(PayloadChange change) {
  switch (change) {
    case PayloadChange::kUnknown:
      break;
    case PayloadChange::kNotModified:
      return "not_modified";
    case PayloadChange::kSame:
      return "same";
    case PayloadChange::kOther:
      return "other";
  }
  return "unknown";
}

}  // namespace portolan
