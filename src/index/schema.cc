#include "index/schema.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "base/ascii.h"
#include "base/bytes.h"
#include "base/hash.h"

namespace portolan {
namespace {

// ISO 639-1 codes that Xapian 1.4 has a stemmer for, and its own name for each where that differs.
struct StemmerName {
  std::string_view language;
  std::string_view stemmer;
};
constexpr StemmerName kStemmers[] = {
    {"ar", "ar"}, {"hy", "hy"}, {"eu", "eu"}, {"ca", "ca"}, {"da", "da"}, {"nl", "nl"}, {"en", "en"},
    {"fi", "fi"}, {"fr", "fr"}, {"de", "de"}, {"hu", "hu"}, {"id", "id"}, {"ga", "ga"}, {"it", "it"},
    {"lt", "lt"}, {"ne", "ne"}, {"no", "no"}, {"nb", "no"}, {"nn", "no"}, {"pt", "pt"}, {"ro", "ro"},
    {"ru", "ru"}, {"es", "es"}, {"sv", "sv"}, {"ta", "ta"}, {"tr", "tr"},
};

std::string BigEndian(uint64_t number) {
  std::string bytes(8, '\0');
  for (size_t i = 0; i < 8; ++i) bytes[i] = static_cast<char>(number >> (56 - 8 * i));
  return bytes;
}

std::string Compact(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}{:02}{:02}{:02}{:02}{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

// The number of exactly `text`, all digits; -1: it is not.
int Digits(std::string_view text) {
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return text.empty() ? -1 : number;
}

}  // namespace

std::string IdTerm(std::string_view url) {
  std::string term(kIdPrefix);
  if (url.size() <= kMaxIdUrl) return term += url;
  const XXH128_hash_t hash = XXH3_128bits(url.data(), url.size());
  return term += fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string TieKey(std::string_view url) { return BigEndian(Hash64(url)); }

std::string SimilarityValue(uint64_t similarity) { return BigEndian(similarity); }

std::vector<std::string> SiteTerms(std::string_view host, std::string_view domain) {
  std::vector<std::string> terms;
  if (host.size() > kMaxIdUrl) return terms;
  if (!host.ends_with(domain)) domain = host;
  for (std::string_view rest = host;;) {
    terms.push_back(std::string(kSitePrefix).append(rest));
    if (rest.size() <= domain.size()) return terms;
    const size_t dot = rest.find('.');
    if (dot == std::string_view::npos || rest.size() - dot - 1 < domain.size()) return terms;
    rest.remove_prefix(dot + 1);
  }
}

std::string FoldTerm(uint64_t similarity) { return fmt::format("{}{:016x}", kFoldPrefix, similarity); }

std::vector<std::string> LanguageTerms(std::string_view language) {
  std::vector<std::string> terms;
  if (language.empty() || language == "und" || language.size() > 35) return terms;
  std::string term(kLanguagePrefix);
  for (const char c : language) term += AsciiLower(c);
  if (const size_t dash = term.find('-'); dash != std::string::npos) terms.push_back(term.substr(0, dash));
  terms.push_back(std::move(term));
  return terms;
}

std::string_view StemmerOf(std::string_view language) {
  const std::string_view first = language.substr(0, language.find('-'));
  for (const StemmerName& name : kStemmers) {
    if (name.language == first) return name.stemmer;
  }
  return {};
}

std::string TimeValue(int64_t unix_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(unix_ms)};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  // Years of four digits: 0 to 9999.
  if (seconds.time_since_epoch().count() < -62'167'219'200 || seconds.time_since_epoch().count() > 253'402'300'799) {
    return {};
  }
  return Compact(seconds);
}

std::string PublishedValue(std::string_view rfc3339) {
  if (rfc3339.size() < 10 || rfc3339[4] != '-' || rfc3339[7] != '-') return {};
  const int year = Digits(rfc3339.substr(0, 4));
  const int month = Digits(rfc3339.substr(5, 2));
  const int day = Digits(rfc3339.substr(8, 2));
  if (year < 0 || month < 1 || day < 1) return {};
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return {};
  const std::string only_day = fmt::format("{:04}{:02}{:02}", year, month, day);
  if (rfc3339.size() < 20 || rfc3339[13] != ':' || rfc3339[16] != ':') return only_day;
  const int hours = Digits(rfc3339.substr(11, 2));
  const int minutes = Digits(rfc3339.substr(14, 2));
  const int seconds = Digits(rfc3339.substr(17, 2));
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 60) return only_day;
  std::string_view zone = rfc3339.substr(19);
  if (zone[0] == '.') zone.remove_prefix(std::min(zone.find_first_not_of("0123456789", 1), zone.size()));
  std::chrono::minutes ahead{0};
  if (zone.size() == 6 && (zone[0] == '+' || zone[0] == '-') && zone[3] == ':') {
    const int zone_hours = Digits(zone.substr(1, 2));
    const int zone_minutes = Digits(zone.substr(4, 2));
    if (zone_hours < 0 || zone_minutes < 0) return only_day;
    ahead = std::chrono::minutes((zone[0] == '-' ? -1 : 1) * (zone_hours * 60 + zone_minutes));
  } else if (zone != "Z" && zone != "z") {
    return only_day;
  }
  const std::chrono::sys_seconds time = std::chrono::sys_days(date) + std::chrono::hours(hours) +
                                        std::chrono::minutes(minutes) + std::chrono::seconds(seconds) - ahead;
  return TimeValue(std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count());
}

uint32_t PartOf(std::string_view host, uint32_t parts) {
  return parts < 2 ? 0 : static_cast<uint32_t>(Hash64(host, kIndexSchema) % parts);
}

std::string DocumentData::Encode() const {
  std::string bytes(1, '\x01');
  AppendString(bytes, url);
  AppendString(bytes, title);
  AppendVarint(bytes, place.serial);
  AppendVarint(bytes, place.offset);
  AppendVarint(bytes, place.record);
  return bytes;
}

std::optional<DocumentData> DocumentData::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  uint8_t version = 0;
  std::string_view url;
  std::string_view title;
  DocumentData data;
  uint64_t record = 0;
  if (!reader.Read(version) || version != 1 || !reader.ReadString(url) || !reader.ReadString(title) ||
      !reader.ReadVarint(data.place.serial) || !reader.ReadVarint(data.place.offset) || !reader.ReadVarint(record) ||
      record > UINT32_MAX || !reader.done()) {
    return std::nullopt;
  }
  data.url = url;
  data.title = title;
  data.place.record = static_cast<uint32_t>(record);
  return data;
}

}  // namespace portolan
