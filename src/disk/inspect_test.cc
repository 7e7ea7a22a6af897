#include "disk/inspect.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "disk/drum.h"
#include "disk/queue.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::Contains;
using testing::HasSubstr;

// A store with one file of every kind.
class InspectTest : public testing::Test {
 protected:
  void SetUp() override {
    Manifest manifest = Manifest::Open(env_, "store").value();
    DeferredExecutor executor;
    DrumOptions options;
    options.name = "drum";
    options.value_size = 300;
    options.memory = 1 << 20;
    options.bucket_bits = 5;
    auto drum = Drum::Open(env_, manifest, executor, options).value();
    DiskQueue::Options queue_options;
    queue_options.name = "queue";
    auto queue = DiskQueue::Open(env_, manifest, queue_options).value();
    struct ToNobody : DrumSink {
      Status OnAnswer(const DrumAnswer&) override { return {}; }
    } nobody;
    const std::string value(300, 'v');
    for (uint64_t i = 0; i < 3000; ++i) {
      ASSERT_TRUE(drum->Add({.key = Mix64(i % 900), .value = value, .aux = "tuple " + std::to_string(i)}));
      ASSERT_TRUE(queue->Append("record " + std::to_string(i)));
      if (i == 100 || i == 200) {
        ASSERT_TRUE(drum->StartRound());
      }
      if (i == 150) {
        executor.RunAll();
        ASSERT_TRUE(drum->TakeResults(nobody, ~0ULL));
      }
      if (i == 2900) executor.RunAll();  // its values stay until they are taken
    }
    Checkpointable* const all[] = {drum.get(), queue.get()};
    ASSERT_TRUE(manifest.Commit(all));
  }

  MemEnv env_;
};

TEST_F(InspectTest, EveryKindOfFileIsReadWhole) {
  std::set<std::string> kinds;
  const auto names = env_.List("store").value();
  for (const std::string& name : names) {
    const auto report = CheckFile(env_, "store/" + name);
    ASSERT_TRUE(report) << report.error().ToString();
    kinds.insert(report->kind);
    std::vector<std::string> lines;
    ASSERT_TRUE(DumpFile(env_, "store/" + name, 5, [&](const std::string& line) { lines.push_back(line); }));
    EXPECT_FALSE(lines.empty());
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"manifest", "queue segment", "DRUM tuple log", "DRUM row log", "DRUM run",
                                          "DRUM repository Z", "DRUM answers"}));
}

TEST_F(InspectTest, DumpShowsRecordsToTheLimit) {
  std::vector<std::string> lines;
  ASSERT_TRUE(DumpFile(env_, "store/queue-000000001.q", 2, [&](const std::string& line) { lines.push_back(line); }));
  EXPECT_THAT(lines, Contains("  \"record 0\""));
  EXPECT_THAT(lines, Contains("  \"record 1\""));
  EXPECT_EQ(lines.back(), "… 2998 more records (--limit)");
}

TEST_F(InspectTest, DamageAnywhereIsNamedWithFileAndOffset) {
  const auto names = env_.List("store").value();
  for (const std::string& name : names) {
    const std::string path = "store/" + name;
    const std::string good = ReadWholeFile(env_, path).value();
    for (size_t at = 0; at < good.size(); at += 1 + good.size() / 97) {
      env_.Corrupt(path, at, std::string(1, static_cast<char>(good[at] ^ 0x20)));
      const auto report = CheckFile(env_, path);
      ASSERT_FALSE(report) << path << " at " << at;
      EXPECT_THAT(report.error().message(), HasSubstr(path));
      env_.Corrupt(path, at, good.substr(at, 1));
    }
    ASSERT_TRUE(CheckFile(env_, path)) << "restored";
  }
}

TEST_F(InspectTest, ForeignFileIsNotOurs) {
  ASSERT_TRUE(ReplaceFile(env_, "store/notes.txt", "just some words here"));
  EXPECT_EQ(CheckFile(env_, "store/notes.txt").error().ToString(), "corrupt: store/notes.txt: at 0: no known magic");
}

}  // namespace
}  // namespace portolan
