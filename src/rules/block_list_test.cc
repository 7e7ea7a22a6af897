#include "rules/block_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace portolan {
namespace {

using testing::HasSubstr;

std::string Complaint(std::string_view text) {
  BlockList::Builder builder(1000);
  const Status status = builder.Add(text, "b.txt");
  return status ? "" : status.error().message();
}

TEST(BlockListTest, ReadsTheUsualForms) {
  BlockList::Builder builder(1000);
  const std::string first =
      "\xEF\xBB\xBF# comment\r\n! another\n[Adblock Plus 2.0]\n\nAds.Example # here\n*.wild.example\n.dot.example\n"
      "b\u00fccher.example\n0.0.0.0 one.hosts.example two.hosts.example\n127.0.0.1 localhost\n::1 ip6-localhost\n"
      "||block.example^\n";
  ASSERT_TRUE(builder.Add(first, "a.txt"));
  ASSERT_TRUE(builder.Add(
      "@@||good.example^\n||block.example^$third-party\nexample.com##.banner\n/ads/*\n||x.example/path\nads.example\n",
      "b.txt"));
  const auto list = builder.Finish();
  EXPECT_EQ(list->size(), 7U);
  EXPECT_EQ(list->skipped(), 5U);
  for (const char* host : {"ads.example", "www.ads.example", "wild.example", "a.wild.example", "dot.example",
                           "xn--bcher-kva.example", "one.hosts.example", "two.hosts.example", "x.block.example"}) {
    EXPECT_TRUE(list->Has(host)) << host;
  }
  for (const char* host : {"sads.example", "example", "localhost", "x.one.hosts.example", "hosts.example",
                           "good.example", "example.com", "x.example"}) {
    EXPECT_FALSE(list->Has(host)) << host;
  }
  EXPECT_EQ(BlockList::LineThatBlocks(first, "www.ads.example"), 5U);
  EXPECT_EQ(BlockList::LineThatBlocks(first, "two.hosts.example"), 9U);
  EXPECT_EQ(BlockList::LineThatBlocks(first, "x.two.hosts.example"), std::nullopt);
}

TEST(BlockListTest, GarbageHasFileAndLine) {
  EXPECT_THAT(Complaint("a.example\n<!DOCTYPE html>\n"), HasSubstr("b.txt:2: '<!DOCTYPE html>' is not a line"));
  EXPECT_THAT(Complaint("{\"a\": 1}"), HasSubstr("b.txt:1:"));
  EXPECT_THAT(Complaint("not a host at all"), HasSubstr("b.txt:1:"));
  EXPECT_THAT(Complaint(std::string("ok.example\n\0\1\2\xff", 15)), HasSubstr("b.txt:2:"));
  EXPECT_THAT(Complaint("a..example"), HasSubstr("b.txt:1:"));
  EXPECT_THAT(Complaint("http://a.example"), HasSubstr("b.txt:1:"));
  EXPECT_THAT(Complaint(std::string(5000, 'a')), HasSubstr("…"));
  EXPECT_THAT(Complaint(""), HasSubstr("b.txt: is empty"));
  EXPECT_THAT(Complaint(" \n\n"), HasSubstr("b.txt: is empty"));
  EXPECT_EQ(Complaint("# nothing\n"), "");
}

TEST(BlockListTest, AMillionNamesTakeEightBytesEach) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "h" + std::to_string(i) + ".example\n";
  BlockList::Builder builder(1'000'000);
  ASSERT_TRUE(builder.Add(text, "big.txt"));
  ASSERT_TRUE(builder.Add(text, "again.txt")) << "a name that stands twice is stored once";
  const Status more = builder.Add("one.more.example\n", "more.txt");
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().code(), ErrorCode::kBusy);
  EXPECT_THAT(more.error().message(), HasSubstr("more.txt: with it the block lists have more than 1000000 names"));
  BlockList::Builder fits(2'000'000);
  ASSERT_TRUE(fits.Add(text, "big.txt"));
  const auto list = fits.Finish();
  EXPECT_EQ(list->size(), 1'000'000U);
  EXPECT_TRUE(list->Has("www.h999999.example"));
  EXPECT_FALSE(list->Has("h1000000.example"));
}

}  // namespace
}  // namespace portolan
