// Which encoding a document is in: byte order mark, then the server's charset, then the page's own, then a guess.
//
// HTML standard, 13.2.3.2 "determining the character encoding", with uchardet as the guess that the standard leaves to
// the implementation, and windows-1252 if there is no guess. The page's own charset is in a meta element in its first
// 1024 bytes, found by the standard's prescan, or else the encoding of an XML declaration.
//
// A mark and the server's charset are certain, the rest is tentative: the first meta element that names an encoding,
// found while the document is read, decides, however late it comes ("changing the encoding while parsing", 13.2.3.4).
// In the first kDetectBytes it is searched for beforehand, so that few documents are read twice; a later one costs its
// document a second reading, but never a third (ChangedEncoding).

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "html/charset.h"

namespace portolan {

inline constexpr size_t kPrescanBytes = 1024;             // the standard's number
inline constexpr size_t kDetectBytes = size_t{64} << 10;  // how far a later meta and a guess look

enum class CharsetSource : uint8_t { kByteOrderMark, kHeader, kMeta, kDetected, kDefault };
std::string_view CharsetSourceName(CharsetSource source);

struct CharsetDecision {
  Encoding encoding = Encoding::kWindows1252;
  CharsetSource source = CharsetSource::kDefault;
  uint8_t bom_bytes = 0;  // to be left out before decoding
  bool operator==(const CharsetDecision&) const = default;
};

// `start` is the document's beginning, better kDetectBytes of it than less; `header_label` the charset parameter of
// Content-Type, empty for none.
CharsetDecision SniffCharset(std::string_view start, std::string_view header_label);

// The encoding that the document must be read again in: `meta`, that of the first meta element met in reading it as
// `decision` says (Page::meta_encoding), where the decision was tentative and the two differ. Nothing where they agree,
// where the decision was certain, or where the document was read as UTF-16, in which no meta can be met by mistake. The
// new decision is certain: a second reading has no third.
std::optional<CharsetDecision> ChangedEncoding(const CharsetDecision& decision, std::optional<Encoding> meta);

// "Prescan a byte stream to determine its encoding" over all of `bytes`.
std::optional<Encoding> PrescanCharset(std::string_view bytes);

// The first meta element that names an encoding, in HTML read as ASCII.
std::optional<Encoding> LateMetaCharset(std::string_view bytes);

// uchardet's guess. Nothing for pure ASCII, for what it does not recognise, and for encodings no page should be guessed
// to be in (UTF-16 without a mark, the replacement encodings).
std::optional<Encoding> DetectCharset(std::string_view bytes);

}  // namespace portolan
