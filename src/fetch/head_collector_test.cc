#include "fetch/head_collector.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

using Verdict = HeadCollector::Verdict;

Verdict Feed(HeadCollector& head, std::initializer_list<std::string_view> lines) {
  Verdict last = Verdict::kGoing;
  for (const std::string_view line : lines) {
    last = head.Line(line);
    if (last != Verdict::kGoing) return last;
  }
  return last;
}

TEST(HeadCollectorTest, KeepsTheBytesAsTheyCame) {
  HeadCollector head;
  head.Begin({});
  EXPECT_EQ(Feed(head, {"HTTP/1.1  404  Gone\n", "a :b\r\n", " folded\r\n", "\n"}), Verdict::kWhole);
  EXPECT_EQ(head.status(), 404);
  EXPECT_EQ(head.TakeHead(), "HTTP/1.1  404  Gone\na :b\r\n folded\r\n\n");
}

TEST(HeadCollectorTest, SpellsHttp2AsHttp1) {
  HeadCollector head;
  head.Begin({});
  EXPECT_EQ(Feed(head, {"HTTP/2 200 \r\n", "server: x\r\n", "\r\n"}), Verdict::kWhole);
  EXPECT_EQ(head.TakeHead(), "HTTP/1.1 200 \r\nserver: x\r\n\r\n");
}

TEST(HeadCollectorTest, ForgetsInterimAnswersButNot101) {
  HeadCollector head;
  head.Begin({});
  EXPECT_EQ(Feed(head, {"HTTP/1.1 103 Hints\r\n", "Content-Length: 9\r\n", "\r\n", "HTTP/1.1 200 OK\r\n", "\r\n"}),
            Verdict::kWhole);
  EXPECT_FALSE(head.content_length());
  EXPECT_EQ(head.TakeHead(), "HTTP/1.1 200 OK\r\n\r\n");
  head.Begin({});
  EXPECT_EQ(Feed(head, {"HTTP/1.1 101 Switching\r\n", "\r\n"}), Verdict::kWhole);
}

TEST(HeadCollectorTest, ReadsLengthsAndSeesWhenTheyDiffer) {
  HeadCollector head;
  head.Begin({});
  Feed(head, {"HTTP/1.1 200 OK\r\n", "CONTENT-length:  12 \r\n", "Content-Length: 12\r\n"});
  EXPECT_EQ(head.content_length(), 12U);
  EXPECT_EQ(head.Line("content-length: 13\r\n"), Verdict::kBadLength);
}

TEST(HeadCollectorTest, CountsTrailersToo) {
  HeadCollector head;
  head.Begin({.max_bytes = 60, .max_fields = 100});
  EXPECT_EQ(Feed(head, {"HTTP/1.1 200 OK\r\n", "\r\n"}), Verdict::kWhole);
  EXPECT_EQ(head.Line("X-Trailer: 1\r\n"), Verdict::kGoing);
  EXPECT_EQ(head.Line("X-Trailer: 1\r\n"), Verdict::kGoing);
  EXPECT_EQ(head.Line("X-Trailer: 1\r\n"), Verdict::kTooLarge);
}

TEST(HeadCollectorTest, LinesAreBounded) {
  HeadCollector head;
  head.Begin({.max_bytes = 1000, .max_fields = 2});
  EXPECT_EQ(Feed(head, {"HTTP/1.1 200 OK\r\n", "a: b\r\n", "a: b\r\n", "\r\n"}), Verdict::kWhole);
  head.Begin({.max_bytes = 1000, .max_fields = 2});
  EXPECT_EQ(Feed(head, {"HTTP/1.1 200 OK\r\n", "a: b\r\n", "a: b\r\n", "a: b\r\n", "\r\n"}), Verdict::kTooLarge);
}

}  // namespace
}  // namespace portolan
