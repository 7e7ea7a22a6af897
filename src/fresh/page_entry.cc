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
  kLast = 1 << 4,
  kAllBits = (1 << 5) - 1,
};

void AppendFloat(std::string& out, float value) { AppendLe(out, std::bit_cast<uint32_t>(value)); }

// Numbers that no visit makes are not accepted: they would travel into every sum.
bool ReadFloat(ByteReader& in, float& value) {
  uint32_t bits = 0;
  if (!in.Read(bits)) return false;
  value = std::bit_cast<float>(bits);
  return std::isfinite(value) && value >= 0 && value <= 1e9F;
}

}  // namespace

bool PageEntry::operator==(const PageEntry& other) const {
  return visited_s == other.visited_s && visits == other.visits && changes == other.changes &&
         strikes == other.strikes && gone == other.gone && hub == other.hub && importance == other.importance &&
         change == other.change && links == other.links && last == other.last && record == other.record;
}

void EncodePageEntry(const PageEntry& entry, std::string& out) {
  out.clear();
  uint16_t bits = 0;
  if (entry.hub) bits |= kHub;
  if (entry.gone) bits |= kGone;
  if (entry.strikes > 0) bits |= kStrikes;
  if (entry.links != ChangeEstimate()) bits |= kLinks;
  if (entry.last != LastVisit()) bits |= kLast;
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
  if ((bits & kLast) != 0) {
    const size_t at = out.size();
    AppendLe(out, uint16_t{0});
    AppendLastVisit(entry.last, out);
    StoreLe(out.data() + at, static_cast<uint16_t>(out.size() - at - sizeof(uint16_t)));
  }
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
  if ((bits & kLast) != 0) {
    uint16_t length = 0;
    std::string_view encoded;
    if (!in.Read(length) || !in.ReadBytes(length, encoded)) return std::nullopt;
    std::optional<LastVisit> last = DecodeLastVisit(encoded);
    if (!last) return std::nullopt;
    entry.last = *std::move(last);
  }
  entry.record = bytes.substr(in.position());
  return entry;
}

}  // namespace portolan
