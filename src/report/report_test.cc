// The small parts of a report: names, distributions, tables, and that no text of a server does anything in HTML.
#include <nlohmann/json.hpp>

#include "report/histogram.h"
#include "report/host_names.h"
#include "report/log_entry.h"
#include "report/report_table.h"
#include "report/svg_plot.h"
#include "report/top_rows.h"

namespace portolan {
namespace {

TEST(HostNamesTest, NamesTheDomainTheSuffixAndTheTop) {
  auto names = HostNames::Create();
  ASSERT_TRUE(names);
  const auto* of = names->Of("http://www.ku.ac.th:8080/a?b");
  ASSERT_NE(of, nullptr);
  EXPECT_EQ(of->host, "www.ku.ac.th:8080");
  EXPECT_EQ(of->domain, "ku.ac.th");
  EXPECT_EQ(of->suffix, "ac.th");
  EXPECT_EQ(of->top, "th");
  of = names->Of("https://[2001:db8::1]/");
  ASSERT_NE(of, nullptr);
  EXPECT_EQ(of->suffix, "(address)");
  EXPECT_EQ(of->domain, "[2001:db8::1]");
  of = names->Of("http://localhost");
  ASSERT_NE(of, nullptr);
  EXPECT_EQ(of->host, "localhost");
  EXPECT_EQ(names->Of("mailto:a@b"), nullptr);
  EXPECT_EQ(names->Of("http://"), nullptr);
}

TEST(HostNamesTest, ExtensionsAreThoseOfTheLastSegment) {
  EXPECT_EQ(ExtensionOf("http://a.test/b/c.HTML?x=y.z"), ".html");
  EXPECT_EQ(ExtensionOf("http://a.test/b.jpg/"), "(none)");
  EXPECT_EQ(ExtensionOf("http://a.test"), "(none)");
  EXPECT_EQ(ExtensionOf("http://a.test/v1.2"), "(none)");
  EXPECT_EQ(ExtensionOf("http://a.test/x."), "(none)");
  EXPECT_EQ(ExtensionOf("http://a.test/x.averylongending"), "(none)");
  EXPECT_EQ(ExtensionOf("http://a.test/x.mp4#f"), ".mp4");
}

TEST(HostNamesTest, ProductsAreWithoutVersion) {
  EXPECT_EQ(ServerProduct("Apache/2.4.62 (Debian)"), "Apache");
  EXPECT_EQ(ServerProduct(" nginx"), "nginx");
  EXPECT_EQ(ServerProduct(""), "(unknown)");
  EXPECT_EQ(ServerProduct("/1.0"), "(unknown)");
  EXPECT_EQ(ServerProduct(std::string(500, 'x')).size(), 64U);
}

TEST(LogEntryTest, ReadsALineOfTheCrawlLog) {
  LogEntry entry;
  ASSERT_TRUE(ParseLogEntry(R"({"time":"2026-01-31T12:30:01.250Z","url":"https://example.org/","kind":"page",)"
                            R"("outcome":"answered","status":200,"bytes":5120,"decoded":20480,"ms":143,"depth":2,)"
                            R"("mime":"text/html","server":"nginx","again":true,"links":37})",
                            entry));
  EXPECT_EQ(entry.unix_s, 1769862601);
  EXPECT_TRUE(entry.ok() && entry.is_page() && entry.is_html() && entry.fetched && entry.again);
  EXPECT_EQ(entry.bytes, 5120U);
  EXPECT_EQ(entry.links, 37U);
  // Nothing stays from the line before.
  ASSERT_TRUE(ParseLogEntry(R"({"url":"http://a.test/","kind":"page","outcome":"robots_denied","depth":1})", entry));
  EXPECT_FALSE(entry.fetched || entry.again || entry.answered());
  EXPECT_EQ(entry.unix_s, 0);
}

TEST(LogEntryTest, AVisitAfterTheFirstIsNamed) {
  LogEntry entry;
  ASSERT_TRUE(ParseLogEntry(R"({"url":"http://a.test/","ms":1,"status":404,"visit":"other","gone":true})", entry));
  EXPECT_EQ(entry.visit, "other");
  EXPECT_TRUE(entry.gone);
  ASSERT_TRUE(ParseLogEntry(R"({"url":"http://a.test/","ms":1,"status":404})", entry));
  EXPECT_TRUE(entry.visit.empty() && !entry.gone);
}

TEST(LogEntryTest, AFindingIsNoFetch) {
  LogEntry entry;
  ASSERT_TRUE(ParseLogEntry(R"({"url":"http://a.test/","kind":"page","outcome":"late_duplicate",)"
                            R"("duplicate_time":"2026-01-31T12:30:01.250Z"})",
                            entry));
  EXPECT_TRUE(entry.is_finding() && entry.duplicate);
  EXPECT_FALSE(entry.fetched);
}

TEST(LogEntryTest, AnythingElseIsNoEntryOrHasNoSuchField) {
  LogEntry entry;
  for (const char* line : {"", "[]", "{", "3", "{}", R"({"url":5})", "\xff\xfe"}) {
    EXPECT_FALSE(ParseLogEntry(line, entry)) << line;
  }
  ASSERT_TRUE(ParseLogEntry(R"({"url":"x","status":"200","ms":-4,"time":7,"again":1,"links":1e99})", entry));
  EXPECT_EQ(entry.status, 0);
  EXPECT_EQ(entry.ms, 0U);
  EXPECT_EQ(entry.links, 0U);
  EXPECT_FALSE(entry.again);
  ASSERT_TRUE(ParseLogEntry(R"({"url":"x","status":18446744073709551615})", entry));
  EXPECT_EQ(entry.status, 0);
}

TEST(PowerStepsTest, EachValueIsInItsStep) {
  PowerSteps steps;
  for (const uint64_t value : {0U, 1U, 2U, 3U, 4U, 1000U}) steps.Add(value);
  steps.Add(~uint64_t{0});
  EXPECT_EQ(steps[0], 1U);
  EXPECT_EQ(steps[1], 1U);
  EXPECT_EQ(steps[2], 2U);
  EXPECT_EQ(steps[3], 1U);
  EXPECT_EQ(steps[10], 1U);
  EXPECT_EQ(steps[64], 1U);
  EXPECT_EQ(steps.first(), 0U);
  EXPECT_EQ(steps.last(), 64U);
  for (size_t i = 1; i < 64; ++i) EXPECT_EQ(PowerSteps::Most(i) + 1, PowerSteps::Least(i + 1));
}

TEST(TimeLineTest, KeepsEverythingInFewBinsWhateverTheClockDoes) {
  TimeLine line;
  std::minstd_rand random(3);
  uint64_t pages = 0;
  for (int i = 0; i < 20'000; ++i) {
    const int64_t time = i % 5000 == 0 ? -1'000'000 + i : 1'700'000'000 + static_cast<int64_t>(random() % 3'000'000);
    line.Add(time, 1, 10);
    ++pages;
    ASSERT_LE(line.bins().size(), TimeLine::kMostBins);
  }
  uint64_t sum = 0;
  for (const auto& [time, bin] : line.bins()) {
    EXPECT_EQ(time % static_cast<int64_t>(line.step_s()), 0);
    EXPECT_EQ(bin.bytes, bin.pages * 10);
    sum += bin.pages;
  }
  EXPECT_EQ(sum, pages);
}

TEST(TopRowsTest, KeepsTheLargestAndSumsAll) {
  TopRows top(3, 1);
  std::vector<std::pair<uint64_t, std::string>> all;
  for (uint64_t i = 0; i < 100; ++i) {
    const std::string name = "n" + std::to_string(i);
    top.Add(name, {1, i * 37 % 20, 0, 0});
    all.emplace_back(20 - i * 37 % 20, name);
  }
  std::ranges::sort(all);
  auto at = all.begin();
  for (const TopRows::Row& row : top.rows()) {
    EXPECT_EQ(row.name, at->second);
    EXPECT_EQ(row.count, 20 - at->first);
    ++at;
  }
  EXPECT_EQ(top.rows().size(), 3U);
  EXPECT_EQ(top.left_out(), 97U);
  EXPECT_EQ(top.sums()[0], 100U);
}

CrawlReport HostileReport() {
  CrawlReport report{.name = "<script>alert(1)</script>", .made = "now", .generator = "portolan"};
  ReportTable& table = report.tables.emplace_back();
  table.id = "t";
  table.title = "A & B";
  table.columns = {{"name", CellKind::kText}, {"count", CellKind::kCount}, {"bytes", CellKind::kBytes}};
  table.rows = {{"\"><img src=x onerror=alert(2)>", uint64_t{1234567}, uint64_t{2048}},
                {"a,\"b\"\nc\x1b[31m \xff", uint64_t{5}, 0.5}};
  table.rows_left_out = 3;
  table.plot = ReportPlot::kBars;
  return report;
}

TEST(ReportTest, TextOfServersIsOnlyTextInHtml) {
  for (const ReportPlot plot : {ReportPlot::kBars, ReportPlot::kColumns, ReportPlot::kLine}) {
    CrawlReport report = HostileReport();
    report.tables[0].plot = plot;
    const std::string html = ReportToHtml(report);
    EXPECT_EQ(html.find("<script"), std::string::npos);
    EXPECT_EQ(html.find("<img"), std::string::npos);
    EXPECT_EQ(html.find('\x1b'), std::string::npos);
    EXPECT_NE(html.find("&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
    EXPECT_NE(html.find("<svg"), std::string::npos);
  }
}

TEST(ReportTest, CsvAndJsonKeepTextAndNumbers) {
  const CrawlReport report = HostileReport();
  EXPECT_EQ(
      TableToCsv(report.tables[0]),
      "name,count,bytes\n\"\"\"><img src=x onerror=alert(2)>\",1234567,2048\n\"a,\"\"b\"\"\nc\x1b[31m \xff\",5,0.5\n");
  const auto json = nlohmann::json::parse(ReportToJson(report));
  EXPECT_EQ(json["tables"]["t"]["rows"][0]["count"], 1234567);
  EXPECT_EQ(json["tables"]["t"]["rows_left_out"], 3);
}

TEST(ReportTest, ATerminalGetsNoControls) {
  const std::string text = ReportToText(HostileReport(), 1);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("1,234,567"), std::string::npos);
  EXPECT_NE(text.find("… 4 more"), std::string::npos);
}

TEST(ReportTest, CellsAreShownByKind) {
  EXPECT_EQ(CellText(uint64_t{1234567}, CellKind::kCount), "1,234,567");
  EXPECT_EQ(CellText(12.345, CellKind::kPercent), "12.35 %");
  EXPECT_EQ(CellText(uint64_t{2048}, CellKind::kBytes), "2 KiB");
  EXPECT_EQ(CellText(uint64_t{1500}, CellKind::kMillis), "1.5 s");
  EXPECT_EQ(CellText(0.0, CellKind::kMillis), "0 ms");
  EXPECT_EQ(CellText(-1.0, CellKind::kBytes), "0 B");
}

}  // namespace
}  // namespace portolan
