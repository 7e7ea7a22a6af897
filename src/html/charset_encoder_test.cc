// The encoders of the WHATWG Encoding Standard: against the decoders, the standard's indexes, and other programs'
// bytes.

#include "html/charset_encoder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/utf8.h"
#include "html/charset_decoder.h"
#include "html/charset_samples.h"
#include "html/charset_tables.h"
#include "url/url.h"

namespace portolan {
namespace {

const std::filesystem::path kEncodings = "../shared/data/charset/whatwg-encoding";
const std::filesystem::path kWpt = "../shared/data/url/wpt/percent-encoding.json";

std::map<uint32_t, uint32_t> ReadIndex(const std::string& name) {
  std::ifstream in(kEncodings / ("index-" + name + ".txt"));
  return ParseIndex(in);
}

// The bytes of one character, "&#N;" where the encoding has none.
std::string Encoded(Encoding encoding, uint32_t code) {
  CharsetEncoder encoder(encoding);
  std::string bytes;
  if (const uint32_t missing = encoder.Encode(code, bytes)) bytes += "&#" + std::to_string(missing) + ";";
  encoder.End(bytes);
  return bytes;
}

std::string Encoded(Encoding encoding, std::u32string_view text) {
  CharsetEncoder encoder(encoding);
  std::string bytes;
  for (const char32_t code : text) {
    if (const uint32_t missing = encoder.Encode(code, bytes)) bytes += "&#" + std::to_string(missing) + ";";
  }
  encoder.End(bytes);
  return bytes;
}

bool IsName(const std::string& bytes) { return bytes.starts_with("&#"); }

bool IsScalar(uint32_t code) { return code < 0xd800 || code > 0xdfff; }

TEST(CharsetEncoderTest, SingleByteIsTheDecoderBackwards) {
  for (size_t i = 0; i < kEncodingCount; ++i) {
    const auto encoding = static_cast<Encoding>(i);
    if (!IsSingleByte(encoding)) continue;
    std::map<std::string, std::string> known;  // character → byte
    for (int byte = 0; byte < 256; ++byte) {
      const std::string bytes(1, static_cast<char>(byte));
      if (const std::string text = Decoded(encoding, bytes); text != "\xef\xbf\xbd") known.emplace(text, bytes);
    }
    for (uint32_t code = 0; code < 0x10100; code += code == 0x2fff ? 0xf000 - 0x2fff : 1) {
      const auto found = known.find(Utf8Of(code));
      const std::string expected = found != known.end() ? found->second : "&#" + std::to_string(code) + ";";
      ASSERT_EQ(Encoded(encoding, code), expected) << EncodingName(encoding) << " " << code;
      if (found != known.end()) known.erase(found);
    }
    EXPECT_TRUE(known.empty()) << EncodingName(encoding);
  }
}

// What decodes to another character than was encoded, by the standard.
bool IsWrittenAsAnother(Encoding encoding, uint32_t code) {
  switch (encoding) {
    case Encoding::kGbk:
    case Encoding::kGb18030:
      return (code >= 0xe78d && code <= 0xe796) || (code >= 0xe81e && code <= 0xe864);
    case Encoding::kEucJp:
    case Encoding::kShiftJis:
      return code == 0xa5 || code == 0x203e || code == 0x2212;
    case Encoding::kIso2022Jp:
      return code == 0x2212 || (code >= 0xff61 && code <= 0xff9f);
    default:
      return false;
  }
}

// Every code point up to U+3FFFF. The counts are those of the standard's indexes, by its rules.
TEST(CharsetEncoderTest, WhatIsEncodedDecodesToItself) {
  const std::pair<Encoding, size_t> encodings[] = {
      {Encoding::kGbk, 23'957},   {Encoding::kGb18030, 0x40000 - 0x800 - 0x80 - 1},
      {Encoding::kBig5, 14'653},  {Encoding::kEucKr, 17'048},
      {Encoding::kEucJp, 7392},   {Encoding::kIso2022Jp, 7392},
      {Encoding::kShiftJis, 7393}};
  for (const auto& [encoding, count] : encodings) {
    size_t encodable = 0;
    size_t others = 0;
    for (uint32_t code = 0x80; code < 0x40000; ++code) {
      if (!IsScalar(code)) continue;
      const std::string bytes = Encoded(encoding, code);
      if (IsName(bytes)) continue;
      ++encodable;
      if (Decoded(encoding, bytes) == Utf8Of(code)) continue;
      ++others;
      ASSERT_TRUE(IsWrittenAsAnother(encoding, code)) << EncodingName(encoding) << " " << code;
    }
    EXPECT_EQ(encodable, count) << EncodingName(encoding);
    EXPECT_LE(others, 64U) << EncodingName(encoding);
  }
}

// The bytes are those of Python's codecs (gbk, gb18030, big5, cp949, euc_jp, cp932, iso2022_jp) or, where the standard
// follows Windows and they do not, of iconv's CP932.
TEST(CharsetEncoderTest, UsualTextHasTheBytesThatOthersGive) {
  EXPECT_EQ(Encoded(Encoding::kGbk, U"你好世界"), "\xc4\xe3\xba\xc3\xca\xc0\xbd\xe7");
  EXPECT_EQ(Encoded(Encoding::kGbk, U"，。—…"), "\xa3\xac\xa1\xa3\xa1\xaa\xa1\xad");
  EXPECT_EQ(Encoded(Encoding::kGbk, U"镕丂Б"), "\xe9\x46\x81\x40\xa7\xa2");
  EXPECT_EQ(Encoded(Encoding::kGb18030, U"€é𠀀😀"), "\xa2\xe3\xa8\xa6\x95\x32\x82\x36\x94\x39\xfc\x36");
  EXPECT_EQ(Encoded(Encoding::kGb18030, U"㐀한Ā"), "\x81\x39\xee\x39\x83\x36\x84\x33\x81\x30\x8b\x38");
  EXPECT_EQ(Encoded(Encoding::kBig5, U"台灣繁體字"), "\xa5\x78\xc6\x57\xc1\x63\xc5\xe9\xa6\x72");
  EXPECT_EQ(Encoded(Encoding::kBig5, U"一。★十卅"), "\xa4\x40\xa1\x43\xa1\xb9\xa4\x51\xa4\xca");
  EXPECT_EQ(Encoded(Encoding::kEucKr, U"검색똠방각하"), "\xb0\xcb\xbb\xf6\x8c\x63\xb9\xe6\xb0\xa2\xc7\xcf");
  EXPECT_EQ(Encoded(Encoding::kEucKr, U"가힣伽€①"), "\xb0\xa1\xc6\x52\xca\xa1\xa2\xe6\xa8\xe7");
  EXPECT_EQ(Encoded(Encoding::kEucJp, U"日本語テスト"), "\xc6\xfc\xcb\xdc\xb8\xec\xa5\xc6\xa5\xb9\xa5\xc8");
  EXPECT_EQ(Encoded(Encoding::kEucJp, U"ｶﾅ①"), "\x8e\xb6\x8e\xc5\xad\xa1");
  EXPECT_EQ(Encoded(Encoding::kShiftJis, U"日本語テスト"), "\x93\xfa\x96\x7b\x8c\xea\x83\x65\x83\x58\x83\x67");
  EXPECT_EQ(Encoded(Encoding::kShiftJis, U"表ｶﾅ①∵～"), "\x95\x5c\xb6\xc5\x87\x40\x81\xe6\x81\x60");
  EXPECT_EQ(Encoded(Encoding::kShiftJis, U"髙纊ⅰ"), "\xfb\xfc\xfa\x5c\xfa\x40");
  EXPECT_EQ(Encoded(Encoding::kIso2022Jp, U"aテストb日本語"), "a\x1b$B%F%9%H\x1b(Bb\x1b$BF|K\\8l\x1b(B");
  EXPECT_EQ(Encoded(Encoding::kKoi8R, U"тест"), "\xd4\xc5\xd3\xd4");
  EXPECT_EQ(Encoded(Encoding::kWindows1251, U"тест"), "\xf2\xe5\xf1\xf2");
}

TEST(CharsetEncoderTest, WhatCannotBeWrittenIsNamed) {
  EXPECT_EQ(Encoded(Encoding::kWindows1251, U"aжé中😀"), "a\xe6&#233;&#20013;&#128512;");
  EXPECT_EQ(Encoded(Encoding::kWindows1252, U"\xfffd"), "&#65533;");
  EXPECT_EQ(Encoded(Encoding::kWindows1252, U"\x100ef"), "&#65775;");  // no byte for its lower half
  EXPECT_EQ(Encoded(Encoding::kGb18030, U"\xfffd"), "\x84\x31\xa4\x37");
  EXPECT_EQ(Encoded(Encoding::kGbk, U"€😀"), "\x80&#128512;");
  EXPECT_EQ(Encoded(Encoding::kGb18030, U"\xe5e5"), "&#58853;");
  EXPECT_EQ(Encoded(Encoding::kShiftJis, U"\x80\xe000"), "\x80&#57344;");
  EXPECT_EQ(Encoded(Encoding::kUserDefined, U"\xf7e9é"), "\xe9&#233;");
}

TEST(CharsetEncoderTest, Iso2022JpChangesItsStateAsSeldomAsTheStandard) {
  EXPECT_EQ(Encoded(Encoding::kIso2022Jp, U"あ1い"), "\x1b$B$\"\x1b(B1\x1b$B$$\x1b(B");
  EXPECT_EQ(Encoded(Encoding::kIso2022Jp, U"¥1‾\\"), "\x1b(J\\1~\x1b(B\\");
  EXPECT_EQ(Encoded(Encoding::kIso2022Jp, U"¥あ"), "\x1b(J\\\x1b$B$\"\x1b(B");
  EXPECT_EQ(Encoded(Encoding::kIso2022Jp, U"あ😀い"), "\x1b$B$\"\x1b(B&#128512;\x1b$B$$\x1b(B");
  EXPECT_EQ(Encoded(Encoding::kIso2022Jp, U"¥😀¥"), "\x1b(J\\&#128512;\\\x1b(B");
  EXPECT_EQ(Encoded(Encoding::kIso2022Jp, U"\x1b¥\x0e"), "&#65533;\x1b(J\\&#65533;\x1b(B");
  EXPECT_EQ(Encoded(Encoding::kIso2022Jp, U"あ\x0f"), "\x1b$B$\"\x1b(B&#65533;");
}

TEST(CharsetEncoderTest, EncodingsWithoutAnEncoderGiveUtf8) {
  for (const Encoding encoding : {Encoding::kUtf8, Encoding::kUtf16Le, Encoding::kUtf16Be, Encoding::kReplacement}) {
    EXPECT_EQ(CharsetEncoder(encoding).encoding(), Encoding::kUtf8);
    EXPECT_EQ(Encoded(encoding, U"aé中😀"), "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80");
  }
}

class EncoderStandardTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kEncodings)) GTEST_SKIP() << kEncodings << " is absent";
  }

  // Each character of the index is written by its first pointer for which `counts` is true, or by none.
  static void CheckIndex(const std::string& name, Encoding encoding, const std::function<bool(uint32_t)>& counts,
                         const std::function<std::string(uint32_t)>& bytes_of) {
    const auto index = ReadIndex(name);
    ASSERT_FALSE(index.empty()) << name;
    std::map<uint32_t, std::string> expected;
    for (const auto& [pointer, code] : index) {
      if (counts(pointer)) expected.emplace(code, bytes_of(pointer));
    }
    size_t right = 0;
    std::map<uint32_t, bool> seen;
    for (const auto& [pointer, code] : index) {
      if (!seen.emplace(code, true).second) continue;
      const auto one = expected.find(code);
      const std::string bytes = Encoded(encoding, code);
      const std::string wanted = one != expected.end() ? one->second : "&#" + std::to_string(code) + ";";
      right += bytes == wanted ? 1 : 0;
      EXPECT_EQ(bytes, wanted) << name << " U+" << std::hex << code;
    }
    std::printf("conformance encode_%s_%s %zu/%zu\n", std::string(EncodingName(encoding)).c_str(), name.c_str(), right,
                seen.size());
  }
};

std::string Bytes(std::initializer_list<uint32_t> values) {
  std::string bytes;
  for (const uint32_t value : values) bytes += static_cast<char>(value);
  return bytes;
}

bool Always(uint32_t) { return true; }

TEST_F(EncoderStandardTest, OfSeveralPointersTheStandardsIsTaken) {
  const auto gb = [](uint32_t p) { return Bytes({p / 190 + 0x81, p % 190 + (p % 190 < 0x3f ? 0x40 : 0x41)}); };
  CheckIndex("gb18030", Encoding::kGb18030, Always, gb);
  CheckIndex("gb18030", Encoding::kGbk, Always, [&](uint32_t p) { return p == 6432 ? "\x80" : gb(p); });
  CheckIndex("euc-kr", Encoding::kEucKr, Always, [](uint32_t p) { return Bytes({p / 190 + 0x81, p % 190 + 0x41}); });
  CheckIndex("jis0208", Encoding::kEucJp, Always, [](uint32_t p) { return Bytes({p / 94 + 0xa1, p % 94 + 0xa1}); });
  CheckIndex("jis0208", Encoding::kIso2022Jp, Always,
             [](uint32_t p) { return "\x1b$B" + Bytes({p / 94 + 0x21, p % 94 + 0x21}) + "\x1b(B"; });
  CheckIndex(
      "jis0208", Encoding::kShiftJis, [](uint32_t p) { return p < 8272 || p > 8835; },
      [](uint32_t p) {
        return Bytes({p / 188 + (p / 188 < 0x1f ? 0x81 : 0xc1), p % 188 + (p % 188 < 0x3f ? 0x40 : 0x41)});
      });
  // U+2550, U+255E, U+2561, U+256A, U+5341 and U+5345 by their last pointers: their first do not count.
  CheckIndex(
      "big5", Encoding::kBig5,
      [](uint32_t p) {
        return p >= 5024 && p != 5247 && p != 5248 && p != 5250 && p != 5249 && p != 5287 && p != 5289;
      },
      [](uint32_t p) { return Bytes({p / 157 + 0x81, p % 157 + (p % 157 < 0x3f ? 0x40 : 0x62)}); });
}

TEST_F(EncoderStandardTest, HalfWidthKatakanaBecomeFullWidth) {
  const auto index = ReadIndex("iso-2022-jp-katakana");
  EXPECT_EQ(index.size(), 63U);
  for (const auto& [pointer, code] : index) {
    EXPECT_EQ(Encoded(Encoding::kIso2022Jp, 0xff61 + pointer), Encoded(Encoding::kIso2022Jp, code)) << pointer;
  }
}

// Query in the encoding, fragment in UTF-8.
TEST(UrlEncodingConformanceTest, WptPercentEncoding) {
  std::ifstream in(kWpt);
  if (!in) GTEST_SKIP() << kWpt << " is absent";
  size_t right = 0;
  size_t total = 0;
  for (const auto& test : nlohmann::json::parse(in)) {
    if (!test.is_object()) continue;
    const auto input = test["input"].get<std::string>();
    for (const auto& [label, output] : test["output"].items()) {
      ++total;
      CharsetEncoder encoder(EncodingForLabel(label).value());
      Url url;
      ASSERT_EQ(url.Assign("https://doesnotmatter.invalid/?" + input + "#" + input, nullptr, &encoder), UrlStatus::kOk);
      const bool good = url.search() == "?" + output.get<std::string>() &&
                        url.hash() == "#" + test["output"]["utf-8"].get<std::string>();
      right += good ? 1 : 0;
      EXPECT_TRUE(good) << label << " " << url.href();
      EXPECT_TRUE(url.CheckOffsets());
      EXPECT_EQ(Url::Parse(url.href()), url);
    }
  }
  std::printf("conformance wpt-percent-encoding %zu/%zu\n", right, total);
  EXPECT_GE(total, 16U);
}

}  // namespace
}  // namespace portolan
