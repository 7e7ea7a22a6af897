#include "http/mime.h"

#include <gtest/gtest.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "http/fact_files.h"
#include "http/sniff.h"

namespace portolan {
namespace {

using Json = nlohmann::json;

// The tests write bytes as code points up to U+00FF.
std::string ToBytes(const std::string& utf8) {
  std::string bytes;
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto lead = static_cast<uint8_t>(utf8[i]);
    if (lead < 0x80) {
      bytes += utf8[i];
    } else if (lead < 0xe0) {
      bytes += static_cast<char>((lead & 3) << 6 | (static_cast<uint8_t>(utf8[++i]) & 0x3f));
    } else {
      // No byte stands for it; neither it nor DEL may be in a parameter.
      bytes += '\x7f';
      i += lead < 0xf0 ? 2 : 3;
    }
  }
  return bytes;
}

struct Count {
  size_t passed = 0;
  size_t total = 0;
  void Add(bool pass, const std::string& what) {
    total += 1;
    passed += pass ? 1 : 0;
    EXPECT_TRUE(pass) << what;
  }
  void Print(const char* suite) const {
    std::cout << "conformance " << suite << " " << passed << "/" << total << std::endl;
  }
};

std::optional<Json> Load(const std::string& path) {
  const auto text = ReadFacts("mime/" + path);
  if (!text) return std::nullopt;
  return Json::parse(*text);
}

TEST(MimeFactsTest, WebPlatformTestsParseAsTheyShould) {
  Count count;
  for (const char* file : {"wpt/mime-types.json", "wpt/generated-mime-types.json"}) {
    const auto facts = Load(file);
    if (!facts) GTEST_SKIP() << "no " << kFacts << "mime";
    for (const Json& fact : *facts) {
      if (fact.is_string()) continue;
      const auto mime = ParseMimeType(ToBytes(fact["input"]));
      if (fact["output"].is_null()) {
        count.Add(!mime.has_value(), fact.dump());
      } else {
        count.Add(mime.has_value() && mime->Serialize() == ToBytes(fact["output"]), fact.dump());
      }
      if (fact.contains("minimizedMIMEType")) {
        const std::string minimized(mime ? mime->Minimized() : "");
        count.Add(minimized == fact["minimizedMIMEType"].get<std::string>(), fact.dump());
      }
    }
  }
  count.Print("mime-types");
}

TEST(MimeFactsTest, WebPlatformTestsMinimizeAndGroupAsTheyShould) {
  Count count;
  const auto minimized = Load("wpt/mime-types-minimized.json");
  const auto groups = Load("wpt/mime-groups.json");
  if (!minimized || !groups) GTEST_SKIP() << "no " << kFacts << "mime";
  for (const Json& fact : *minimized) {
    if (fact.is_string()) continue;
    const auto mime = ParseMimeType(fact["input"].get<std::string>());
    count.Add(mime && mime->Minimized() == fact["output"].get<std::string>(), fact.dump());
  }
  for (const Json& fact : *groups) {
    if (fact.is_string()) continue;
    const auto mime = ParseMimeType(fact["input"].get<std::string>());
    ASSERT_TRUE(mime.has_value()) << fact;
    std::set<std::string> ours;
    if (mime->IsImage()) ours.insert("image");
    if (mime->IsAudioOrVideo()) ours.insert("audio or video");
    if (mime->IsFont()) ours.insert("font");
    if (mime->IsZipBased()) ours.insert("ZIP-based");
    if (mime->IsArchive()) ours.insert("archive");
    if (mime->IsXml()) ours.insert("XML");
    if (mime->IsHtml()) ours.insert("HTML");
    if (mime->IsScriptable()) ours.insert("scriptable");
    if (mime->IsJavaScript()) ours.insert("JavaScript");
    if (mime->IsJson()) ours.insert("JSON");
    count.Add(ours == fact["groups"].get<std::set<std::string>>(), fact.dump());
  }
  count.Print("mime-groups");
}

TEST(MimeFactsTest, SeveralContentTypeFieldsAreExtractedAsFetchDoes) {
  const auto pages = Load("wpt-fetch/content-type/resources/content-types.json");
  const auto scripts = Load("wpt-fetch/content-type/resources/script-content-types.json");
  if (!pages || !scripts) GTEST_SKIP() << "no " << kFacts << "mime";
  // Each fact is served as one field per value and as all values in one field.
  Count count;
  const auto extract = [](const Json& values, bool one_field) {
    std::string lines;
    for (const Json& value : values) {
      const std::string text = value;
      lines +=
          one_field && !lines.empty() ? ", " + text : (one_field ? "" : "\r\n") + std::string("Content-Type: ") + text;
      if (one_field) continue;
    }
    HeaderFields fields;
    EXPECT_TRUE(fields.Parse(lines, 100));
    return ExtractMimeType(fields);
  };
  for (const Json& fact : *pages) {
    for (const bool one_field : {true, false}) {
      const auto mime = extract(fact["contentType"], one_field);
      const std::string expected = fact["mimeType"];
      count.Add(mime && mime->Serialize() == expected, fact.dump() + " " + (mime ? mime->Serialize() : "none"));
    }
  }
  for (const Json& fact : *scripts) {
    for (const bool one_field : {true, false}) {
      const auto mime = extract(fact["contentType"], one_field);
      const bool executes = mime && mime->IsJavaScript();
      const std::string* charset = mime ? mime->Parameter("charset") : nullptr;
      bool right = executes == fact["executes"].get<bool>();
      if (right && executes && fact["encoding"].is_string())
        right = charset && *charset == fact["encoding"].get<std::string>();
      if (right && executes && fact["encoding"].is_null()) right = charset == nullptr;
      count.Add(right, fact.dump() + " " + (mime ? mime->Serialize() : "none"));
    }
  }
  count.Print("mime-extract");
}

TEST(MimeFactsTest, ContentLengthIsExtractedAsFetchDoes) {
  const auto facts = Load("wpt-fetch/content-length/resources/content-lengths.json");
  if (!facts) GTEST_SKIP() << "no " << kFacts << "mime";
  Count count;
  for (const Json& fact : *facts) {
    HeaderFields fields;
    ASSERT_TRUE(fields.Parse(fact["input"].get<std::string>(), 100));
    bool conflict = false;
    // 42 is the length of the body that the tests' server sends before it closes.
    const uint64_t length = ContentLength(fields, conflict).value_or(42);
    count.Add(fact["output"].is_null() ? conflict : !conflict && length == fact["output"].get<uint64_t>(), fact.dump());
  }
  count.Print("content-length");
}

TEST(MimeTest, ParametersPastTheLimitAreLeftOut) {
  std::string text = "a/b";
  for (int i = 0; i < 1000; ++i) text += ";p" + std::to_string(i) + "=x";
  EXPECT_EQ(ParseMimeType(text)->parameters.size(), kMaxMimeParameters);
}

std::string Sniff(std::optional<std::string_view> type, std::string_view bytes, bool no_sniff = false) {
  return SniffContent(type, bytes, no_sniff).essence;
}

TEST(SniffTest, UndeclaredBodiesAreKnownByTheirFirstBytes) {
  using namespace std::string_view_literals;
  EXPECT_EQ(Sniff({}, " \n<!doctype html>x"), "text/html");
  EXPECT_EQ(Sniff({}, "<p>x"), "text/html");
  EXPECT_EQ(Sniff({}, "<pre>x"), "text/plain");
  EXPECT_EQ(Sniff({}, "<?xml version='1.0'?>"), "text/xml");
  EXPECT_EQ(Sniff({}, "%PDF-1.7"), "application/pdf");
  EXPECT_EQ(Sniff({}, "\x89PNG\r\n\x1a\n..."), "image/png");
  EXPECT_EQ(Sniff({}, "RIFFxxxxWEBPVP8 "), "image/webp");
  EXPECT_EQ(Sniff({}, "RIFFxxxxWAVEfmt "), "audio/wave");
  EXPECT_EQ(Sniff({},
                  "\0\0\0\x14"
                  "ftypisom\0\0\0\0isom"sv),
            "video/mp4");
  EXPECT_EQ(Sniff({},
                  "\0\0\0\x14"
                  "ftypavif\0\0\0\0avif"sv),
            "image/avif");
  EXPECT_EQ(Sniff({}, "\x1a\x45\xdf\xa3\x42\x82\x84webm"), "video/webm");
  EXPECT_EQ(Sniff({}, "PK\3\4...."), "application/zip");
  EXPECT_EQ(Sniff({}, "\x1f\x8b\x08\0"sv), "application/x-gzip");
  EXPECT_EQ(Sniff({}, "wOF2...."), "font/woff2");
  EXPECT_EQ(Sniff({}, "\xff\xfe\0\0"sv), "text/plain");
  EXPECT_EQ(Sniff({}, "plain words"), "text/plain");
  EXPECT_EQ(Sniff({}, "\1\2\3"), "application/octet-stream");
  EXPECT_EQ(Sniff({}, ""), "text/plain");
}

TEST(SniffTest, TwoMpegFramesInARowAreMp3) {
  std::string frame("\xff\xfb\x90\x64", 4);
  frame.resize(417, 'x');
  EXPECT_EQ(Sniff({}, frame + frame), "audio/mpeg");
  EXPECT_EQ(Sniff({}, frame), "text/plain");
}

TEST(SniffTest, DeclaredTypesAreBelievedAsTheStandardSays) {
  EXPECT_EQ(Sniff("application/json", "<!doctype html>"), "application/json");
  EXPECT_EQ(Sniff("text/plain;charset=utf-8", "\1\2"), "text/plain");
  EXPECT_EQ(Sniff("text/plain", "\1\2\x89"), "application/octet-stream");
  EXPECT_EQ(Sniff("text/plain", "%PDF-\1"), "application/octet-stream");  // nothing scriptable comes out of plain text
  EXPECT_EQ(Sniff("text/html", "<?xml ?><!-- c --><rss version='2.0'>"), "application/rss+xml");
  EXPECT_EQ(Sniff("text/html", "<?xml ?><feed>"), "application/atom+xml");
  EXPECT_EQ(Sniff("text/html", "<html>"), "text/html");
  EXPECT_EQ(Sniff("image/png", "GIF89a"), "image/gif");
  EXPECT_EQ(Sniff("image/png", "??"), "image/png");
  EXPECT_EQ(Sniff("image/png", "GIF89a", true), "image/png");
  EXPECT_EQ(Sniff("*/*", "<html >"), "text/html");
  EXPECT_EQ(Sniff("garbage", "<html >", true), "text/plain");
}

TEST(SniffTest, KindsFoldTypes) {
  const auto kind = [](std::string_view type) { return ContentKindName(SniffContent(type, "", true).kind); };
  EXPECT_EQ(kind("text/html"), "html");
  EXPECT_EQ(kind("application/xhtml+xml"), "xml");
  EXPECT_EQ(kind("application/ld+json"), "json");
  EXPECT_EQ(kind("text/css"), "script");
  EXPECT_EQ(kind("application/vnd.openxmlformats-officedocument.wordprocessingml.document"), "document");
  EXPECT_EQ(kind("application/vnd.ms-fontobject"), "font");
  EXPECT_EQ(kind("image/svg+xml"), "image");
  EXPECT_EQ(kind("application/x-tar"), "archive");
  EXPECT_EQ(kind("application/x-shockwave-flash"), "binary");
}

}  // namespace
}  // namespace portolan
