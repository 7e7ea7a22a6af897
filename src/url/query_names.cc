#include "url/query_names.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "url/code_points.h"

namespace portolan::url_internal {
namespace {

constexpr std::string_view kSessionNames[] = {
    "jsessionid",     // Java servlets
    "phpsessid",      // PHP
    "aspsessionid*",  // ASP: ASPSESSIONIDAQBSDSRT
    "asp.net_sessionid",
    "cfid",  // ColdFusion
    "cftoken",
    "sessionid",
    "session_id",
    "sessid",
    "oscsid",  // osCommerce
    "zenid",   // Zen Cart
    "xtcsid",  // xt:Commerce
};

// "sid" and "s" name sessions in phpBB and vBulletin and other things elsewhere: only with a value of this many hex
// digits, which no page number has.
constexpr size_t kSidDigits = 32;
constexpr std::string_view kSidNames[] = {"sid", "s"};

constexpr std::string_view kTrackingNames[] = {
    "utm_*",  // Urchin, Google Analytics
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "gad_source",
    "gad_campaignid",
    "srsltid",  // Google
    "_ga",
    "_gl",
    "_gac",  // Google
    "fbclid",
    "igshid",
    "igsh",     // Meta
    "msclkid",  // Microsoft
    "yclid",
    "ysclid",
    "_openstat",  // Yandex
    "twclid",
    "ttclid",
    "li_fat_id",
    "epik",  // X, TikTok, LinkedIn, Pinterest
    "mc_cid",
    "mc_eid",  // Mailchimp
    "_hsenc",
    "_hsmi",
    "__hssc",
    "__hstc",
    "__hsfp",
    "hsctatracking",  // HubSpot
    "mkt_tok",        // Marketo
    "vero_id",
    "vero_conv",  // Vero
    "oly_anon_id",
    "oly_enc_id",  // Omeda
    "wickedid",
    "s_kwcid",
    "ef_id",
    "rb_clickid",
    "irclickid",  // Wicked Reports, Adobe, …
    "pk_campaign",
    "pk_kwd",
    "piwik_*",
    "mtm_*",  // Matomo
    "_branch_match_id",
};

constexpr std::string_view kIndexFiles[] = {
    "index.html", "index.htm", "index.shtml", "index.xhtml",  "index.php",   "index.asp",    "index.aspx",
    "index.jsp",  "index.cfm", "default.htm", "default.html", "default.asp", "default.aspx",
};

bool EqualsLower(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() && std::equal(text.begin(), text.end(), lower.begin(), [](char a, char b) {
           return Lower(static_cast<uint8_t>(a)) == static_cast<uint8_t>(b);
         });
}

bool Matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return EqualsLower(name, pattern);
  pattern.remove_suffix(1);
  return EqualsLower(name.substr(0, pattern.size()), pattern);
}

// A list of patterns, asked only for those that begin like the name.
template <size_t kCount>
class NameList {
 public:
  explicit constexpr NameList(const std::string_view (&patterns)[kCount]) {
    static_assert(kCount <= 64);
    for (size_t i = 0; i < kCount; ++i) {
      patterns_[i] = patterns[i];
      const auto first = static_cast<uint8_t>(patterns[i][0]);
      by_first_[first] |= uint64_t{1} << i;
      if (IsAlpha(first)) by_first_[first & ~0x20U] |= uint64_t{1} << i;
    }
  }
  bool Has(std::string_view name) const {
    if (name.empty()) return false;
    for (uint64_t left = by_first_[static_cast<uint8_t>(name[0])]; left != 0; left &= left - 1) {
      if (Matches(name, patterns_[static_cast<size_t>(std::countr_zero(left))])) return true;
    }
    return false;
  }

 private:
  std::array<std::string_view, kCount> patterns_{};
  std::array<uint64_t, 256> by_first_{};  // a bit a pattern
};

constexpr NameList kSessionList(kSessionNames);
constexpr NameList kSidList(kSidNames);
constexpr NameList kTrackingList(kTrackingNames);
constexpr NameList kIndexList(kIndexFiles);

std::string_view NameOf(std::string_view parameter) { return parameter.substr(0, parameter.find('=')); }

constexpr size_t kAspSessionLength = 24;

bool TakeAspSession(std::string_view& text) {
  if (text.size() < kAspSessionLength) return false;
  for (size_t i = 0; i < kAspSessionLength; ++i) {
    const auto c = static_cast<uint8_t>(text[i]);
    if (!IsAlpha(c) && !IsDigit(c)) return false;
  }
  text.remove_prefix(kAspSessionLength);
  return true;
}

}  // namespace

std::span<const std::string_view> SessionNames() { return kSessionNames; }
std::span<const std::string_view> TrackingNames() { return kTrackingNames; }
std::span<const std::string_view> IndexFiles() { return kIndexFiles; }

bool IsSessionParameter(std::string_view parameter) {
  const std::string_view name = NameOf(parameter);
  if (kSessionList.Has(name)) return true;
  if (parameter.size() != name.size() + 1 + kSidDigits || !kSidList.Has(name)) return false;
  const std::string_view value = parameter.substr(name.size() + 1);
  return std::all_of(value.begin(), value.end(), [](char c) { return Is(c, kHexDigit); });
}

bool IsTrackingParameter(std::string_view parameter) { return kTrackingList.Has(NameOf(parameter)); }

bool IsSessionPathParameter(std::string_view parameter) {
  const std::string_view name = NameOf(parameter);
  return name.size() < parameter.size() &&
         (EqualsLower(name, "jsessionid") || EqualsLower(name, "phpsessid") || EqualsLower(name, "sessionid"));
}

bool IsSessionSegment(std::string_view segment) {
  if (segment.size() < kAspSessionLength + 2 || !segment.starts_with('(') || !segment.ends_with(')')) return false;
  segment = segment.substr(1, segment.size() - 2);
  if (std::string_view whole = segment; TakeAspSession(whole) && whole.empty()) return true;
  while (!segment.empty()) {
    if (segment.size() < 3 || !IsAlpha(static_cast<uint8_t>(segment[0])) || segment[1] != '(') return false;
    segment.remove_prefix(2);
    if (!TakeAspSession(segment) || !segment.starts_with(')')) return false;
    segment.remove_prefix(1);
  }
  return true;
}

bool IsIndexFile(std::string_view segment) { return kIndexList.Has(segment); }

}  // namespace portolan::url_internal
