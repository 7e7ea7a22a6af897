#include "flow/url_record.h"

#include <algorithm>

#include "base/check.h"
#include "flow/record_bound.h"
#include "flow/visit.h"

namespace portolan {
namespace {

constexpr size_t kHead = 7;
constexpr size_t kRef = 10;
constexpr size_t kBudget = 2;
constexpr uint8_t kHasRef = 1;
constexpr uint8_t kHasBudget = 2;
constexpr uint8_t kHasVia = 4;
constexpr uint8_t kStandsIn = 8;
constexpr uint8_t kProbe = 16;
constexpr uint8_t kHasLast = 32;
constexpr size_t kViaLength = 2;
constexpr size_t kLastLength = 2;
constexpr uint16_t kViaOfOrigin = 0x8000;
constexpr size_t kLongestUrl = 32'000;  // scope.max_url_length
static_assert(kHead + kRef + kBudget + kViaLength + kMaxVia + kLastLength + kMaxLastVisit + kLongestUrl <=
              kMaxUrlRecord);

template <typename T>
void PutLittle(std::string& out, T value, size_t bytes) {
  char little[8];
  for (size_t i = 0; i < bytes; ++i) little[i] = static_cast<char>(value >> (8 * i));
  out.append(little, bytes);
}

uint64_t GetLittle(const char* from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value |= uint64_t{static_cast<uint8_t>(from[i])} << (8 * i);
  return value;
}

// Past "scheme://", or the end if it is not such a URL.
size_t AuthorityBegin(std::string_view url) {
  if (url.starts_with("http://")) return 7;
  if (url.starts_with("https://")) return 8;
  const size_t colon = url.find("://");
  return colon == std::string_view::npos ? url.size() : colon + 3;
}

// A plain loop: find_first_of searches its set anew for each character, and this is called several times per link.
size_t AuthorityEnd(std::string_view url) {
  size_t end = AuthorityBegin(url);
  while (end < url.size() && url[end] != '/' && url[end] != '?' && url[end] != '#') ++end;
  return end;
}

}  // namespace

void EncodeUrlRecord(const UrlRecord& record, std::string& out) {
  out.clear();
  DCHECK(record.url.starts_with(record.via.origin), "a via of another URL");
  const char head[kHead] = {
      static_cast<char>((record.robots.present() ? kHasRef : 0) | (record.budget != 0 ? kHasBudget : 0) |
                        (record.via.empty() ? 0 : kHasVia) | (record.stands_in ? kStandsIn : 0) |
                        (record.probe ? kProbe : 0) | (record.last.empty() ? 0 : kHasLast)),
      static_cast<char>(static_cast<uint8_t>(record.kind) | record.requisite << 4),
      static_cast<char>(record.attempts),
      static_cast<char>(record.hops),
      static_cast<char>(record.depth),
      static_cast<char>(record.depth >> 8),
      static_cast<char>(record.priority),
  };
  out.append(head, kHead);
  if (record.robots.present()) {
    PutLittle(out, record.robots.position, 6);
    PutLittle(out, record.robots.expires, 4);
  }
  if (record.budget != 0) PutLittle(out, record.budget, 2);
  if (!record.via.empty()) {
    PutLittle(out, record.via.rest.size() | (record.via.origin.empty() ? 0 : kViaOfOrigin), kViaLength);
    out += record.via.rest;
  }
  if (!record.last.empty()) {
    DCHECK(record.last.size() <= kMaxLastVisit, "a last visit that is too long");
    PutLittle(out, record.last.size(), kLastLength);
    out += record.last;
  }
  out += record.url;
}

std::string EncodeUrlRecord(const UrlRecord& record) {
  std::string out;
  EncodeUrlRecord(record, out);
  return out;
}

std::optional<UrlRecord> DecodeUrlRecord(std::string_view bytes) {
  if (bytes.size() < kHead) return std::nullopt;
  const uint8_t layout = static_cast<uint8_t>(bytes[0]);
  const uint8_t kind = static_cast<uint8_t>(bytes[1]) & 0xf;
  constexpr uint8_t kKnown = kHasRef | kHasBudget | kHasVia | kStandsIn | kProbe | kHasLast;
  if ((layout & ~kKnown) != 0 || kind > static_cast<uint8_t>(UrlKind::kSitemap)) return std::nullopt;
  UrlRecord record;
  record.kind = static_cast<UrlKind>(kind);
  record.stands_in = (layout & kStandsIn) != 0;
  record.probe = (layout & kProbe) != 0;
  record.requisite = static_cast<uint8_t>(bytes[1]) >> 4;
  record.attempts = static_cast<uint8_t>(bytes[2]);
  record.hops = static_cast<uint8_t>(bytes[3]);
  record.depth = static_cast<uint16_t>(GetLittle(bytes.data() + 4, 2));
  record.priority = static_cast<uint8_t>(bytes[6]);
  size_t at = kHead;
  if ((layout & kHasRef) != 0) {
    if (bytes.size() < kHead + kRef) return std::nullopt;
    record.robots.position = GetLittle(bytes.data() + at, 6);
    record.robots.expires = static_cast<uint32_t>(GetLittle(bytes.data() + at + 6, 4));
    if (!record.robots.present()) return std::nullopt;
    at += kRef;
  }
  if ((layout & kHasBudget) != 0) {
    if (bytes.size() < at + kBudget) return std::nullopt;
    record.budget = static_cast<uint16_t>(GetLittle(bytes.data() + at, kBudget));
    if (record.budget == 0) return std::nullopt;
    at += kBudget;
  }
  bool via_of_origin = false;
  if ((layout & kHasVia) != 0) {
    if (bytes.size() < at + kViaLength) return std::nullopt;
    const auto length = static_cast<uint16_t>(GetLittle(bytes.data() + at, kViaLength));
    via_of_origin = (length & kViaOfOrigin) != 0;
    const size_t size = length & ~kViaOfOrigin;
    at += kViaLength;
    if (size == 0 || size > kMaxVia || bytes.size() < at + size) return std::nullopt;
    record.via.rest = bytes.substr(at, size);
    at += size;
  }
  if ((layout & kHasLast) != 0) {
    if (bytes.size() < at + kLastLength) return std::nullopt;
    const size_t size = GetLittle(bytes.data() + at, kLastLength);
    at += kLastLength;
    if (size == 0 || size > kMaxLastVisit || bytes.size() < at + size) return std::nullopt;
    record.last = bytes.substr(at, size);
    at += size;
  }
  record.url = bytes.substr(at);
  if (via_of_origin) {
    record.via.origin = OriginOf(record.url);
    if (record.via.origin.empty()) return std::nullopt;
  }
  return record;
}

Via ViaOf(std::string_view page, std::string_view url) {
  if (page.size() > kMaxVia) return {};
  const size_t origin = AuthorityEnd(page);
  // A URL of the same origin ends there or continues with its path.
  const bool same = origin > 0 && origin < page.size() && url.substr(0, origin) == page.substr(0, origin) &&
                    (url.size() == origin || url[origin] == '/' || url[origin] == '?' || url[origin] == '#');
  return same ? Via{.origin = page.substr(0, origin), .rest = page.substr(origin)} : Via{.origin = {}, .rest = page};
}

std::string_view OriginOf(std::string_view url) { return url.substr(0, AuthorityEnd(url)); }

std::string_view HostOf(std::string_view url) {
  size_t begin = AuthorityBegin(url);
  size_t colon = std::string_view::npos;
  size_t end = begin;
  for (; end < url.size() && url[end] != '/' && url[end] != '?' && url[end] != '#'; ++end) {
    if (url[end] == '@') {
      begin = end + 1;
      colon = std::string_view::npos;
    } else if (url[end] == ':' && colon == std::string_view::npos) {
      colon = end;
    }
  }
  const std::string_view host = url.substr(begin, end - begin);
  if (host.starts_with('[')) {
    const size_t close = host.find(']');
    return close == std::string_view::npos ? host : host.substr(0, close + 1);
  }
  return url.substr(begin, std::min(colon, end) - begin);
}

std::string_view PathAndQueryOf(std::string_view url) {
  const std::string_view rest = url.substr(AuthorityEnd(url));
  return rest.substr(0, rest.find('#'));
}

uint64_t HostKey(std::string_view url, const HashKey& key) { return key.Hash(HostOf(url)); }
uint64_t OriginKey(std::string_view url, const HashKey& key) { return key.Hash(OriginOf(url)); }

}  // namespace portolan
