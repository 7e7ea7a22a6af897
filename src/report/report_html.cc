#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "report/report_table.h"
#include "report/svg_plot.h"

namespace portolan {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b2733; --faint: #66727e; --line: #d9dfe5; --bar: #2f6fa7; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dde5ec; --faint: #93a1ae; --line: #35424e; --bar: #64a8e0; --paper: #141b22; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 60rem; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .25rem; }
p { margin: .25rem 0 .75rem; color: var(--faint); }
nav { columns: 3 14rem; margin: 1.25rem 0; }
nav a { display: block; color: var(--bar); text-decoration: none; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top;
  white-space: nowrap; }
th { color: var(--faint); font-weight: 600; }
th.text, td.text { text-align: left; white-space: normal; overflow-wrap: anywhere; }
.plot { display: block; width: 100%; max-width: 720px; height: auto; margin: .5rem 0 1rem; }
.plot text { font-size: 12px; fill: var(--ink); }
.plot .value { fill: var(--faint); font-size: 11px; }
.bar { fill: var(--bar); }
.grid { stroke: var(--line); }
.line { fill: none; stroke: var(--bar); stroke-width: 1.5; }
details > summary { cursor: pointer; color: var(--faint); }
)";

std::string Heading(const ReportColumn& column) {
  std::string name = EscapeHtml(column.name);
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string TableHtml(const ReportTable& table) {
  const bool summary = table.id == "summary";
  const size_t columns = summary ? 2 : table.columns.size();
  std::string html = "<div class=\"scroll\"><table>";
  if (!summary) {
    html += "<thead><tr>";
    for (const ReportColumn& column : table.columns) {
      html += fmt::format("<th{}>{}</th>", column.kind == CellKind::kText ? " class=\"text\"" : "", Heading(column));
    }
    html += "</tr></thead>";
  }
  html += "<tbody>";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (size_t c = 0; c < columns; ++c) {
      html += fmt::format("<td{}>{}</td>", table.columns[c].kind == CellKind::kText ? " class=\"text\"" : "",
                          EscapeHtml(CellText(row[c], table.columns[c].kind)));
    }
    html += "</tr>\n";
  }
  html += "</tbody></table></div>";
  if (table.rows_left_out > 0) {
    html += fmt::format("<p>{} more</p>", CellText(table.rows_left_out, CellKind::kCount));
  }
  return html;
}

}  // namespace

std::string ReportToHtml(const CrawlReport& report) {
  const std::string name = EscapeHtml(report.name);
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      // Whatever a server's text might do if an escape were missing: nothing is loaded and nothing runs.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta name=\"referrer\" content=\"no-referrer\">"
      "<title>Crawl report: {0}</title><style>{1}</style></head>\n<body>\n<h1>Crawl report: {0}</h1>\n<p>{2}, "
      "{3}</p>\n",
      name, kStyle, EscapeHtml(report.made), EscapeHtml(report.generator));
  html += "<nav>";
  for (const ReportTable& table : report.tables) {
    html += fmt::format("<a href=\"#{}\">{}</a>", EscapeHtml(table.id), EscapeHtml(table.title));
  }
  html += "</nav>\n";
  for (const ReportTable& table : report.tables) {
    html += fmt::format("<section id=\"{}\"><h2>{}</h2>\n", EscapeHtml(table.id), EscapeHtml(table.title));
    if (!table.note.empty()) html += fmt::format("<p>{}</p>\n", EscapeHtml(table.note));
    html += PlotOf(table);
    // Where the plot says it all the numbers are folded away.
    const bool folded = table.plot == ReportPlot::kLine || table.plot == ReportPlot::kColumns;
    html += folded ? "<details><summary>Numbers</summary>" + TableHtml(table) + "</details>" : TableHtml(table);
    html += "</section>\n";
  }
  for (const std::string& missing : report.missing) html += fmt::format("<p>{}</p>\n", EscapeHtml(missing));
  return html + "</body></html>\n";
}

}  // namespace portolan
