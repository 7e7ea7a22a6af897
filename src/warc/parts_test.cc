// The small parts: times, digests, fields, chunking, payload decoding, CDXJ lines, POST queries.

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "warc/archived_chunks.h"
#include "warc/cdxj.h"
#include "warc/checks.h"
#include "warc/digest.h"
#include "warc/payload_decoder.h"
#include "warc/post_query.h"
#include "warc/warc_time.h"

namespace portolan {
namespace {

TEST(WarcTimeTest, DatesAreReadInEveryAllowedLength) {
  EXPECT_EQ(ParseWarcDate("2026-01-31T12:30:01Z")->seconds, 1769862601);
  EXPECT_EQ(ParseWarcDate("2026-01-31t12:30:01z")->seconds, 1769862601);
  EXPECT_EQ(ParseWarcDate("2026-01-31T12:30:01.25Z")->nanoseconds, 250'000'000U);
  EXPECT_EQ(ParseWarcDate("2026-01-31T12:30:01.25Z")->fraction_digits, 2);
  EXPECT_TRUE(ParseWarcDate("2026")->partial);
  EXPECT_TRUE(ParseWarcDate("2026-01-31")->partial);
  EXPECT_EQ(ParseWarcDate("1969-12-31T23:59:59Z")->seconds, -1);
  for (const char* bad :
       {"", "blue monday", "2026-13-01", "2026-02-30T00:00:00Z", "2026-01-31T12:30:01", "2026-01-31T24:30:01Z",
        "2026-01-31T12:30:01.Z", "2026-01-31T12:30:01Zx", "2026-01-31 12:30:01Z", "2026-01-31T12:30:01.1234567890Z"}) {
    EXPECT_FALSE(ParseWarcDate(bad).has_value()) << bad;
  }
}

TEST(WarcTimeTest, DigitsAreFilledAndCut) {
  EXPECT_EQ(Format14(*ParseDigits("20260131123001")), "20260131123001");
  EXPECT_EQ(Format14(*ParseDigits("201404010000000000")), "20140401000000");
  EXPECT_EQ(Format14(*ParseDigits("2014")), "20140101000000");
  EXPECT_EQ(Format14(*ParseDigits("201404011230")), "20140401123000");
  EXPECT_EQ(Format14(*ParseDigits("201404011230017")), "20140401123001");
  EXPECT_EQ(Format14(*ParseDigits("2014040112300")), "20140401123000");  // half of the seconds is none
  EXPECT_EQ(Format14(*ParseDigits("20141")), "20140101000000");
  EXPECT_TRUE(ParseDigits("2014040112300")->partial);
  EXPECT_FALSE(ParseDigits("201").has_value());
  EXPECT_FALSE(ParseDigits("20141301").has_value());
  EXPECT_FALSE(ParseDigits("2014040100000x").has_value());
}

TEST(WarcTimeTest, TimesBeyondFourDigitYearsAreClamped) {
  EXPECT_EQ(FormatWarcDate({INT64_MAX}), "9999-12-31T23:59:59Z");
  EXPECT_EQ(FormatWarcDate({INT64_MIN}), "0000-01-01T00:00:00Z");
}

TEST(DigestTest, KnownAnswers) {
  Digester sha1;
  sha1.Update("abc");
  EXPECT_EQ(LabelledSha1(sha1.Finish()), "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5");
  sha1.Start();
  EXPECT_EQ(LabelledSha1(sha1.Finish()), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
  EXPECT_EQ(Base32("f"), "MY======");
  EXPECT_EQ(Base32("foobar"), "MZXW6YTBOI======");
}

TEST(DigestTest, EveryFormIsReadBack) {
  for (const DigestKind kind : {DigestKind::kSha1, DigestKind::kSha256, DigestKind::kSha512, DigestKind::kMd5}) {
    Digester digester(kind);
    digester.Update("abc");
    const std::string raw = digester.Finish();
    const std::string label = std::string(DigestKindName(kind)) + ":";
    for (const std::string& text : {label + Base32(raw), label + Base16(raw)}) {
      const auto parsed = ParseDigest(text);
      ASSERT_TRUE(parsed.has_value()) << text;
      EXPECT_EQ(parsed->kind, kind);
      EXPECT_EQ(parsed->raw, raw);
    }
  }
  EXPECT_FALSE(ParseDigest("sha1:short").has_value());
  EXPECT_FALSE(ParseDigest("nosuch:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5").has_value());
}

TEST(ChecksTest, Addresses) {
  for (const char* good : {"1.2.3.4", "::", "::1", "2001:db8::1", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1::"}) {
    EXPECT_TRUE(IsIpAddress(good)) << good;
  }
  for (const char* bad :
       {"", "1.2.3", "1.2.3.256", "a.b.c.d", "1:2:3", ":::", "1::2::3", "12345::", "1.2.3.4.5", "1:"}) {
    EXPECT_FALSE(IsIpAddress(bad)) << bad;
  }
}

std::string Unchunk(std::string_view text, size_t step) {
  ArchivedChunks decoder;
  std::string out;
  for (size_t at = 0; at < text.size(); at += step) {
    decoder.Feed(text.substr(at, step), [&](std::string_view piece) { out.append(piece); });
  }
  return out + (decoder.done() ? "|done" : "") + (decoder.broken() ? "|broken" : "");
}

TEST(ChunkedTest, FramingIsTakenOffInPiecesOfAnySize) {
  for (size_t step = 1; step < 9; ++step) {
    EXPECT_EQ(Unchunk("4\r\nsome\r\nd;x=y\r\nchunk-encoded\r\n0\r\nT: v\r\n\r\nrest", step), "somechunk-encoded|done");
    EXPECT_EQ(Unchunk("4\nsome\n0\n\n", step), "some|done");
    EXPECT_EQ(Unchunk("4\r\nsomeX", step), "some|broken");
    EXPECT_EQ(Unchunk("<html>", step), "|broken");
    EXPECT_EQ(Unchunk("fffffffffffffffff\r\n", step), "|broken");
  }
}

std::string Compressed(std::string_view bytes, int bits) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(1000 + bytes.size(), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string Decode(std::string_view coding, std::string_view bytes, bool* good = nullptr) {
  FieldList fields;
  fields.Add("Content-Encoding", coding);
  std::string out;
  PayloadDecoder decoder(fields, [&](std::string_view piece) { out.append(piece); });
  bool ok = true;
  for (const char& c : bytes) ok = ok && decoder.Feed(std::string_view(&c, 1)).has_value();
  ok = ok && decoder.Finish().has_value();
  if (good != nullptr) *good = ok;
  return out;
}

TEST(PayloadDecoderTest, GzipAndBothDeflates) {
  const std::string text = "some text, some text, some text";
  EXPECT_EQ(Decode("gzip", Compressed(text, 31)), text);
  EXPECT_EQ(Decode("deflate", Compressed(text, 15)), text);
  EXPECT_EQ(Decode("deflate", Compressed(text, -15)), text);
  EXPECT_EQ(Decode("gzip", text), text) << "not gzip at all: passed on";
  EXPECT_EQ(Decode("br", text), text);
  bool good = true;
  Decode("gzip", Compressed(text, 31).substr(0, 20), &good);
  EXPECT_FALSE(good);
}

TEST(CdxjTest, ACaptureHasCommonCrawlsKeysInOrder) {
  Capture capture;
  capture.url = "https://example.org/a\"b";
  capture.mime = "text/html";
  capture.mime_detected = "text/html";
  capture.status = 200;
  capture.payload_sha1 = "01234567890123456789";
  capture.length = 12;
  capture.offset = 34;
  capture.filename = "x.warc.gz";
  capture.charset = "UTF-8";
  capture.languages = "eng";
  capture.truncated = "length";
  capture.redirect = "https://example.org/c";
  std::string out;
  AppendCdxj(MakeCdxj("org,example)/a\"b", "20260131123001", capture), CdxjStyle::kSpaced, out);
  EXPECT_EQ(out,
            "org,example)/a\"b 20260131123001 {\"url\": \"https://example.org/a\\\"b\", \"mime\": \"text/html\", "
            "\"mime-detected\": \"text/html\", \"status\": \"200\", \"digest\": \"GAYTEMZUGU3DOOBZGAYTEMZUGU3DOOBZ\", "
            "\"length\": \"12\", \"offset\": \"34\", \"filename\": \"x.warc.gz\", \"charset\": \"UTF-8\", "
            "\"languages\": \"eng\", \"truncated\": \"length\", \"redirect\": \"https://example.org/c\"}");
  const auto line = ParseCdxj(out + "\n");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->Get("offset"), "34");
  EXPECT_EQ(*line, MakeCdxj("org,example)/a\"b", "20260131123001", capture));
}

TEST(CdxjTest, LinesOfOthersAreReadAndBrokenOnesNamed) {
  const auto line = ParseCdxj("a)/ 2014 {\"n\":12,\"b\":true,\"o\":{\"x\":[1]}}");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->Get("n"), "12");
  EXPECT_EQ(line->Get("o"), "{\"x\":[1]}");
  for (const char* bad : {"", "a", "a b", "a b {}", "a 2014 []", "a 2014 {", " 2014 {}", "a 123456789012345678 {}"}) {
    const auto parsed = ParseCdxj(bad);
    ASSERT_FALSE(parsed.has_value()) << bad;
    EXPECT_EQ(parsed.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(PostQueryTest, BodiesBecomeQueriesByTheirType) {
  EXPECT_EQ(PostQuery("application/x-www-form-urlencoded; charset=utf-8", "a=1&b=[]"), "a=1&b=[]");
  EXPECT_EQ(PostQuery("application/json", R"({"a":{"b":"x y"},"c":[1,true,{"b":null}]})"),
            "b=x+y&c=1&c.2_=true&b.2_=null");
  EXPECT_EQ(PostQuery("multipart/form-data; boundary=\"XX\"",
                      "--XX\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\nv&w\r\n--XX--\r\n"),
            "k=v%26w");
  EXPECT_EQ(PostQuery("image/png", "somechunk-encodeddata"), "__wb_post_data=c29tZWNodW5rLWVuY29kZWRkYXRh");
  EXPECT_EQ(PostQuery("application/json", "{broken"), "__wb_post_data=e2Jyb2tlbg==");
  EXPECT_EQ(PostQuery("application/json", std::string(30'000, '[')).substr(0, 15), "__wb_post_data=");
  EXPECT_EQ(AppendPostQuery("http://a/?x#f", "POST", "q=1"), "http://a/?x&__wb_method=POST&q=1");
}

}  // namespace
}  // namespace portolan
