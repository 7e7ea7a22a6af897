#include "report/report_tables.h"

#include <fmt/core.h>

#include <string>
#include <utility>

#include "warc/warc_time.h"

namespace portolan {
namespace {

double Percent(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
double Ratio(uint64_t a, uint64_t b) { return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b); }

ReportTable TableOf(std::string id, std::string title, std::string note, std::vector<ReportColumn> columns) {
  ReportTable table;
  table.id = std::move(id);
  table.title = std::move(title);
  table.note = std::move(note);
  table.columns = std::move(columns);
  return table;
}

// Adds name, count, percent and, where `bytes` is set, the second value.
ReportTable Shares(ReportTable table, const TopRows& top, const char* label, const char* counted, bool bytes) {
  table.columns = {{label, CellKind::kText}, {counted, CellKind::kCount}, {"percent", CellKind::kPercent}};
  if (bytes) table.columns.push_back({"bytes", CellKind::kBytes});
  for (const TopRows::Row& row : top.rows()) {
    table.rows.push_back({row.name, row.count, Percent(row.count, top.sums()[0])});
    if (bytes) table.rows.back().emplace_back(row.values[1]);
  }
  table.rows_left_out = top.left_out();
  table.plot = ReportPlot::kBars;
  return table;
}

ReportTable Steps(ReportTable table, const PowerSteps& steps, CellKind kind, const char* counted) {
  table.columns = {{"from", kind}, {"to", kind}, {counted, CellKind::kCount}, {"percent", CellKind::kPercent}};
  for (size_t i = steps.first(); i <= steps.last(); ++i) {
    table.rows.push_back({PowerSteps::Least(i), PowerSteps::Most(i), steps[i], Percent(steps[i], steps.count())});
  }
  table.plot = ReportPlot::kColumns;
  table.plotted = 2;
  return table;
}

std::string UtcTime(int64_t unix_s) {
  WarcTime time;
  time.seconds = unix_s;
  return FormatWarcDate(time);
}

ReportTable Summary(const ReportTotals& totals, const ReportTally& found) {
  ReportTable table = TableOf("summary", "Summary", "Pages are answers 2xx to requests for pages and sitemaps.", {});
  table.columns = {{"what", CellKind::kText}, {"value", CellKind::kText}, {"number", CellKind::kReal}};
  const auto add = [&table](std::string what, const ReportCell& value, CellKind kind) {
    table.rows.push_back({std::move(what), CellText(value, kind), CellNumber(value)});
  };
  const double seconds = totals.last > totals.first ? static_cast<double>(totals.last - totals.first) : 0;
  if (totals.first != 0) {
    table.rows.push_back({"first request", UtcTime(totals.first), static_cast<double>(totals.first)});
    table.rows.push_back({"last answer", UtcTime(totals.last), static_cast<double>(totals.last)});
    add("time between them", seconds, CellKind::kSeconds);
  }
  add("requests", totals.requests, CellKind::kCount);
  add("of them made again", totals.repeats, CellKind::kCount);
  add("URLs with a result", totals.urls, CellKind::kCount);
  add("pages", totals.pages, CellKind::kCount);
  add("HTML documents", totals.html, CellKind::kCount);
  add("received", totals.received, CellKind::kBytes);
  add("size of HTML", totals.html_bytes, CellKind::kBytes);
  add("mean size of an HTML document", Ratio(totals.html_bytes, totals.html), CellKind::kBytes);
  add("received of robots.txt", totals.robots_received, CellKind::kBytes);
  add("web servers (hosts) that answered", found.hosts_answered, CellKind::kCount);
  add("machines (addresses)", found.addresses, CellKind::kCount);
  add("web servers per machine", Ratio(found.hosts_answered, found.addresses), CellKind::kReal);
  add("pay-level domains with documents", found.domains, CellKind::kCount);
  if (totals.has_links) {
    add("pay-level domains that others link to", found.domains_linked, CellKind::kCount);
    add("links between pay-level domains, each pair once", found.edges, CellKind::kCount);
  }
  add("links on HTML documents", totals.links, CellKind::kCount);
  add("mean links per HTML document", Ratio(totals.links, totals.html), CellKind::kReal);
  add("HTML documents without a title", totals.without_title, CellKind::kCount);
  add("answers whose bytes were captured before", totals.duplicates, CellKind::kCount);
  if (totals.revisits > 0) {
    add("visits of URLs after the first", totals.revisits, CellKind::kCount);
    add("of them not modified (304)", totals.not_modified, CellKind::kCount);
    add("of them with the same bytes again", totals.unchanged, CellKind::kCount);
    add("of them gone (404, 410)", totals.gone, CellKind::kCount);
  }
  add("mean time of an answer", Ratio(totals.answer_ms, totals.answers), CellKind::kMillis);
  if (seconds > 0) {
    add("pages per second", static_cast<double>(totals.pages) / seconds, CellKind::kReal);
    add("mean rate of download, Mbit/s", static_cast<double>(totals.received) * 8 / 1e6 / seconds, CellKind::kReal);
  }
  return table;
}

ReportTable Stages(const ReportTotals& totals, const ReportTally& found) {
  ReportTable table =
      TableOf("stages", "From links to documents",
              "How many URLs got how far. Links count once per page; what is below counts each URL once.", {});
  table.columns = {{"stage", CellKind::kText}, {"count", CellKind::kCount}};
  table.rows = {
      {"links on HTML documents", totals.links},
      {"URLs with a result", totals.urls},
      {"denied or left out without a request", totals.denied},
      {"requested", totals.requested},
      {"of a name that could not be resolved", totals.dns_failed},
      {"answered", totals.answers},
      {"pages (2xx)", totals.pages},
      {"HTML documents", totals.html},
      {"pages with contents", totals.with_content},
      {"different contents", found.contents},
  };
  return table;
}

// A row per name, with all of its values.
ReportTable Rows(ReportTable table, const TopRows& top, size_t plotted) {
  for (const TopRows::Row& row : top.rows()) {
    std::vector<ReportCell>& cells = table.rows.emplace_back();
    cells.emplace_back(row.name);
    for (size_t i = 1; i < table.columns.size(); ++i) cells.emplace_back(row.values[i - 1]);
  }
  table.rows_left_out = top.left_out();
  table.plot = ReportPlot::kBars;
  table.plotted = plotted;
  return table;
}

ReportTable Domains(const char* id, const char* title, const TopRows& top, size_t plotted, bool has_links) {
  ReportTable table = TableOf(id, title, "",
                              {{"domain", CellKind::kText},
                               {"hosts", CellKind::kCount},
                               {"documents", CellKind::kCount},
                               {"bytes", CellKind::kBytes}});
  if (has_links) table.columns.push_back({"in_degree", CellKind::kCount});
  return Rows(std::move(table), top, plotted);
}

ReportTable Depths(const ReportTotals& totals) {
  ReportTable table =
      TableOf("depths", "Pages by depth", "Links from a seed.",
              {{"depth", CellKind::kText}, {"pages", CellKind::kCount}, {"percent", CellKind::kPercent}});
  for (const auto& [depth, pages] : totals.depths) {
    table.rows.push_back({fmt::format("{}{}", depth, depth == ReportTotals::kDeepest ? " or more" : ""), pages,
                          Percent(pages, totals.pages)});
  }
  table.plot = ReportPlot::kColumns;
  return table;
}

ReportTable Contents(const ReportTotals& totals, const ReportTally& tally) {
  ReportTable table =
      TableOf("contents", "Equal contents",
              fmt::format("{} of {} pages have the contents of another page; the largest groups:", tally.copies,
                          totals.with_content),
              {{"fingerprint", CellKind::kText}, {"pages", CellKind::kCount}, {"bytes", CellKind::kBytes}});
  table = Rows(std::move(table), tally.repeated_contents, 1);
  table.plot = ReportPlot::kNone;
  return table;
}

ReportTable Matrix(const LinkMatrix& matrix) {
  ReportTable table =
      TableOf("link_matrix", "Links between top-level domains", "Each link once per page that has it.", {});
  if (matrix.chosen()) matrix.Fill(table);
  return table;
}

ReportTable Broken(const ReportTotals& totals) {
  ReportTable table = totals.broken;
  table.note = totals.has_links
                   ? "Links to URLs that were requested and failed, as 'portolan links --broken' lists them."
                   : "URLs that were requested and failed, with the page on which each was found first.";
  return table;
}

ReportTable Times(const TimeLine& times) {
  ReportTable table =
      TableOf("timeline", "Pages over time", fmt::format("In steps of {} s.", times.step_s()),
              {{"time", CellKind::kText}, {"pages_per_s", CellKind::kReal}, {"bytes_per_s", CellKind::kReal}});
  for (const auto& [time, bin] : times.bins()) {
    table.rows.push_back({UtcTime(time), Ratio(bin.pages, times.step_s()), Ratio(bin.bytes, times.step_s())});
  }
  table.plot = ReportPlot::kLine;
  return table;
}

}  // namespace

std::vector<ReportTable> ReportTables(const ReportTotals& totals, const ReportTally& tally) {
  std::vector<ReportTable> tables;
  const auto add = [&tables](ReportTable table) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  };
  add(Summary(totals, tally));
  add(Stages(totals, tally));
  add(Shares(TableOf("outcomes", "URLs by outcome", "", {}), tally.outcomes, "outcome", "urls", false));
  add(Shares(
      TableOf("statuses", "Answers by HTTP status", "Of pages and sitemaps, by the last answer of each URL.", {}),
      tally.statuses, "status", "urls", true));
  add(Shares(
      TableOf("servers", "Web servers by software", "Hosts, by the product that most of their answers name.", {}),
      tally.products, "product", "hosts", false));
  add(Rows(TableOf("suffixes", "Servers and documents by public suffix", "",
                   {{"suffix", CellKind::kText},
                    {"hosts", CellKind::kCount},
                    {"machines", CellKind::kCount},
                    {"documents", CellKind::kCount},
                    {"bytes", CellKind::kBytes}}),
           tally.suffixes, 3));
  add(Domains("domains_by_hosts", "Domains with most web servers", tally.by_hosts, 1, totals.has_links));
  add(Domains("domains_by_documents", "Domains with most documents", tally.by_documents, 2, totals.has_links));
  add(Domains("domains_by_in_degree", "Domains that most other domains link to", tally.by_in_degree, 4, true));
  add(Rows(TableOf("hosts", "Hosts with most documents", "",
                   {{"host", CellKind::kText},
                    {"requests", CellKind::kCount},
                    {"answers", CellKind::kCount},
                    {"documents", CellKind::kCount},
                    {"bytes", CellKind::kBytes}}),
           tally.hosts, 3));
  add(Steps(TableOf("out_links", "Links per HTML document", fmt::format("Mean {:.1f}.", totals.out_links.mean()), {}),
            totals.out_links, CellKind::kCount, "documents"));
  add(Shares(TableOf("extensions", "Pages by file extension", "Of the URL's last path segment.", {}), tally.extensions,
             "extension", "pages", true));
  add(Shares(TableOf("types", "Pages by type", "As detected from the bytes.", {}), tally.types, "type", "pages", true));
  add(Matrix(tally.matrix));
  add(Contents(totals, tally));
  add(Shares(TableOf("languages", "Pages by language", "As detected from the text.", {}), tally.languages, "language",
             "pages", true));
  add(Steps(TableOf("sizes", "Pages by size", "Bytes without the content coding.", {}), totals.sizes, CellKind::kBytes,
            "pages"));
  add(Steps(
      TableOf("answer_times", "Answers by time", "From the beginning of the request to the end of the answer.", {}),
      totals.answer_times, CellKind::kMillis, "answers"));
  add(Depths(totals));
  add(Shares(TableOf("protocols", "Requests by protocol", "", {}), tally.protocols, "protocol", "requests", true));
  add(Shares(TableOf("robots", "robots.txt files", "What the servers answered when asked for robots.txt.", {}),
             tally.robots, "result", "files", true));
  add(Shares(TableOf("redirects", "Redirects", "Status, and where they lead.", {}), tally.redirects, "redirect", "urls",
             false));
  add(Broken(totals));
  add(Times(totals.times));
  return tables;
}

}  // namespace portolan
