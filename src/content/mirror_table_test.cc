#include "content/mirror_table.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

std::string Page(std::string_view origin, int n) { return std::string(origin) + "/p/" + std::to_string(n); }

constexpr std::string_view kOne = "https://one.example";
constexpr std::string_view kTwo = "https://two.example";

std::string OriginalOf(MirrorTable& table, std::string_view url) {
  const auto mirror = table.MirrorOf(url);
  return mirror ? std::string(mirror->original) : std::string();
}

// A page with the payload of `first`, or with one of its own.
void See(MirrorTable& table, const std::string& url, const std::string& first) {
  table.Observe({.url = url, .first = first, .payload = Hash64(first.empty() ? url : first) | 1});
}

std::unique_ptr<MirrorTable> Open() {
  MemEnv env;
  return MirrorTable::Open(Manifest::Open(env, "state").value(), "mirrors", HashKey()).value();
}

TEST(MirrorTableTest, AnOriginThatRepeatsAnotherIsAMirror) {
  auto table = Open();
  for (int i = 0; i < 1000; ++i) See(*table, Page(kOne, i), "");
  for (uint32_t i = 0; i < MirrorTable::kLeast; ++i) {
    EXPECT_EQ(OriginalOf(*table, Page(kTwo, 5)), "") << i;
    See(*table, Page(kTwo, static_cast<int>(i)), Page(kOne, static_cast<int>(i)));
  }
  EXPECT_EQ(OriginalOf(*table, Page(kTwo, 5)), kOne);
  EXPECT_EQ(OriginalOf(*table, Page(kOne, 5)), "");
  EXPECT_EQ(table->mirrors(), 1U);
}

// Two hosts that are crawled side by side: each has first captures that the other repeats.
TEST(MirrorTableTest, OfTwoThatRepeatEachOtherTheLaterOneIsTheMirror) {
  auto table = Open();
  for (int i = 0; i < 200; ++i) {
    const bool one_first = i % 3 != 1;
    See(*table, Page(one_first ? kOne : kTwo, i), "");
    See(*table, Page(one_first ? kTwo : kOne, i), Page(one_first ? kOne : kTwo, i));
  }
  EXPECT_EQ(OriginalOf(*table, Page(kTwo, 5)), kOne);
  EXPECT_EQ(OriginalOf(*table, Page(kOne, 5)), "");
}

TEST(MirrorTableTest, ThreeThatRepeatEachOtherAgreeOnOneOriginal) {
  const std::string origins[] = {std::string(kOne), std::string(kTwo), "https://three.example"};
  auto table = Open();
  for (int i = 0; i < 300; ++i) {
    const std::string first = Page(origins[i % 3], i);
    See(*table, first, "");
    See(*table, Page(origins[(i + 1) % 3], i), first);
    See(*table, Page(origins[(i + 2) % 3], i), first);
  }
  EXPECT_EQ(table->mirrors(), 2U);
  EXPECT_EQ(OriginalOf(*table, Page(origins[0], 1)), "");
  EXPECT_EQ(OriginalOf(*table, Page(origins[1], 1)), kOne);
  EXPECT_EQ(OriginalOf(*table, Page(origins[2], 1)), kOne);
}

// The same paths with other pages, as in two languages, are evidence against it.
TEST(MirrorTableTest, OtherPagesAtTheSamePathsMakeItNoMirror) {
  auto table = Open();
  for (int i = 0; i < 300; ++i) See(*table, Page(kOne, i), "");
  for (int i = 0; i < 300; ++i) {
    See(*table, Page(kTwo, i), i % 2 == 0 ? Page(kOne, i) : std::string());
    EXPECT_EQ(OriginalOf(*table, Page(kTwo, 5)), "") << i;
  }
  EXPECT_FALSE(table->MostlyCopies(Page(kTwo, 5)));
}

// A page that only the supposed mirror has says so when its counterpart is missing.
TEST(MirrorTableTest, MissingCounterpartsMakeItNoMirror) {
  auto table = Open();
  for (int i = 0; i < 20; ++i) See(*table, Page(kTwo, i), Page(kOne, i));
  ASSERT_EQ(OriginalOf(*table, Page(kTwo, 5)), kOne);
  for (int i = 0; i < 4; ++i) table->NoteMissing(Page(kTwo, 100 + i));
  EXPECT_EQ(OriginalOf(*table, Page(kTwo, 5)), "");
}

TEST(MirrorTableTest, PagesThatCannotBeHadAreRemembered) {
  auto table = Open();
  EXPECT_FALSE(table->IsGone(Page(kOne, 1)));
  table->NoteGone(Page(kOne, 1));
  EXPECT_TRUE(table->IsGone(Page(kOne, 1)));
  EXPECT_FALSE(table->IsGone(Page(kOne, 2)));
  See(*table, Page(kOne, 1), "");
  EXPECT_FALSE(table->IsGone(Page(kOne, 1)));
}

TEST(MirrorTableTest, AMirrorThatChangesStopsToBeOne) {
  auto table = Open();
  for (int i = 0; i < 2000; ++i) See(*table, Page(kOne, i), "");
  for (int i = 0; i < 1000; ++i) See(*table, Page(kTwo, i), Page(kOne, i));
  ASSERT_EQ(OriginalOf(*table, Page(kTwo, 5)), kOne);
  EXPECT_EQ(table->MirrorOf(Page(kTwo, 5))->sample, MirrorTable::kSampleRarely);
  int fetched = 0;
  for (; !OriginalOf(*table, Page(kTwo, 5)).empty(); ++fetched) See(*table, Page(kTwo, 1000 + fetched), "");
  EXPECT_LE(fetched, 25);
}

// The same payload at other paths is no evidence: its pages could not be found at the original.
TEST(MirrorTableTest, OtherPathsAreNoMirror) {
  auto table = Open();
  for (int i = 0; i < 200; ++i) See(*table, Page(kTwo, i), Page(kOne, i + 1));
  EXPECT_EQ(OriginalOf(*table, Page(kTwo, 5)), "");
  EXPECT_TRUE(table->MostlyCopies(Page(kTwo, 5)));
}

TEST(MirrorTableTest, ADirectoryThatContainsItselfIsMostlyCopies) {
  auto table = Open();
  for (int i = 0; i < 20; ++i) See(*table, Page(kOne, i), "");
  std::string loop = std::string(kOne) + "/p/";
  for (int i = 0; i < 50; ++i) {
    loop += "p/";
    See(*table, loop, Page(kOne, 0));
  }
  EXPECT_TRUE(table->MostlyCopies(loop));
  EXPECT_EQ(OriginalOf(*table, loop), "");
}

TEST(MirrorTableTest, MemoryIsBounded) {
  auto table = Open();
  const size_t many = MirrorTable::kMaxOrigins + 1000;
  for (size_t i = 0; i < many; ++i) {
    See(*table, "https://h" + std::to_string(i) + ".example/a", "https://one.example/b");
  }
  EXPECT_EQ(table->origins(), MirrorTable::kMaxOrigins);
  EXPECT_EQ(table->dropped(), 1000U);
}

TEST(MirrorTableTest, ARestoredMirrorCountsAfterItsNextCopy) {
  MemEnv env;
  {
    Manifest manifest = Manifest::Open(env, "state").value();
    auto table = MirrorTable::Open(manifest, "mirrors", HashKey()).value();
    for (int i = 0; i < 100; ++i) See(*table, Page(kTwo, i), Page(kOne, i));
    Checkpointable* const all[] = {table.get()};
    ASSERT_TRUE(manifest.Commit(all));
  }
  const Manifest manifest = Manifest::Open(env, "state").value();
  auto table = MirrorTable::Open(manifest, "mirrors", HashKey()).value();
  EXPECT_EQ(OriginalOf(*table, Page(kTwo, 5)), "");
  See(*table, Page(kTwo, 101), Page(kOne, 101));
  EXPECT_EQ(OriginalOf(*table, Page(kTwo, 5)), kOne);
}

TEST(MirrorTableTest, ABrokenSectionIsNamed) {
  MemEnv env;
  struct Wrong : Checkpointable {
    Status Flush() override { return {}; }
    Status Committed() override { return {}; }
    ManifestSection Describe() const override {
      return {.name = "mirrors",
              .kind = "mirrors",
              .files = {},
              .numbers = {{"origins", 1},
                          {"mirror.0.origin", 1},
                          {"mirror.0.original", 2},
                          {"mirror.0.number", 1},
                          {"mirror.0.pages", 3},
                          {"mirror.0.equal", 1000},
                          {"mirror.0.differing", 0},
                          {"mirror.0.copies", 0}}};
    }
  } wrong;
  Manifest manifest = Manifest::Open(env, "state").value();
  Checkpointable* const all[] = {&wrong};
  ASSERT_TRUE(manifest.Commit(all));
  const auto table = MirrorTable::Open(manifest, "mirrors", HashKey());
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code(), ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace portolan
