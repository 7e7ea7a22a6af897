// Language: which language a text is in, by CLD2 (Compact Language Detector 2, Google 2013: naive Bayes over groups of
// four letters; letters of a script that only one language has decide alone).
//
// The smaller of Debian's two sets of tables is used: 83 languages (DetectedLanguages). With the larger one, of some
// 160, texts of 200 characters in these 83 are recognised less often (docs/text.md).
//
// CLD2 needs 17 ns per byte, and twice that with cold caches: more than all other reading of a page. So it reads as
// little as will do, in up to three steps:
//   1. the first kFirstSampleBytes, without any hint. If CLD2 is sure of them, nearly all of them are in one language
//      and the page or its server declares that language, two witnesses that do not know of each other agree.
//   2. the first kSampleBytes, with hints, if CLD2 is sure of them and nearly all of them are in one language.
//   3. the first kMaxDetectBytes, with hints.
//
// What the page and its server say are hints and no more: a page that claims to be English and is not gets the language
// of its text.
//
// Thread: any. Time: linear in the first kMaxDetectBytes of the text. Memory bound: constant.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace portolan {

struct LanguageHints {
  std::string_view html_lang;         // of the html element
  std::string_view content_language;  // of the answer
  std::string_view host;              // only its last label counts
};

struct LanguageGuess {
  // A BCP 47 tag that lives for ever: "de", "zh-Hant"; "und" if it is not known.
  std::string_view code = "und";
  uint8_t confidence = 0;  // percent of the text in this language; half of that if the detector is not sure; 0 for und
};

inline constexpr size_t kFirstSampleBytes = 128;
inline constexpr size_t kSampleBytes = 384;
inline constexpr uint8_t kSureOfSample = 90;  // percent
inline constexpr size_t kMaxDetectBytes = size_t{32} << 10;

// `text`: UTF-8; where it is not, its valid beginning counts.
LanguageGuess DetectLanguage(std::string_view text, const LanguageHints& hints = {});

// Primary subtags of the languages that the detector knows, sorted.
std::span<const std::string_view> DetectedLanguages();

}  // namespace portolan
