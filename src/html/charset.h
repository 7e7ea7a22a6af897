// The encodings of the web: the 40 of the WHATWG Encoding Standard, by name and by label.
//
// A label is what pages and servers write ("latin1", "x-sjis", "utf8"); the standard maps 228 of them to an encoding,
// and everything else to none. ISO-8859-1 and ASCII are windows-1252 there, and here.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace portolan {

enum class Encoding : uint8_t {
  kUtf8,
  kIbm866,
  kIso8859_2,
  kIso8859_3,
  kIso8859_4,
  kIso8859_5,
  kIso8859_6,
  kIso8859_7,
  kIso8859_8,
  kIso8859_8I,
  kIso8859_10,
  kIso8859_13,
  kIso8859_14,
  kIso8859_15,
  kIso8859_16,
  kKoi8R,
  kKoi8U,
  kMacintosh,
  kWindows874,
  kWindows1250,
  kWindows1251,
  kWindows1252,
  kWindows1253,
  kWindows1254,
  kWindows1255,
  kWindows1256,
  kWindows1257,
  kWindows1258,
  kMacCyrillic,
  kGbk,
  kGb18030,
  kBig5,
  kEucJp,
  kIso2022Jp,
  kShiftJis,
  kEucKr,
  kReplacement,
  kUtf16Be,
  kUtf16Le,
  kUserDefined,
};

inline constexpr size_t kEncodingCount = 40;

// "UTF-8", "windows-1252", "replacement": the standard's name.
std::string_view EncodingName(Encoding encoding);

// "Get an encoding": blanks around the label and its case do not matter.
std::optional<Encoding> EncodingForLabel(std::string_view label);

// "Get an output encoding": what a document in `encoding` sends. UTF-8 for replacement and UTF-16.
constexpr Encoding OutputEncoding(Encoding encoding) {
  return encoding >= Encoding::kReplacement && encoding <= Encoding::kUtf16Le ? Encoding::kUtf8 : encoding;
}

}  // namespace portolan
