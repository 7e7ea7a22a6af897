#include "fresh/page_entry.h"

#include <bit>
#include <cmath>

#include "base/bytes.h"

namespace portolan {
namespace {

// On disk: never renumber. A bit that a reader does not know makes the entry unreadable.
enum EntryBit : uint16_t {
  kHub = 1 << 0,
  kGone = 1 << 1,
  kStrikes = 1 << 2,
  kLinks = 1 << 3,
  kPayload = 1 << 4,
  kSimilarity = 1 << 5,
  kEtag = 1 << 6,
  kLastModified = 1 << 7,
  kAllBits = (1 << 8) - 1,
};

void AppendFloat(std::string& out, float value) { AppendLe(out, std::bit_cast<uint32_t>(value)); }

// Numbers that no visit makes are not accepted: they would travel into every sum.
bool ReadFloat(ByteReader& in, float& value) {
  uint32_t bits = 0;
  if (!in.Read(bits)) return false;
  value = std::bit_cast<float>(bits);
  return std::isfinite(value) && value >= 0 && value <= 1e9F;
}

bool ReadValidator(ByteReader& in, std::string& value) {
  std::string_view bytes;
  if (!in.ReadString(bytes) || !IsValidator(bytes)) return false;
  value = bytes;
  return true;
}

}  // namespace

bool PageEntry::operator==(const PageEntry& other) const {
  return visited_s == other.visited_s && visits == other.visits && changes == other.changes &&
         strikes == other.strikes && gone == other.gone && hub == other.hub && importance == other.importance &&
         change == other.change && links == other.links && last.validators == other.last.validators &&
         last.payload_sha1 == other.last.payload_sha1 && last.captured_unix_ms == other.last.captured_unix_ms &&
         last.similarity == other.last.similarity && record == other.record;
}

void EncodePageEntry(const PageEntry& entry, std::string& out) {
  out.clear();
  uint16_t bits = 0;
  if (entry.hub) bits |= kHub;
  if (entry.gone) bits |= kGone;
  if (entry.strikes > 0) bits |= kStrikes;
  if (entry.links != ChangeEstimate()) bits |= kLinks;
  if (entry.last.has_payload() || entry.last.captured_unix_ms != 0) bits |= kPayload;
  if (entry.last.similarity != 0) bits |= kSimilarity;
  if (IsValidator(entry.last.validators.etag)) bits |= kEtag;
  if (IsValidator(entry.last.validators.last_modified)) bits |= kLastModified;
  AppendLe(out, bits);
  AppendLe(out, entry.visited_s);
  AppendLe(out, entry.visits);
  AppendLe(out, entry.changes);
  AppendFloat(out, entry.importance);
  AppendFloat(out, entry.change.shape);
  AppendFloat(out, entry.change.rate);
  if ((bits & kStrikes) != 0) AppendLe(out, entry.strikes);
  if ((bits & kLinks) != 0) {
    AppendFloat(out, entry.links.shape);
    AppendFloat(out, entry.links.rate);
  }
  if ((bits & kPayload) != 0) {
    out.append(entry.last.payload_sha1.data(), entry.last.payload_sha1.size());
    AppendLe(out, static_cast<uint64_t>(entry.last.captured_unix_ms));
  }
  if ((bits & kSimilarity) != 0) AppendLe(out, entry.last.similarity);
  if ((bits & kEtag) != 0) AppendString(out, entry.last.validators.etag);
  if ((bits & kLastModified) != 0) AppendString(out, entry.last.validators.last_modified);
  out.append(entry.record);
}

std::optional<PageEntry> DecodePageEntry(std::string_view bytes) {
  PageEntry entry;
  ByteReader in(bytes);
  uint16_t bits = 0;
  if (!in.Read(bits) || (bits & ~kAllBits) != 0) return std::nullopt;
  entry.hub = (bits & kHub) != 0;
  entry.gone = (bits & kGone) != 0;
  if (!in.Read(entry.visited_s) || !in.Read(entry.visits) || !in.Read(entry.changes) ||
      !ReadFloat(in, entry.importance) || !ReadFloat(in, entry.change.shape) || !ReadFloat(in, entry.change.rate)) {
    return std::nullopt;
  }
  if ((bits & kStrikes) != 0 && !in.Read(entry.strikes)) return std::nullopt;
  if ((bits & kLinks) != 0 && (!ReadFloat(in, entry.links.shape) || !ReadFloat(in, entry.links.rate))) {
    return std::nullopt;
  }
  if ((bits & kPayload) != 0) {
    std::string_view sha1;
    uint64_t captured = 0;
    if (!in.ReadBytes(entry.last.payload_sha1.size(), sha1) || !in.Read(captured)) return std::nullopt;
    sha1.copy(entry.last.payload_sha1.data(), sha1.size());
    entry.last.captured_unix_ms = static_cast<int64_t>(captured);
  }
  if ((bits & kSimilarity) != 0 && !in.Read(entry.last.similarity)) return std::nullopt;
  if ((bits & kEtag) != 0 && !ReadValidator(in, entry.last.validators.etag)) return std::nullopt;
  if ((bits & kLastModified) != 0 && !ReadValidator(in, entry.last.validators.last_modified)) return std::nullopt;
  entry.record = bytes.substr(in.position());
  return entry;
}

}  // namespace portolan
