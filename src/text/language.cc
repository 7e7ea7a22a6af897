#include "text/language.h"

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

#include <algorithm>
#include <array>
#include <cstdio>  // compact_lang_det.h uses FILE
#include <string>

#include "base/ascii.h"

namespace portolan {
namespace {

// As the documentation of CLD2 lists them, with the codes of BCP 47.
constexpr std::string_view kDetected[] = {
    "af", "ar", "az", "be",  "bg", "bh", "bn", "ca", "ceb", "chr", "cs", "cy",  "da",  "de", "dv", "el", "en",
    "es", "et", "eu", "fa",  "fi", "fr", "ga", "gd", "gl",  "gu",  "he", "hi",  "hmn", "hr", "ht", "hu", "hy",
    "id", "is", "it", "iu",  "ja", "jv", "ka", "km", "kn",  "ko",  "lg", "lif", "lo",  "lt", "lv", "mk", "ml",
    "mr", "ms", "mt", "ne",  "nl", "no", "or", "pa", "pl",  "pt",  "ro", "ru",  "rw",  "si", "sk", "sl", "sq",
    "sr", "sv", "sw", "syr", "ta", "te", "th", "tl", "tr",  "uk",  "ur", "vi",  "yi",  "zh"};

constexpr size_t kMaxHint = 64;

// What may stand in a list of language tags, lower-cased; anything else ends it.
void AppendTags(std::string_view tags, std::string& out) {
  if (!out.empty() && !tags.empty()) out += ',';
  for (const char c : tags.substr(0, kMaxHint)) {
    if (!IsAlpha(c) && !IsDigit(c) && c != '-' && c != ',') break;
    out += AsciiLower(c);
  }
}

std::string LastLabel(std::string_view host) {
  const std::string_view label = host.substr(host.rfind('.') + 1);
  std::string tld;
  for (const char c : label.substr(0, kMaxHint)) {
    if (!IsAlpha(c)) return {};
    tld += AsciiLower(c);
  }
  return tld;
}

// CLD2 uses some codes that BCP 47 has withdrawn, and its own for scripts.
std::string_view Bcp47(std::string_view code) {
  constexpr std::array<std::array<std::string_view, 2>, 6> kRenamed = {
      {{"un", "und"}, {"iw", "he"}, {"jw", "jv"}, {"in", "id"}, {"mo", "ro"}, {"ji", "yi"}}};
  for (const auto& [old, now] : kRenamed) {
    if (code == old) return now;
  }
  return code;
}

// At most `most` bytes, without a part of a character at the end.
std::string_view Beginning(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  constexpr size_t kMostOfCharacter = 4;
  size_t end = most;
  while (end > 0 && most - end < kMostOfCharacter && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

struct Detection {
  LanguageGuess guess;
  bool reliable = false;

  bool Sure() const { return reliable && guess.confidence >= kSureOfSample; }
};

Detection Detect(std::string_view text, const CLD2::CLDHints& hints) {
  std::array<CLD2::Language, 3> languages{CLD2::UNKNOWN_LANGUAGE, CLD2::UNKNOWN_LANGUAGE, CLD2::UNKNOWN_LANGUAGE};
  std::array<int, 3> percent{};
  std::array<double, 3> scores{};
  int text_bytes = 0;
  int valid_bytes = 0;
  bool reliable = false;
  const auto detect = [&](std::string_view piece) {
    CLD2::ExtDetectLanguageSummaryCheckUTF8(
        piece.data(), static_cast<int>(piece.size()), /*is_plain_text=*/true, &hints,
        /*flags=*/0, languages.data(), percent.data(), scores.data(), nullptr, &text_bytes, &reliable, &valid_bytes);
  };
  detect(text);
  if (static_cast<size_t>(valid_bytes) < text.size()) detect(text.substr(0, static_cast<size_t>(valid_bytes)));

  Detection found{.guess = {}, .reliable = reliable};
  const std::string_view code = CLD2::LanguageCode(languages[0]);
  // "xx-Java" names a script and no language.
  constexpr std::string_view kUndetermined = "und";
  found.guess.code = code.starts_with("xx") || code == "un" ? kUndetermined : Bcp47(code);
  if (found.guess.code == kUndetermined) return found;
  found.guess.confidence = static_cast<uint8_t>(std::clamp(reliable ? percent[0] : percent[0] / 2, 1, 100));
  return found;
}

std::string_view PrimaryOf(std::string_view tag) { return tag.substr(0, tag.find_first_of("-_")); }

// Whether the first tag that the page or its server gives is of this language.
bool Declares(const LanguageHints& hints, std::string_view code) {
  const std::string_view declared = hints.html_lang.empty() ? hints.content_language : hints.html_lang;
  return EqualsIgnoringCase(PrimaryOf(TrimBlanks(declared).substr(0, kMaxHint)), PrimaryOf(code));
}

}  // namespace

std::span<const std::string_view> DetectedLanguages() { return kDetected; }

LanguageGuess DetectLanguage(std::string_view text, const LanguageHints& hints) {
  const CLD2::CLDHints none = {nullptr, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  if (text.size() > kFirstSampleBytes && !(hints.html_lang.empty() && hints.content_language.empty())) {
    const Detection found = Detect(Beginning(text, kFirstSampleBytes), none);
    if (found.Sure() && Declares(hints, found.guess.code)) return found.guess;
  }
  std::string tags;
  AppendTags(hints.html_lang, tags);
  AppendTags(hints.content_language, tags);
  const std::string tld = LastLabel(hints.host);
  const CLD2::CLDHints given = {tags.empty() ? nullptr : tags.c_str(), tld.empty() ? nullptr : tld.c_str(),
                                CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
  Detection found;
  for (const size_t bytes : {kSampleBytes, kMaxDetectBytes}) {
    found = Detect(Beginning(text, bytes), given);
    if (text.size() <= bytes || found.Sure()) break;
  }
  return found.guess;
}

}  // namespace portolan
