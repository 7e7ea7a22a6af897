// Labels, indexes and decoders of the WHATWG Encoding Standard; html5lib's encoding suite.

#include "html/charset.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/utf8.h"
#include "html/charset_decoder.h"
#include "html/charset_samples.h"
#include "html/charset_sniff.h"
#include "html/utf8_check.h"
#include "io/rng.h"

namespace portolan {
namespace {

const std::filesystem::path kEncodings = "../shared/data/charset/whatwg-encoding";
const std::filesystem::path kSuite = "../shared/data/html/html5lib-tests/encoding";
constexpr std::string_view kBad = "\xef\xbf\xbd";

std::map<uint32_t, uint32_t> ReadIndex(const std::string& name) {
  std::ifstream in(kEncodings / ("index-" + name + ".txt"));
  return ParseIndex(in);
}

std::string Bytes(std::initializer_list<uint32_t> values) {
  std::string bytes;
  for (const uint32_t value : values) bytes += static_cast<char>(value);
  return bytes;
}

class EncodingStandardTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kEncodings)) GTEST_SKIP() << kEncodings << " is absent";
  }

  // Each pointer below `size`: its bytes decode to the index's code point, or to an error where it has none.
  void CheckIndex(const char* suite, const std::string& index_name, Encoding encoding, uint32_t size,
                  const std::function<std::string(uint32_t)>& bytes_of,
                  const std::map<uint32_t, std::string>& special = {}) {
    const auto index = ReadIndex(index_name);
    ASSERT_FALSE(index.empty()) << index_name;
    size_t right = 0;
    size_t total = 0;
    for (uint32_t pointer = 0; pointer < size; ++pointer) {
      const std::string bytes = bytes_of(pointer);
      if (bytes.empty()) continue;
      ++total;
      const auto entry = index.find(pointer);
      std::string expected;
      if (const auto other = special.find(pointer); other != special.end()) {
        expected = other->second;
      } else if (entry != index.end()) {
        expected = Utf8Of(entry->second);
      } else {
        // An ASCII trail byte is not part of the error.
        expected = kBad;
        if (static_cast<uint8_t>(bytes.back()) < 0x80) expected += bytes.back();
      }
      const std::string decoded = Decoded(encoding, bytes);
      right += decoded == expected ? 1 : 0;
      EXPECT_EQ(decoded, expected) << index_name << " pointer " << pointer;
    }
    std::printf("conformance %s %zu/%zu\n", suite, right, total);
    EXPECT_EQ(right, total);
  }
};

TEST_F(EncodingStandardTest, EveryLabelNamesItsEncoding) {
  std::ifstream in(kEncodings / "encodings.json");
  size_t right = 0;
  size_t total = 0;
  for (const auto& group : nlohmann::json::parse(in)) {
    for (const auto& row : group["encodings"]) {
      for (std::string label : row["labels"]) {
        ++total;
        const auto found = EncodingForLabel("\t" + label + " \n");
        std::ranges::transform(label, label.begin(), [](char c) { return static_cast<char>(std::toupper(c)); });
        const bool same =
            found && EncodingName(*found) == row["name"].get<std::string>() && EncodingForLabel(label) == found;
        right += same ? 1 : 0;
        EXPECT_TRUE(same) << label;
      }
    }
  }
  std::printf("conformance encoding_labels %zu/%zu\n", right, total);
  EXPECT_EQ(total, 228U);
  EXPECT_EQ(right, total);
  EXPECT_FALSE(EncodingForLabel(""));
  EXPECT_FALSE(EncodingForLabel("utf-7"));
  EXPECT_FALSE(EncodingForLabel("utf-8-of-a-length-that-no-label-of-the-standard-has"));
}

TEST_F(EncodingStandardTest, SingleByteEncodingsAreTheIndexes) {
  size_t right = 0;
  size_t total = 0;
  for (size_t i = 0; i < kEncodingCount; ++i) {
    const auto encoding = static_cast<Encoding>(i);
    std::string name(EncodingName(encoding));
    std::ranges::transform(name, name.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    if (name == "iso-8859-8-i") name = "iso-8859-8";
    if (encoding < Encoding::kIbm866 || encoding > Encoding::kMacCyrillic) continue;
    const auto index = ReadIndex(name);
    ASSERT_FALSE(index.empty()) << name;
    for (uint32_t byte = 0; byte < 256; ++byte) {
      ++total;
      const auto entry = index.find(byte - 0x80);
      const std::string expected = byte < 0x80            ? Bytes({byte})
                                   : entry != index.end() ? Utf8Of(entry->second)
                                                          : std::string(kBad);
      const std::string decoded = Decoded(encoding, Bytes({byte}));
      right += decoded == expected ? 1 : 0;
      EXPECT_EQ(decoded, expected) << name << " byte " << byte;
    }
  }
  std::printf("conformance encoding_single_byte %zu/%zu\n", right, total);
  EXPECT_EQ(total, 28U * 256);
}

TEST_F(EncodingStandardTest, Big5IsTheIndex) {
  CheckIndex("encoding_big5", "big5", Encoding::kBig5, 126 * 157,
             [](uint32_t p) { return Bytes({p / 157 + 0x81, p % 157 + (p % 157 < 0x3f ? 0x40 : 0x62)}); },
             {{1133, Utf8Of(0xca) + Utf8Of(0x304)},
              {1135, Utf8Of(0xca) + Utf8Of(0x30c)},
              {1164, Utf8Of(0xea) + Utf8Of(0x304)},
              {1166, Utf8Of(0xea) + Utf8Of(0x30c)}});
}

TEST_F(EncodingStandardTest, Gb18030IsTheIndex) {
  CheckIndex("encoding_gb18030", "gb18030", Encoding::kGb18030, 126 * 190,
             [](uint32_t p) { return Bytes({p / 190 + 0x81, p % 190 + (p % 190 < 0x3f ? 0x40 : 0x41)}); });
}

TEST_F(EncodingStandardTest, Gb18030FourBytesAreTheRanges) {
  const auto ranges = ReadIndex("gb18030-ranges");
  size_t right = 0;
  size_t total = 0;
  for (uint32_t pointer = 0; pointer < 1'259'999; pointer += pointer < 40'000 ? 1 : 997) {
    ++total;
    std::string expected(kBad);
    if (pointer == 7457) {
      expected = Utf8Of(0xe7c7);
    } else if (pointer < 39'420 || (pointer >= 189'000 && pointer <= 1'237'575)) {
      const auto range = std::prev(ranges.upper_bound(pointer));
      expected = Utf8Of(range->second + pointer - range->first);
    }
    const std::string decoded = Decoded(Encoding::kGb18030, Bytes({pointer / 12'600 + 0x81, pointer / 1260 % 10 + 0x30,
                                                                   pointer / 10 % 126 + 0x81, pointer % 10 + 0x30}));
    right += decoded == expected ? 1 : 0;
    EXPECT_EQ(decoded, expected) << pointer;
  }
  std::printf("conformance encoding_gb18030_ranges %zu/%zu\n", right, total);
}

TEST_F(EncodingStandardTest, EucKrIsTheIndex) {
  CheckIndex("encoding_euc_kr", "euc-kr", Encoding::kEucKr, 126 * 190,
             [](uint32_t p) { return Bytes({p / 190 + 0x81, p % 190 + 0x41}); });
}

TEST_F(EncodingStandardTest, JapaneseEncodingsAreTheIndexes) {
  CheckIndex("encoding_euc_jp", "jis0208", Encoding::kEucJp, 94 * 94,
             [](uint32_t p) { return Bytes({p / 94 + 0xa1, p % 94 + 0xa1}); });
  CheckIndex("encoding_euc_jp_0212", "jis0212", Encoding::kEucJp, 94 * 94,
             [](uint32_t p) { return Bytes({0x8f, p / 94 + 0xa1, p % 94 + 0xa1}); });
  std::map<uint32_t, std::string> private_use;
  for (uint32_t p = 8836; p <= 10'715; ++p) private_use[p] = Utf8Of(0xe000 - 8836 + p);
  CheckIndex(
      "encoding_shift_jis", "jis0208", Encoding::kShiftJis, 60 * 188,
      [](uint32_t p) {
        return Bytes({p / 188 + (p / 188 < 0x1f ? 0x81 : 0xc1), p % 188 + (p % 188 < 0x3f ? 0x40 : 0x41)});
      },
      private_use);
  const auto index = ReadIndex("jis0208");
  for (uint32_t p = 0; p < 94 * 94; ++p) {
    const auto entry = index.find(p);
    EXPECT_EQ(Decoded(Encoding::kIso2022Jp, "\x1b$B" + Bytes({p / 94 + 0x21, p % 94 + 0x21})),
              entry == index.end() ? kBad : Utf8Of(entry->second));
  }
  for (const auto& [pointer, code] : ReadIndex("iso-2022-jp-katakana")) {
    // The index is for encoders: half-width to full-width. Decoding gives the half-width character.
    EXPECT_EQ(Decoded(Encoding::kIso2022Jp, "\x1b(I" + Bytes({pointer + 0x21})), Utf8Of(0xff61 + pointer));
    EXPECT_GT(code, 0x3000U);
  }
}

TEST(CharsetDecoderTest, BrokenSequencesNeverSwallowAscii) {
  for (const Encoding encoding :
       {Encoding::kBig5, Encoding::kEucKr, Encoding::kEucJp, Encoding::kShiftJis, Encoding::kGbk, Encoding::kUtf8}) {
    for (uint32_t lead = 0x80; lead < 0x100; ++lead) {
      const std::string decoded = Decoded(encoding, Bytes({lead, '<', 'a', '>'}));
      EXPECT_TRUE(decoded.ends_with("<a>")) << EncodingName(encoding) << " " << lead << " " << decoded;
    }
  }
}

TEST(CharsetDecoderTest, ErrorsAreThoseOfTheStandard) {
  const std::string bad(kBad);
  EXPECT_EQ(Decoded(Encoding::kUtf8, "a\xf0\x9f\x98"), "a" + bad);
  EXPECT_EQ(Decoded(Encoding::kUtf8,
                    "\xe0\x80\x80"
                    "b"),
            bad + bad + bad + "b");
  EXPECT_EQ(Decoded(Encoding::kUtf8, "\xed\xa0\x80"), bad + bad + bad);
  EXPECT_EQ(Decoded(Encoding::kUtf8, "\xf4\x90\x80\x80"), bad + bad + bad + bad);
  EXPECT_EQ(Decoded(Encoding::kUtf8,
                    "\xe2\x82"
                    "x\xe2\x82\xac"),
            bad + "x\xe2\x82\xac");
  EXPECT_EQ(Decoded(Encoding::kGb18030, "\x81\x30\x81!"), bad + "0" + bad + "!");
  EXPECT_EQ(Decoded(Encoding::kGb18030, "\x81\x30"), bad);
  EXPECT_EQ(Decoded(Encoding::kGb18030, "\x80\xff"), "\xe2\x82\xac" + bad);
  EXPECT_EQ(Decoded(Encoding::kUtf16Le, std::string_view("a\0\x3d\xd8\x00\xde", 6)), "a\xf0\x9f\x98\x80");
  EXPECT_EQ(Decoded(Encoding::kUtf16Be, std::string_view("\xd8\x3d\0a\0", 5)), bad + "a" + bad);
  EXPECT_EQ(Decoded(Encoding::kUtf16Le, std::string_view("\x00\xdc", 2)), bad);
  EXPECT_EQ(Decoded(Encoding::kUserDefined, "a\x80\xff"), "a\xef\x9e\x80\xef\x9f\xbf");
  EXPECT_EQ(Decoded(Encoding::kReplacement, "anything at all"), bad);
  EXPECT_EQ(Decoded(Encoding::kReplacement, ""), "");
  EXPECT_EQ(Decoded(Encoding::kIso2022Jp, "a\x1b(J\\\x1b(Bb"),
            "a\xc2\xa5"
            "b");
  EXPECT_EQ(Decoded(Encoding::kIso2022Jp, "\x1b$B\x1b(B"), bad);
  EXPECT_EQ(Decoded(Encoding::kIso2022Jp, "\x1b$Z"), bad + "$Z");
  EXPECT_EQ(Decoded(Encoding::kIso2022Jp, "\x1b$"), bad + "$");
  EXPECT_EQ(Decoded(Encoding::kIso2022Jp, "\x1b$B!"), bad);
}

TEST(CharsetDecoderTest, ValidUtf8AndAsciiComeBackAsTheInputItself) {
  const std::string text(5000, 'x');
  EXPECT_EQ(CharsetDecoder(Encoding::kUtf8).Decode(text, true).data(), text.data());
  EXPECT_EQ(CharsetDecoder(Encoding::kWindows1252).Decode(text, true).data(), text.data());
  EXPECT_EQ(CharsetDecoder(Encoding::kShiftJis).Decode(text, true).data(), text.data());
}

TEST(CharsetDecoderTest, ResultDoesNotDependOnTheCutting) {
  Rng rng(3);
  for (int round = 0; round < 3000; ++round) {
    const auto encoding = static_cast<Encoding>(rng.Below(kEncodingCount));
    std::string bytes;
    for (uint64_t n = rng.Below(60); n > 0; --n) {
      bytes += static_cast<char>(rng.Chance(0.3) ? rng.Below(128) : rng.Chance(0.1) ? 0x1b : rng.Below(256));
      if (rng.Chance(0.1)) bytes += "\x1b$B";
    }
    const std::string whole = Decoded(encoding, bytes);
    EXPECT_TRUE(IsUtf8(whole));
    CharsetDecoder decoder(encoding);
    std::string pieces;
    for (size_t at = 0; at < bytes.size();) {
      const size_t size = std::min<size_t>(rng.Below(4), bytes.size() - at);
      pieces += decoder.Decode(std::string_view(bytes).substr(at, size), false);
      at += size;
    }
    pieces += decoder.Decode({}, true);
    ASSERT_EQ(pieces, whole) << EncodingName(encoding);
  }
}

TEST(Utf8CheckTest, PrefixIsThatOfTheSlowCheck) {
  Rng rng(5);
  const std::vector<std::string> parts = {"a",
                                          "plain ascii text of some length ",
                                          "\xc3\xa9",
                                          "\xe4\xb8\xad",
                                          "\xf0\x9f\x98\x80",
                                          "\xed\x9f\xbf",
                                          "\xf4\x8f\xbf\xbf",
                                          "\xe0\xa0\x80"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (uint64_t n = rng.Below(120); n > 0; --n) text += parts[rng.Below(parts.size())];
    for (uint64_t n = rng.Below(3); n > 0 && !text.empty(); --n) {
      text[rng.Below(text.size())] = static_cast<char>(rng.Next());
    }
    text.resize(text.size() - std::min<size_t>(rng.Below(3), text.size()));
    const std::vector<char> exact(text.begin(), text.end());  // an over-read is seen by the address sanitizer
    size_t slow = 0;
    while (slow < text.size()) {
      const size_t length = Utf8SequenceLength(std::string_view(text).substr(slow));
      if (length == 0) break;
      slow += length;
    }
    ASSERT_EQ(ValidUtf8Prefix({exact.data(), exact.size()}), slow);
  }
}

struct SniffCase {
  std::string file;
  std::string data;
  std::string encoding;
};

std::vector<SniffCase> LoadSniffCases() {
  std::vector<SniffCase> cases;
  for (const char* name : {"tests1.dat", "tests2.dat", "test-yahoo-jp.dat"}) {
    std::ifstream in(kSuite / name, std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    for (size_t at = all.find("#data\n"); at != std::string::npos;) {
      at += 6;
      const size_t middle = all.find("\n#encoding\n", at);
      const size_t name_at = middle + 11;
      const size_t end = std::min(all.find('\n', name_at), all.size());
      cases.push_back({name, all.substr(at, middle - at), all.substr(name_at, end - name_at)});
      at = all.find("#data\n", end);
    }
  }
  return cases;
}

TEST(CharsetSniffTest, Html5libEncodingSuite) {
  if (!std::filesystem::exists(kSuite)) GTEST_SKIP() << kSuite << " is absent";
  const auto cases = LoadSniffCases();
  size_t right = 0;
  for (const SniffCase& one : cases) {
    const CharsetDecision decision = SniffCharset(one.data, "");
    const auto expected = EncodingForLabel(one.encoding);
    right += decision.encoding == expected ? 1 : 0;
    EXPECT_EQ(decision.encoding, expected) << one.file << " (" << CharsetSourceName(decision.source) << ", "
                                           << EncodingName(decision.encoding) << ", not " << one.encoding << ")\n"
                                           << one.data.substr(0, 400);
  }
  std::printf("conformance html5lib_encoding %zu/%zu\n", right, cases.size());
  EXPECT_EQ(right, cases.size());
  EXPECT_GE(cases.size(), 82U);
}

TEST(CharsetSniffTest, MarkBeatsHeaderBeatsMetaBeatsGuess) {
  const std::string meta = "<meta charset=koi8-r>";
  EXPECT_EQ(SniffCharset("\xef\xbb\xbf" + meta, "shift_jis").encoding, Encoding::kUtf8);
  EXPECT_EQ(SniffCharset(meta, "shift_jis").encoding, Encoding::kShiftJis);
  EXPECT_EQ(SniffCharset(meta, "no-such-charset").encoding, Encoding::kKoi8R);
  EXPECT_EQ(SniffCharset("caf\xc3\xa9 cr\xc3\xa8me br\xc3\xbbl\xc3\xa9"
                         "e",
                         "")
                .encoding,
            Encoding::kUtf8);
  EXPECT_EQ(SniffCharset("plain", "").source, CharsetSource::kDefault);
  EXPECT_EQ(SniffCharset("plain", "").encoding, Encoding::kWindows1252);
}

TEST(CharsetSniffTest, MetaAfterThePrescanIsSeenByTheParser) {
  const std::string meta = "<meta charset=koi8-r>";
  const std::string far(3000, ' ');
  EXPECT_EQ(SniffCharset(far + meta, "").encoding, Encoding::kKoi8R);
  EXPECT_EQ(SniffCharset("<script>" + far + meta + "</script>", "").encoding, Encoding::kWindows1252);
  EXPECT_EQ(SniffCharset("<!--" + far + meta + "-->", "").encoding, Encoding::kWindows1252);
  EXPECT_EQ(SniffCharset(std::string(kDetectBytes, ' ') + meta, "").encoding, Encoding::kWindows1252);
}

TEST(CharsetSniffTest, MetaMetInReadingChangesATentativeEncodingOnce) {
  using enum CharsetSource;
  const auto changed = [](CharsetDecision decision, std::optional<Encoding> meta) {
    const auto found = ChangedEncoding(decision, meta);
    // What was changed once is not changed back: the reader of a document asks once.
    EXPECT_FALSE(found && ChangedEncoding(*found, meta));
    return found ? std::optional(found->encoding) : std::nullopt;
  };
  for (const CharsetSource source : {kMeta, kDetected, kDefault}) {
    EXPECT_EQ(changed({Encoding::kWindows1252, source, 0}, Encoding::kKoi8R), Encoding::kKoi8R);
    EXPECT_EQ(changed({Encoding::kWindows1252, source, 0}, std::nullopt), std::nullopt);
    EXPECT_EQ(changed({Encoding::kKoi8R, source, 0}, Encoding::kKoi8R), std::nullopt);
    EXPECT_EQ(changed({Encoding::kUtf16Le, source, 0}, Encoding::kKoi8R), std::nullopt);
    EXPECT_EQ(changed({Encoding::kKoi8R, source, 0}, Encoding::kUtf16Be), Encoding::kUtf8);
    EXPECT_EQ(changed({Encoding::kKoi8R, source, 0}, Encoding::kUserDefined), Encoding::kWindows1252);
  }
  for (const CharsetSource source : {kByteOrderMark, kHeader}) {
    EXPECT_EQ(changed({Encoding::kUtf8, source, 0}, Encoding::kKoi8R), std::nullopt);
  }
}

TEST(CharsetSniffTest, XmlDeclarationCountsWhereNoMetaDoes) {
  EXPECT_EQ(SniffCharset("<?xml version='1.0' encoding=\"koi8-r\"?><a>", "").encoding, Encoding::kKoi8R);
  EXPECT_EQ(SniffCharset("<?xml version='1.0' encoding='utf-16'?>", "").encoding, Encoding::kUtf8);
}

}  // namespace
}  // namespace portolan
