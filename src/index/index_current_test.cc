#include "index/index_current.h"

#include <gtest/gtest.h>

#include <string>

#include "index/gone_pages.h"
#include "index/index_part.h"
#include "index/schema.h"

namespace portolan {
namespace {

TEST(IndexCurrentTest, GoldenText) {
  const IndexCurrent current{.schema = kIndexSchema, .parts = 3, .generation = 7, .building = 8, .building_parts = 4};
  const std::string text =
      "PORTOLAN-INDEX 1\nschema 1\nparts 3\ngeneration 7\nbuilding 8\nbuilding-parts 4\ncrc32c 448c9aca\n";
  EXPECT_EQ(current.ToText(), text);
  const auto parsed = IndexCurrent::Parse(text, "crawl/index/CURRENT");
  ASSERT_TRUE(parsed) << parsed.error().ToString();
  EXPECT_EQ(*parsed, current);
  for (size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(IndexCurrent::Parse(text.substr(0, size), "x")) << size;
  IndexCurrent shards = current;
  shards.shards = {"shard-00", "shard-11"};
  shards.building_shards = {"shard-00"};
  const std::string second =
      "PORTOLAN-INDEX 2\nschema 1\nparts 3\ngeneration 7\nbuilding 8\nbuilding-parts 4\nshard shard-00\n"
      "shard shard-11\nbuilding-shard shard-00\n";
  EXPECT_EQ(shards.ToText().substr(0, second.size()), second);
  const auto read = IndexCurrent::Parse(shards.ToText(), "crawl/index/CURRENT");
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(*read, shards);
  for (size_t size = 0; size < second.size(); ++size)
    EXPECT_FALSE(IndexCurrent::Parse(shards.ToText().substr(0, size), "x")) << size;
  EXPECT_EQ(shards.Parts("i", 7).size(), 6U);
  EXPECT_EQ(shards.Parts("i", 7)[5].path, "i/gen-7-shard-11-part-2");
  EXPECT_EQ(shards.Parts("i", 8).size(), 4U);
  EXPECT_EQ(shards.Parts("i", 8)[0].path, "i/gen-8-shard-00-part-0");
  EXPECT_EQ(IndexCurrent::Parse("PORTOLAN-INDEX 3\n", "crawl/index/CURRENT").error().message(),
            "crawl/index/CURRENT: a search index of another version; 'portolan index build --rebuild crawl' makes the "
            "index again");
}

TEST(IndexStateTest, GoldenText) {
  const IndexState state{.text = {.serial = 2, .offset = 81920}, .log = {.serial = 1, .offset = 5000}, .inlinks = "t"};
  EXPECT_EQ(state.ToText(), "text 2 81920 log 1 5000 inlinks t");
  EXPECT_EQ(IndexState::Parse(state.ToText()), state);
  EXPECT_EQ(IndexState::Parse(IndexState().ToText()), IndexState());
  for (const char* wrong : {"", "text 2 81920", "text 0 0 log 1 0 inlinks ", "text 1 0 log x 0 inlinks "}) {
    EXPECT_FALSE(IndexState::Parse(wrong)) << wrong;
  }
}

TEST(GonePageTest, OnlyAnswersOfPagesThatSaySo) {
  const auto parse = [](const std::string& rest) {
    return ParseGonePage(R"({"time":"2026-01-31T12:30:01.250Z","url":"http://a.test/",)" + rest + "}");
  };
  const auto gone = parse(R"("kind":"page","outcome":"answered","status":410)");
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->url, "http://a.test/");
  EXPECT_EQ(gone->fetched, "20260131123001");
  EXPECT_TRUE(parse(R"("kind":"page","outcome":"answered","status":301)"));
  EXPECT_FALSE(parse(R"("kind":"page","outcome":"answered","status":302)"));
  EXPECT_FALSE(parse(R"("kind":"page","outcome":"answered","status":200,"title":"\"status\":404")"));
  EXPECT_FALSE(parse(R"("kind":"robots","outcome":"answered","status":404)"));
  EXPECT_FALSE(parse(R"("kind":"page","outcome":"late_duplicate","status":404)"));
  EXPECT_FALSE(ParseGonePage(R"({"status":404)"));
  EXPECT_FALSE(ParseGonePage(R"(["status":404])"));
}

}  // namespace
}  // namespace portolan
