#include "disk/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ManifestSection Example() {
  ManifestSection section;
  section.name = "urlseen";
  section.kind = "drum";
  section.files = {{"urlseen-000003.z", 123456}, {"urlseen-000004.tuples", 16}};
  section.numbers = {{"next_id", 5}, {"z_keys", 10'000}};
  return section;
}

// docs/formats/manifest.md shows this file.
TEST(ManifestFormatTest, GoldenText) {
  const ManifestSection sections[] = {Example()};
  EXPECT_EQ(FormatManifest(42, sections),
            "portolan-manifest 2\n"
            "sequence 42\n"
            "section urlseen drum\n"
            "file urlseen-000003.z 123456\n"
            "file urlseen-000004.tuples 16\n"
            "number next_id 5\n"
            "number z_keys 10000\n"
            "crc32c a6f4bd12\n");
}

TEST(ManifestFormatTest, TextIsReadBack) {
  const ManifestSection sections[] = {Example(), {"queue", "queue", {}, {}}};
  const auto parsed = ParseManifest(FormatManifest(7, sections), "m");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->sequence, 7U);
  EXPECT_THAT(parsed->sections, ElementsAre(sections[0], sections[1]));
}

TEST(ManifestFormatTest, EveryChangeIsFound) {
  const ManifestSection sections[] = {Example()};
  const std::string good = FormatManifest(42, sections);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(ParseManifest(bad, "m")) << i;
    EXPECT_FALSE(ParseManifest(good.substr(0, i), "m")) << i;
  }
}

TEST(ManifestFormatTest, OtherFormatsAreNamedWithWhatToDo) {
  const auto older = ParseManifest("portolan-manifest 1\n", "m");
  EXPECT_EQ(older.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(older.error().message(), HasSubstr("begin a new crawl in another directory"));
  const auto newer = ParseManifest("portolan-manifest 3\n", "m");
  EXPECT_EQ(newer.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(newer.error().message(), HasSubstr("use the newer program"));
  EXPECT_EQ(ParseManifest("portolan-manifest two\n", "m").error().code(), ErrorCode::kCorrupt);
}

// A structure with one file that grows.
class Growing : public Checkpointable {
 public:
  Growing(Env& env, std::string dir) : env_(env), dir_(std::move(dir)) {}
  void Write(const std::string& name, std::string_view bytes) {
    auto file = env_.Open(JoinPath(dir_, name), OpenMode::kAppend).value();
    ASSERT_TRUE(file->Append(bytes));
    ASSERT_TRUE(file->Sync());
    name_ = name;
    length_ = file->Size();
  }
  Status Flush() override { return fail ? Status(Fail(ErrorCode::kIo, "no")) : Status(); }
  ManifestSection Describe() const override { return {"g", "growing", {{name_, length_}}, {}}; }
  Status Committed() override {
    ++commits;
    return {};
  }
  bool fail = false;
  int commits = 0;

 private:
  Env& env_;
  std::string dir_;
  std::string name_;
  uint64_t length_ = 0;
};

TEST(ManifestTest, OpenCutsLongerFilesAndRemovesUnnamedOnes) {
  MemEnv env;
  Manifest manifest = Manifest::Open(env, "d").value();
  Growing structure(env, "d");
  structure.Write("data", "committed");
  Checkpointable* const all[] = {&structure};
  ASSERT_TRUE(manifest.Commit(all));
  EXPECT_EQ(structure.commits, 1);
  structure.Write("data", " and more");
  ASSERT_TRUE(ReplaceFile(env, "d/unnamed", "x"));
  ASSERT_TRUE(ReplaceFile(env, "d/LOCK", ""));

  const std::string_view keep[] = {"LOCK"};
  const Manifest again = Manifest::Open(env, "d", keep).value();
  EXPECT_EQ(again.sequence(), 1U);
  EXPECT_EQ(ReadWholeFile(env, "d/data").value(), "committed");
  EXPECT_THAT(env.List("d").value(), ElementsAre("LOCK", "MANIFEST-000000000001", "data"));
  EXPECT_NE(again.Find("g", "growing").value(), nullptr);
  EXPECT_EQ(again.Find("other", "growing").value(), nullptr);
  EXPECT_THAT(again.Find("g", "drum").error().message(), HasSubstr("section g is a growing, wanted a drum"));
}

TEST(ManifestTest, FailedFlushLeavesTheOldState) {
  MemEnv env;
  Manifest manifest = Manifest::Open(env, "d").value();
  Growing structure(env, "d");
  structure.Write("data", "one");
  Checkpointable* const all[] = {&structure};
  ASSERT_TRUE(manifest.Commit(all));
  structure.Write("data", "two");
  structure.fail = true;
  EXPECT_FALSE(manifest.Commit(all));
  EXPECT_EQ(manifest.sequence(), 1U);
  EXPECT_EQ(Manifest::Open(env, "d").value().sequence(), 1U);
}

// What was written may be written again when there is room; what was not synced may not be synced again.
TEST(ManifestTest, AFullDiskIsNoSpaceWhereItWritesAndTheEndWhereItSyncs) {
  std::vector<ErrorCode> errors;
  for (uint64_t at = 1; at <= 6; ++at) {
    MemEnv mem;
    FaultyEnv env(mem);
    Manifest manifest = Manifest::Open(env, "state").value();
    env.SetPlan({.full_at = env.operations() + at});
    const Status status = manifest.WriteNext({});
    ASSERT_FALSE(status) << at;
    errors.push_back(status.error().code());
    if (status.error().code() == ErrorCode::kNoSpace) {
      EXPECT_TRUE(manifest.WriteNext({})) << at;
    }
  }
  using enum ErrorCode;
  // The directory's sync, then ReplaceFile's: open, append, sync, rename, directory sync.
  EXPECT_THAT(errors, ElementsAre(kIo, kNoSpace, kNoSpace, kIo, kNoSpace, kIo));
}

TEST(ManifestTest, MissingOrShortFileIsNamed) {
  MemEnv env;
  Manifest manifest = Manifest::Open(env, "d").value();
  Growing structure(env, "d");
  structure.Write("data", "committed");
  Checkpointable* const all[] = {&structure};
  ASSERT_TRUE(manifest.Commit(all));
  ASSERT_TRUE(ReplaceFile(env, "d/data", "short"));
  EXPECT_EQ(Manifest::Open(env, "d").error().ToString(), "corrupt: d/data: has 5 bytes, MANIFEST-000000000001 says 9");
  ASSERT_TRUE(env.Remove("d/data"));
  EXPECT_EQ(Manifest::Open(env, "d").error().ToString(),
            "corrupt: d/data: missing; MANIFEST-000000000001 names it with 9 bytes");
}

TEST(ManifestTest, BrokenOnlyManifestIsAnErrorNotAnEmptyState) {
  MemEnv env;
  Manifest manifest = Manifest::Open(env, "d").value();
  ASSERT_TRUE(manifest.Commit({}));
  env.Corrupt("d/MANIFEST-000000000001", 20, "X");
  EXPECT_EQ(Manifest::Open(env, "d").error().code(), ErrorCode::kCorrupt);
  EXPECT_TRUE(env.Exists("d/MANIFEST-000000000001")) << "nothing is removed on an error";
}

}  // namespace
}  // namespace portolan
