#include "crawl/crossing.h"

#include "base/bytes.h"
#include "crawl/partition.h"

namespace portolan {
namespace {

constexpr uint8_t kHopeless = 1;
constexpr uint8_t kHasDelay = 2;

void Begin(Crossing::Kind kind, std::string& out) { out.assign(1, static_cast<char>(kind)); }

bool ReadAnswer(ByteReader& reader, Crossing& crossing) {
  uint8_t kind = 0;
  uint8_t flags = 0;
  std::string_view rules;
  std::string_view follow;
  if (!reader.Read(crossing.hops) || !reader.Read(kind) || !reader.Read(flags)) return false;
  if (kind > static_cast<uint8_t>(RobotsAnswer::Kind::kFollow) || flags > (kHopeless | kHasDelay)) return false;
  RobotsAnswer& answer = crossing.answer;
  answer.kind = static_cast<RobotsAnswer::Kind>(kind);
  answer.hopeless = (flags & kHopeless) != 0;
  uint32_t delay_ms = 0;
  if ((flags & kHasDelay) != 0) {
    if (!reader.Read(delay_ms)) return false;
    answer.crawl_delay_ms = delay_ms;
  }
  if (!reader.ReadString(crossing.url) || !reader.ReadString(rules) || !reader.ReadString(follow)) return false;
  answer.rules = rules;
  answer.follow = follow;
  return reader.done();
}

bool ReadPage(ByteReader& reader, Crossing& crossing) {
  uint8_t page = 0;
  if (!reader.Read(page) || page > 1) return false;
  crossing.page = page == 1;
  return true;
}

bool ReadTime(ByteReader& reader, int64_t& unix_ms) {
  uint64_t number = 0;
  if (!reader.Read(number) || number == 0 || number > static_cast<uint64_t>(INT64_MAX / 1'000'000)) return false;
  unix_ms = static_cast<int64_t>(number);
  return true;
}

bool ReadShard(ByteReader& reader, Crossing& crossing) {
  uint64_t shard = 0;
  if (!reader.ReadVarint(shard) || shard >= kMaxShards) return false;
  crossing.shard = static_cast<uint32_t>(shard);
  return true;
}

}  // namespace

void EncodeLinkCrossing(uint64_t hash, std::string_view record, std::string& out) {
  Begin(Crossing::Kind::kLink, out);
  AppendLe<uint64_t>(out, hash);
  out += record;
}

void EncodeRobotsRequest(std::string_view record, std::string& out) {
  Begin(Crossing::Kind::kRobotsRequest, out);
  out += record;
}

void EncodeRobotsAnswer(std::string_view url, uint8_t hops, const RobotsAnswer& answer, std::string& out) {
  Begin(Crossing::Kind::kRobotsAnswer, out);
  out += static_cast<char>(hops);
  out += static_cast<char>(answer.kind);
  out += static_cast<char>((answer.hopeless ? kHopeless : 0) | (answer.crawl_delay_ms ? kHasDelay : 0));
  if (answer.crawl_delay_ms) AppendLe<uint32_t>(out, *answer.crawl_delay_ms);
  AppendString(out, url);
  AppendString(out, answer.rules);
  AppendString(out, answer.follow);
}

void EncodePayloadCrossing(std::string_view capture, bool page, std::string& out) {
  Begin(Crossing::Kind::kPayload, out);
  out += static_cast<char>(page ? 1 : 0);
  out += capture;
}

void EncodeCopyCrossing(std::string_view url, int64_t unix_ms, std::string_view first, int64_t first_unix_ms, bool page,
                        std::string& out) {
  Begin(Crossing::Kind::kCopy, out);
  out += static_cast<char>(page ? 1 : 0);
  AppendLe(out, static_cast<uint64_t>(unix_ms));
  AppendLe(out, static_cast<uint64_t>(first_unix_ms));
  AppendString(out, url);
  AppendString(out, first);
}

void EncodeAgainCrossing(std::string_view record, std::string& out) {
  Begin(Crossing::Kind::kAgain, out);
  out += record;
}

void EncodeRanksCrossing(uint32_t shard, std::string_view histogram, std::string& out) {
  Begin(Crossing::Kind::kRanks, out);
  AppendVarint(out, shard);
  out += histogram;
}

std::optional<Crossing> DecodeCrossing(std::string_view bytes) {
  ByteReader reader(bytes);
  uint8_t kind = 0;
  Crossing crossing;
  if (!reader.Read(kind)) return std::nullopt;
  crossing.kind = static_cast<Crossing::Kind>(kind);
  switch (crossing.kind) {
    case Crossing::Kind::kLink:
      if (!reader.Read(crossing.hash)) return std::nullopt;
      crossing.record = bytes.substr(reader.position());
      return crossing;
    case Crossing::Kind::kRobotsRequest:
    case Crossing::Kind::kAgain:
      crossing.record = bytes.substr(reader.position());
      return crossing;
    case Crossing::Kind::kRobotsAnswer:
      if (!ReadAnswer(reader, crossing)) return std::nullopt;
      return crossing;
    case Crossing::Kind::kPayload:
      if (!ReadPage(reader, crossing)) return std::nullopt;
      crossing.first = bytes.substr(reader.position());
      return crossing;
    case Crossing::Kind::kCopy:
      if (!ReadPage(reader, crossing) || !ReadTime(reader, crossing.unix_ms) ||
          !ReadTime(reader, crossing.first_unix_ms) || !reader.ReadString(crossing.url) ||
          !reader.ReadString(crossing.first) || !reader.done()) {
        return std::nullopt;
      }
      return crossing;
    case Crossing::Kind::kRanks:
      if (!ReadShard(reader, crossing)) return std::nullopt;
      crossing.ranks = bytes.substr(reader.position());
      return crossing;
  }
  return std::nullopt;
}

}  // namespace portolan
