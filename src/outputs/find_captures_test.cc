#include "outputs/find_captures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Line(const std::string& key, const std::string& time, const std::string& url, int offset) {
  return key + " " + time + " {\"url\": \"" + url + "\", \"digest\": \"D" + time + "\", \"offset\": \"" +
         std::to_string(offset) + "\", \"filename\": \"F.warc.gz\"}\n";
}

void Put(Env& env, const std::string& path, const std::string& text) {
  auto file = env.Open(path, OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append(text).has_value());
}

std::vector<std::string> Times(const Result<std::vector<FoundCapture>>& captures) {
  std::vector<std::string> times;
  for (const auto& capture : captures.value())
    times.push_back(capture.timestamp + "@" + std::to_string(capture.offset));
  return times;
}

TEST(FindCapturesTest, EveryKeyOfASortedIndexIsFound) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("warc").has_value());
  std::vector<std::string> lines;
  for (int i = 0; i < 3000; ++i) {
    const std::string path = std::to_string(i / 3) + std::string(i % 97, 'x');
    lines.push_back(Line("test,a)/" + path, "2024010100000" + std::to_string(i % 3), "http://a.test/" + path, i));
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  Put(env, "warc/one.cdxj", text);
  for (int i = 0; i < 3000; ++i) {
    const std::string path = std::to_string(i / 3) + std::string(i % 97, 'x');
    const auto found = FindCaptures(env, {"warc", "nowhere"}, "test,a)/" + path, "http://a.test/" + path).value();
    ASSERT_FALSE(found.empty()) << i;
    EXPECT_TRUE(std::ranges::any_of(found, [&](const auto& c) { return c.offset == static_cast<uint64_t>(i); }));
    EXPECT_EQ(found[0].path, "warc/F.warc.gz");
  }
  for (const std::string key : {"a", "test,a)/", "test,a)/0", "test,a)/5000", "zz"}) {
    EXPECT_LE(FindCaptures(env, {"warc"}, key, "").value().size(), 1U) << key;
  }
}

TEST(FindCapturesTest, GrowingIndexesAndOtherSpellingsAreRead) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("a").has_value());
  ASSERT_TRUE(env.CreateDirs("b").has_value());
  Put(env, "a/1.cdxj", Line("k", "20240101000000", "http://x.test/", 1));
  Put(env, "a/1.cdxj.part", Line("k", "20240101000000", "http://x.test/", 1));
  Put(env, "b/2.cdxj.part",
      Line("z", "20250101000000", "http://z.test/", 7) + Line("k", "20230101000000", "https://x.test/", 2) +
          "k 2 garbage\nk 20260101000000 {\"url\": \"torn");
  Put(env, "b/index.cdxj", Line("k", "20240101000000", "http://x.test/", 1));
  EXPECT_THAT(Times(FindCaptures(env, {"a", "b"}, "k", "other spelling")),
              ElementsAre("20230101000000@2", "20240101000000@1"));
  EXPECT_THAT(Times(FindCaptures(env, {"a", "b"}, "k", "http://x.test/")), ElementsAre("20240101000000@1"));
  EXPECT_THAT(Times(FindCaptures(env, {"a", "b"}, "none", "")), IsEmpty());
}

TEST(FindCapturesTest, ATimeMeansTheNewestCaptureUpToItsEnd) {
  std::vector<FoundCapture> captures(3);
  captures[0].timestamp = "20230601000000";
  captures[1].timestamp = "20240301120000";
  captures[2].timestamp = "20240301120005";
  EXPECT_EQ(&CaptureAt(captures, ""), &captures[2]);
  EXPECT_EQ(&CaptureAt(captures, "2023"), &captures[0]);
  EXPECT_EQ(&CaptureAt(captures, "20240301120004"), &captures[1]);
  EXPECT_EQ(&CaptureAt(captures, "2024"), &captures[2]);
  EXPECT_EQ(&CaptureAt(captures, "2022"), &captures[0]) << "the oldest, if all are later";
}

}  // namespace
}  // namespace portolan
