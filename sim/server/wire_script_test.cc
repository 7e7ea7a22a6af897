#include "sim/server/wire_script.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/server/visit_table.h"

namespace portolan::sim {
namespace {

Answer Page() {
  Answer answer;
  answer.headers = {{"Content-Type", "text/html"}};
  answer.body = std::string(10'000, 'b');
  return answer;
}

std::string All(const WireScript& script) { return script.head + script.body; }

TEST(WireScriptTest, GoldenAnswerWithLength) {
  Answer answer;
  answer.status = 404;
  answer.headers = {{"Content-Type", "text/plain"}, {"X", "y"}};
  answer.body = "gone";
  const WireScript script = MakeWireScript(answer, {.date = "now"});
  EXPECT_EQ(All(script),
            "HTTP/1.1 404 Not Found\r\nDate: now\r\nContent-Type: text/plain\r\nX: y\r\nContent-Length: 4\r\n\r\ngone");
  EXPECT_EQ(script.end, ScriptEnd::kKeepAlive);
  EXPECT_EQ(script.status, 404);
}

TEST(WireScriptTest, ChunksForHttp11OnlyAndCloseForTheRest) {
  Answer answer = Page();
  answer.body = "hello";
  answer.framing = Framing::kChunked;
  WireScript script = MakeWireScript(answer, {});
  EXPECT_NE(script.head.find("Transfer-Encoding: chunked\r\n"), std::string::npos);
  EXPECT_EQ(script.body, "5\r\nhello\r\n0\r\n\r\n");
  EXPECT_EQ(script.end, ScriptEnd::kKeepAlive);

  script = MakeWireScript(answer, {.http11 = false});
  EXPECT_EQ(script.head.find("chunked"), std::string::npos);
  EXPECT_EQ(script.body, "hello");
  EXPECT_EQ(script.end, ScriptEnd::kClose);

  answer.framing = Framing::kClose;
  script = MakeWireScript(answer, {});
  EXPECT_EQ(script.head.find("Content-Length"), std::string::npos);
  EXPECT_NE(script.head.find("Connection: close\r\n"), std::string::npos);
  EXPECT_EQ(script.end, ScriptEnd::kClose);
}

TEST(WireScriptTest, PersistenceIsAgreedOnByBothSides) {
  Answer answer = Page();
  EXPECT_EQ(MakeWireScript(answer, {.keep_alive = false}).end, ScriptEnd::kClose);
  EXPECT_NE(MakeWireScript(answer, {.http11 = false}).head.find("Connection: keep-alive\r\n"), std::string::npos);
  answer.http10 = true;
  EXPECT_EQ(MakeWireScript(answer, {}).head.substr(0, 12), "HTTP/1.0 200");
  EXPECT_EQ(MakeWireScript(answer, {}).end, ScriptEnd::kClose);
  answer = Page();
  answer.keep_alive = false;
  EXPECT_EQ(MakeWireScript(answer, {}).end, ScriptEnd::kClose);
  answer = Page();
  answer.cut_keep_alive = true;
  EXPECT_NE(MakeWireScript(answer, {}).head.find("Connection: keep-alive\r\n"), std::string::npos);
  EXPECT_EQ(MakeWireScript(answer, {}).end, ScriptEnd::kClose);
}

TEST(WireScriptTest, HeadAndNotModifiedHaveNoBody) {
  const WireScript head = MakeWireScript(Page(), {.head_only = true});
  EXPECT_NE(head.head.find("Content-Length: 10000\r\n"), std::string::npos);
  EXPECT_EQ(head.body, "");
  Answer answer = Page();
  answer.status = 304;
  answer.framing = Framing::kClose;
  const WireScript unchanged = MakeWireScript(answer, {});
  EXPECT_EQ(unchanged.body, "");
  EXPECT_EQ(unchanged.head.find("Content-Length"), std::string::npos);
  EXPECT_EQ(unchanged.end, ScriptEnd::kKeepAlive);
}

TEST(WireScriptTest, FaultsOfLength) {
  Answer answer = Page();
  answer.fault = WireFault::kLongLength;
  EXPECT_NE(MakeWireScript(answer, {}).head.find("Content-Length: 11000\r\n"), std::string::npos);
  EXPECT_EQ(MakeWireScript(answer, {}).end, ScriptEnd::kClose);
  answer.fault = WireFault::kShortLength;
  EXPECT_NE(MakeWireScript(answer, {}).head.find("Content-Length: 5000\r\n"), std::string::npos);
  EXPECT_EQ(MakeWireScript(answer, {}).body.size(), 10'000U);
  answer.fault = WireFault::kCloseEarly;
  answer.framing = Framing::kClose;  // would hide the cut
  answer.fault_at = 1 << 20;         // beyond the body: something is missing nevertheless
  const WireScript cut = MakeWireScript(answer, {});
  EXPECT_NE(cut.head.find("Content-Length: 10000\r\n"), std::string::npos);
  EXPECT_EQ(cut.body.size(), 9'999U);
}

TEST(WireScriptTest, HeaderFloodIsBounded) {
  Answer answer = Page();
  answer.fault = WireFault::kHeaderFlood;
  answer.fault_at = 100'000;
  WireScript script = MakeWireScript(answer, {});
  EXPECT_GE(script.head.size(), 100'000U);
  EXPECT_LT(script.head.size(), 100'600U);
  answer.fault_at = ~uint64_t{0};
  EXPECT_LT(MakeWireScript(answer, {}).head.size(), WireScript::kMostFloodBytes + 1000);
}

TEST(VisitTableTest, CountsPerClientAndUrl) {
  VisitTable table(64);
  EXPECT_EQ(table.Visit("c", false, "h", "/"), 0U);
  EXPECT_EQ(table.Visit("c", false, "h", "/"), 1U);
  EXPECT_EQ(table.Visit("c", false, "h", "/"), 2U);
  EXPECT_EQ(table.Visit("d", false, "h", "/"), 0U);
  EXPECT_EQ(table.Visit("c", true, "h", "/"), 0U);
  EXPECT_EQ(table.Visit("c", false, "h2", "/"), 0U);
  EXPECT_EQ(table.Visit("c", false, "h", "/2"), 0U);
  EXPECT_EQ(table.Visit("c", false, "h", "/"), 3U);
}

TEST(VisitTableTest, ForgetsWhatWasNotTouchedForLongest) {
  VisitTable table(64);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 1000; ++i) table.Visit("c", false, "h", std::to_string(i));
    EXPECT_EQ(table.Visit("c", false, "h", "999"), 1U);  // just seen; the round before is forgotten
  }
  VisitTable large(1 << 16);
  for (int i = 0; i < 4000; ++i) EXPECT_EQ(large.Visit("c", false, "h", std::to_string(i)), 0U);
  for (int i = 0; i < 4000; ++i) EXPECT_EQ(large.Visit("c", false, "h", std::to_string(i)), 1U);
}

}  // namespace
}  // namespace portolan::sim
