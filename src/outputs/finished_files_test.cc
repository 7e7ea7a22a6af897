#include "outputs/finished_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/mem_env.h"
#include "io/rng.h"
#include "warc/gzip_member.h"

namespace portolan {
namespace {

using testing::HasSubstr;

constexpr const char* kWarc = "a/PORTOLAN-20260131123001250-00001-host.warc.gz";
constexpr const char* kIndex = "a/PORTOLAN-20260131123001250-00001-host.cdxj";

std::string Noise(size_t bytes, uint64_t seed) {
  Rng rng(seed);
  std::string noise;
  while (noise.size() < bytes) noise += static_cast<char>(rng.Next());
  return noise;
}

class FinishedFilesTest : public testing::Test {
 protected:
  FinishedFilesTest() : gzip_(GzipMember::Create(1).value()) { EXPECT_TRUE(env_.CreateDirs("a")); }

  // One more record, with its line in the index.
  void Add(const std::string& body) {
    const uint64_t offset = warc_.size();
    const size_t length = gzip_.Append("WARC/1.1\r\n\r\n" + body, warc_);
    index_ += "org,example)/ 20260131123001 {\"length\": \"" + std::to_string(length) + "\", \"offset\": \"" +
              std::to_string(offset) + "\"}\n";
  }
  std::string Damage(const std::string& warc) {
    EXPECT_TRUE(ReplaceFile(env_, kWarc, warc));
    EXPECT_TRUE(ReplaceFile(env_, kIndex, index_));
    const std::vector<std::string> damages = DamageOfFinished(env_, {"a"}, "PORTOLAN");
    EXPECT_LE(damages.size(), 1U);
    return damages.empty() ? "" : damages.front();
  }

  MemEnv env_;
  GzipMember gzip_;
  std::string warc_;
  std::string index_;
};

TEST_F(FinishedFilesTest, WholeFilesAreWhole) {
  for (uint64_t i = 0; i < 50; ++i) Add(Noise(i * 1000, i));
  EXPECT_EQ(Damage(warc_), "");
  Add(Noise(2'000'000, 99));  // larger than the first look at the end
  EXPECT_EQ(Damage(warc_), "");
}

TEST_F(FinishedFilesTest, AnArchivedWarcFileAtTheEndIsNoDamage) {
  for (uint64_t i = 0; i < 50; ++i) Add(Noise(3000, i));
  const std::string inside = warc_;
  Add(inside);
  EXPECT_NE(warc_.rfind(inside.substr(inside.size() - 100)), std::string::npos);  // it is stored as it is
  EXPECT_EQ(Damage(warc_), "");
  EXPECT_THAT(Damage(warc_.substr(0, warc_.size() - 8)), HasSubstr("its end is not the end of a WARC record"));
}

TEST_F(FinishedFilesTest, DamageIsNamed) {
  for (uint64_t i = 0; i < 50; ++i) Add(Noise(5000, i));
  for (const size_t lost : {1, 7, 100, 6000, 100'000}) {
    EXPECT_THAT(Damage(warc_.substr(0, warc_.size() - lost)), HasSubstr(kWarc)) << lost;
  }
  EXPECT_THAT(Damage(warc_ + std::string(4096, '\0')), HasSubstr("its end"));
  EXPECT_THAT(Damage(std::string(100, '\0') + warc_.substr(100)), HasSubstr("its beginning"));
  EXPECT_THAT(Damage(""), HasSubstr("its beginning"));
  // Whole members are missing at the end, or overwritten in the middle: the index knows.
  const size_t last = warc_.rfind("\x1f\x8b\x08");
  EXPECT_THAT(Damage(warc_.substr(0, last)), HasSubstr("its index names"));
  std::string holes = warc_;
  holes.replace(2000, 100'000, 100'000, '\0');
  EXPECT_THAT(Damage(holes), HasSubstr("where none begins"));
  ASSERT_TRUE(env_.Remove(kWarc));
  const std::vector<std::string> gone = DamageOfFinished(env_, {"a"}, "PORTOLAN");
  ASSERT_EQ(gone.size(), 1U);
  EXPECT_THAT(gone.front(), HasSubstr("it is missing"));
}

TEST_F(FinishedFilesTest, OtherFilesAreNotLookedAt) {
  ASSERT_TRUE(ReplaceFile(env_, "a/OTHER-20260131123001250-00001-host.cdxj", "x"));
  ASSERT_TRUE(ReplaceFile(env_, "a/PORTOLAN-20260131123001250-00002-host.warc.gz", "growing"));
  ASSERT_TRUE(ReplaceFile(env_, "a/PORTOLAN-20260131123001250-00002-host.cdxj.part", "x"));
  EXPECT_TRUE(DamageOfFinished(env_, {"a", "nowhere"}, "PORTOLAN").empty());
}

}  // namespace
}  // namespace portolan
