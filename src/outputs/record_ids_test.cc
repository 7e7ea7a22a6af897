#include "outputs/record_ids.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "io/clock.h"
#include "io/mem_env.h"
#include "outputs/warc_output.h"
#include "outputs/warc_samples.h"

namespace portolan {
namespace {

TEST(RecordIdsTest, NamesEachRepeatAndTheFirst) {
  for (const size_t memory : {size_t{64}, size_t{1} << 20}) {
    MemEnv env;
    ASSERT_TRUE(env.CreateDirs("tmp"));
    RecordIds ids(env, {.dir = "tmp", .memory = memory});
    ASSERT_TRUE(ids.Add("<urn:uuid:a>", {2, 30}));
    ASSERT_TRUE(ids.Add("<urn:uuid:b>", {2, 40}));
    ASSERT_TRUE(ids.Add("<urn:uuid:a>", {1, 20}));
    ASSERT_TRUE(ids.Add("", {1, 25}));
    ASSERT_TRUE(ids.Add("", {1, 26}));
    ASSERT_TRUE(ids.Add("<urn:uuid:c>", {3, 1}));
    ASSERT_TRUE(ids.Add("<urn:uuid:a>", {1, 10}));
    std::vector<uint64_t> found;
    const auto count = ids.ForEachRepeat([&](const RecordIds::Place& place, const RecordIds::Place& first) {
      found.push_back(place.offset);
      EXPECT_EQ(first.file, 1U);
      EXPECT_EQ(first.offset, 10U);
    });
    EXPECT_EQ(count.value(), 2U);
    EXPECT_THAT(found, testing::ElementsAre(20, 30));
  }
}

TEST(RecordIdsTest, WarcinfoRecordsOfTwoCrawlsAndTwoDirectoriesHaveTheirOwn) {
  std::set<std::string> ids;
  size_t files = 0;
  for (int crawl = 0; crawl < 3; ++crawl) {
    MemEnv env;
    const Manifest manifest = Manifest::Open(env, "state").value();
    WarcOutput::Options options;
    options.directories = {"a", "b"};
    options.files.file_size = 1;
    options.writing.threads = false;
    auto archive = WarcOutput::Open(env, Clock::Real(), manifest, options).value();
    for (int n = 0; n < 6; ++n) archive->Write(SampleItem(n));
    ASSERT_TRUE(archive->Finish());
    for (const std::string dir : {"a", "b"}) {
      const std::vector<std::string> names = env.List(dir).value();
      for (const std::string& name : names) {
        if (!name.ends_with(".warc.gz")) continue;
        ++files;
        const std::string bytes = ReadWholeFile(env, JoinPath(dir, name)).value();
        WarcReader reader(MemorySource(bytes), {});
        ASSERT_TRUE(reader.Next().value());
        EXPECT_TRUE(ids.emplace(reader.record().fields.Get(warc_field::kRecordId)).second) << name;
      }
    }
  }
  EXPECT_EQ(ids.size(), files);
  EXPECT_GT(files, 6U);
}

}  // namespace
}  // namespace portolan
