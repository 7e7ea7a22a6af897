#include "content/mirror_table.h"

#include <gtest/gtest.h>

#include <string>

#include "io/mem_env.h"

namespace portolan {
namespace {

std::string Page(std::string_view origin, int n) { return std::string(origin) + "/p/" + std::to_string(n); }

constexpr std::string_view kOne = "https://one.example";
constexpr std::string_view kTwo = "https://two.example";

std::unique_ptr<MirrorTable> Open() {
  MemEnv env;
  return MirrorTable::Open(Manifest::Open(env, "state").value(), "mirrors", HashKey()).value();
}

TEST(MirrorTableTest, AnOriginThatRepeatsAnotherIsAMirror) {
  auto table = Open();
  for (int i = 0; i < 1000; ++i) table->Observe(Page(kOne, i), {});
  for (uint32_t i = 0; i < MirrorTable::kLeast; ++i) {
    EXPECT_EQ(table->OriginalOf(Page(kTwo, 5)), "") << i;
    table->Observe(Page(kTwo, static_cast<int>(i)), Page(kOne, static_cast<int>(i)));
  }
  EXPECT_EQ(table->OriginalOf(Page(kTwo, 5)), kOne);
  EXPECT_EQ(table->OriginalOf(Page(kOne, 5)), "");
  EXPECT_EQ(table->mirrors(), 1U);
}

// Two hosts that are crawled side by side: each has first captures that the other repeats.
TEST(MirrorTableTest, OfTwoThatRepeatEachOtherOneIsTheMirror) {
  auto table = Open();
  for (int i = 0; i < 200; ++i) {
    const bool one_first = i % 3 != 0;
    table->Observe(Page(one_first ? kOne : kTwo, i), {});
    table->Observe(Page(one_first ? kTwo : kOne, i), Page(one_first ? kOne : kTwo, i));
  }
  EXPECT_EQ(table->OriginalOf(Page(kTwo, 5)), kOne);
  EXPECT_EQ(table->OriginalOf(Page(kOne, 5)), "");
}

TEST(MirrorTableTest, PagesOfItsOwnMakeItNoMirror) {
  auto table = Open();
  for (int i = 0; i < 300; ++i) {
    const bool shared = i % 2 == 0;
    table->Observe(Page(kTwo, i), shared ? Page(kOne, i) : std::string());
  }
  EXPECT_EQ(table->OriginalOf(Page(kTwo, 5)), "");
  EXPECT_FALSE(table->MostlyCopies(Page(kTwo, 5)));
}

TEST(MirrorTableTest, AMirrorThatChangesStopsToBeOne) {
  auto table = Open();
  for (int i = 0; i < 100; ++i) table->Observe(Page(kTwo, i), Page(kOne, i));
  ASSERT_EQ(table->OriginalOf(Page(kTwo, 5)), kOne);
  int fetched = 0;
  for (; !table->OriginalOf(Page(kTwo, 5)).empty(); ++fetched) table->Observe(Page(kTwo, 1000 + fetched), {});
  EXPECT_LE(fetched, 40);
}

// The same payload at other paths is no evidence: its pages could not be found at the original.
TEST(MirrorTableTest, OtherPathsAreNoMirror) {
  auto table = Open();
  for (int i = 0; i < 200; ++i) table->Observe(Page(kTwo, i), Page(kOne, i + 1));
  EXPECT_EQ(table->OriginalOf(Page(kTwo, 5)), "");
  EXPECT_TRUE(table->MostlyCopies(Page(kTwo, 5)));
}

TEST(MirrorTableTest, ADirectoryThatContainsItselfIsMostlyCopies) {
  auto table = Open();
  for (int i = 0; i < 20; ++i) table->Observe(Page(kOne, i), {});
  std::string loop = std::string(kOne) + "/p/";
  for (int i = 0; i < 50; ++i) {
    loop += "p/";
    table->Observe(loop, Page(kOne, 0));
  }
  EXPECT_TRUE(table->MostlyCopies(loop));
  EXPECT_EQ(table->OriginalOf(loop), "");
}

TEST(MirrorTableTest, MemoryIsBounded) {
  auto table = Open();
  const size_t many = MirrorTable::kMaxOrigins + 1000;
  for (size_t i = 0; i < many; ++i) {
    table->Observe("https://h" + std::to_string(i) + ".example/a", "https://one.example/b");
  }
  EXPECT_EQ(table->origins(), MirrorTable::kMaxOrigins);
  EXPECT_EQ(table->dropped(), 1000U);
}

TEST(MirrorTableTest, ARestoredMirrorCountsAfterItsNextCopy) {
  MemEnv env;
  {
    Manifest manifest = Manifest::Open(env, "state").value();
    auto table = MirrorTable::Open(manifest, "mirrors", HashKey()).value();
    for (int i = 0; i < 100; ++i) table->Observe(Page(kTwo, i), Page(kOne, i));
    Checkpointable* const all[] = {table.get()};
    ASSERT_TRUE(manifest.Commit(all));
  }
  const Manifest manifest = Manifest::Open(env, "state").value();
  auto table = MirrorTable::Open(manifest, "mirrors", HashKey()).value();
  EXPECT_EQ(table->OriginalOf(Page(kTwo, 5)), "");
  table->Observe(Page(kTwo, 101), Page(kOne, 101));
  EXPECT_EQ(table->OriginalOf(Page(kTwo, 5)), kOne);
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
                          {"mirror.0.equal", 4},
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
