// The steps of the MIME Sniffing standard, by section and step; Departure_ where we choose otherwise (sniff.h).

#include "http/sniff.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

using namespace std::string_view_literals;

std::string Sniff(std::optional<std::string_view> type, std::string_view bytes, bool no_sniff = false) {
  return SniffContent(type, bytes, no_sniff).essence;
}

constexpr std::string_view kPng = "\x89PNG\r\n\x1a\n\0\0"sv;
constexpr std::string_view kPdf = "%PDF-1.7\n\1\2"sv;

TEST(SniffStandardTest, S5_1_ApacheBugFlagIsSetByFourExactValues) {
  for (const std::string_view value : {"text/plain", "text/plain; charset=ISO-8859-1", "text/plain; charset=iso-8859-1",
                                       "text/plain; charset=UTF-8"}) {
    EXPECT_EQ(Sniff(value, kPng), "application/octet-stream") << value;
  }
  for (const std::string_view value : {"Text/plain", "text/plain;charset=UTF-8", "text/plain; charset=utf-8",
                                       "text/plain; charset=\"UTF-8\"", "text/plain; charset=koi8-r", "text/plain "}) {
    EXPECT_EQ(Sniff(value, kPng), "text/plain") << value;
  }
}

TEST(SniffStandardTest, S7_Step2_UnknownTypesAreIdentifiedWithScriptsUnlessNoSniff) {
  for (const auto type :
       {std::optional<std::string_view>(), std::optional<std::string_view>("unknown/unknown"),
        std::optional<std::string_view>("application/unknown"), std::optional<std::string_view>("*/*")}) {
    EXPECT_EQ(Sniff(type, "<html>"), "text/html");
    EXPECT_EQ(Sniff(type, "<html>", true), "text/plain");
    EXPECT_EQ(Sniff(type, kPng, true), "image/png");
  }
}

TEST(SniffStandardTest, S7_Step3_NoSniffKeepsTheSuppliedType) {
  EXPECT_EQ(Sniff("text/plain", kPng, true), "text/plain");
  EXPECT_EQ(Sniff("text/html", "<rss>", true), "text/html");
  EXPECT_EQ(Sniff("image/png", "GIF89a", true), "image/png");
}

TEST(SniffStandardTest, S7_2_Steps2And3_AMarkMakesText) {
  EXPECT_EQ(Sniff("text/plain", "\xfe\xff\0\1"sv), "text/plain");
  EXPECT_EQ(Sniff("text/plain", "\xff\xfe\1\0"sv), "text/plain");
  EXPECT_EQ(Sniff("text/plain", "\xff\xfe"), "text/plain");
  EXPECT_EQ(Sniff("text/plain", "\xef\xbb\xbf\0"sv), "text/plain");
  EXPECT_EQ(Sniff("text/plain", "\xef\xbb\0"sv), "application/octet-stream");
}

TEST(SniffStandardTest, S7_2_Step4_NoBinaryByteIsText) {
  EXPECT_EQ(Sniff("text/plain", ""), "text/plain");
  EXPECT_EQ(Sniff("text/plain", "<html><script>"), "text/plain");
  EXPECT_EQ(Sniff("text/plain", "caf\xe9\t\n\f\r\x1b[0m"), "text/plain");
  EXPECT_EQ(Sniff("text/plain", std::string(kSniffBytes, 'a') + '\0'), "text/plain");  // past the resource header
}

TEST(SniffStandardTest, S7_2_Step5_BinaryBytesAreOctetStreamWhateverTheyBeginWith) {
  for (const std::string_view bytes : {kPng, kPdf, "\x1f\x8b\x08\0"sv, "PK\3\4"sv, "GIF89a\1\0"sv, "OggS\0"sv,
                                       "wOF2\0"sv, "\0\1\0\0"sv, "<html>\0"sv, "%!PS-Adobe-\4"sv}) {
    EXPECT_EQ(Sniff("text/plain", bytes), "application/octet-stream");
    EXPECT_EQ(SniffContent("text/plain", bytes, false).kind, ContentKind::kBinary);
  }
  for (int byte = 0; byte < 256; ++byte) {
    const bool binary = byte <= 8 || byte == 0xb || (byte >= 0xe && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f);
    EXPECT_EQ(Sniff("text/plain", std::string("x") + static_cast<char>(byte)),
              binary ? "application/octet-stream" : "text/plain")
        << byte;
  }
}

TEST(SniffStandardTest, S7_Step1_XmlIsBelieved) {
  EXPECT_EQ(Sniff("application/rss+xml", kPng), "application/rss+xml");
  EXPECT_EQ(Sniff("image/svg+xml", kPng), "image/svg+xml");
}

TEST(SniffStandardTest, Departure_7_Step1_HtmlMayBeAFeed) {
  EXPECT_EQ(Sniff("text/html", "\xef\xbb\xbf \n<?xml?><!DOCTYPE x><!-- <feed> --><rss"), "application/rss+xml");
  EXPECT_EQ(Sniff("text/html", "<?><feed>"), "text/html");  // the mark that opens does not close
  EXPECT_EQ(Sniff("text/html", "<?><feed>?><feed>"), "application/atom+xml");
  EXPECT_EQ(Sniff("text/html",
                  "<rdf:RDF xmlns='http://www.w3.org/1999/02/22-rdf-syntax-ns#' "
                  "x='http://purl.org/rss/1.0/'>"),
            "application/rss+xml");
  EXPECT_EQ(Sniff("text/html", "<rdf:RDF x='http://purl.org/rss/1.0/'>"), "text/html");
  EXPECT_EQ(Sniff("text/html", "x<rss"), "text/html");
}

TEST(SniffStandardTest, S7_Steps5To8_ImagesAndMediaByTheirBytes) {
  EXPECT_EQ(Sniff("image/gif", kPng), "image/png");
  EXPECT_EQ(Sniff("audio/mpeg", "OggS\0"sv), "application/ogg");
  EXPECT_EQ(Sniff("image/gif", "OggS\0"sv), "image/gif");
  EXPECT_EQ(Sniff("font/woff", kPng), "font/woff");
  EXPECT_EQ(Sniff("application/zip", kPng), "application/zip");
}

TEST(SniffStandardTest, S7_1_Step2_MarksOfUnknownTypesNeedFourBytes) {
  EXPECT_EQ(Sniff({}, "\xff\xfe\0"sv), "application/octet-stream");
  EXPECT_EQ(Sniff({}, "\xff\xfe\0\0"sv), "text/plain");
  EXPECT_EQ(Sniff({}, "\xef\xbb\xbf\0"sv), "text/plain");
  EXPECT_EQ(Sniff({}, "\xef\xbb\xbf"), "text/plain");  // step 9: no binary byte
}

TEST(SniffStandardTest, Departure_6_2_1_IsoMediaOfAnyBrand) {
  EXPECT_EQ(Sniff({},
                  "\0\0\0\x10"
                  "ftypavif\0\0\0\0"sv),
            "image/avif");
  EXPECT_EQ(Sniff({},
                  "\0\0\0\x10"
                  "ftypisom\0\0\0\0"sv),
            "video/mp4");
}

TEST(SniffStandardTest, S6_2_2_WebmIsNamedBehindAnyOfItsMarks) {
  EXPECT_EQ(Sniff({}, "\x1a\x45\xdf\xa3\x42\x82\x84mkv.\x42\x82\x84webm"), "video/webm");
  EXPECT_EQ(Sniff({}, "\x1a\x45\xdf\xa3\x42\x82\x84mkv.\x01"), "application/octet-stream");
}

TEST(SniffStandardTest, S6_4_RarIsMarkedByAnExclamationMark) {
  EXPECT_EQ(Sniff({}, "Rar!\x1a\7\0"sv), "application/x-rar-compressed");
  EXPECT_EQ(Sniff({}, "Rar \x1a\7\0"sv), "application/octet-stream");
}

TEST(SniffStandardTest, Departure_7_1_UnknownTypesMayBeFonts) {
  EXPECT_EQ(Sniff({}, "wOF2\0\1\0\0"sv), "font/woff2");
  EXPECT_EQ(Sniff("text/plain", "wOF2\0\1\0\0"sv), "application/octet-stream");
}

}  // namespace
}  // namespace portolan
