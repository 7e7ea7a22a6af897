// A report is a list of tables; each way of writing it (terminal, JSON, CSV, HTML) knows tables and nothing else. So a
// new question is one function that fills one more table.
//
// Thread: plain values. Memory bound: the tables' rows, which those who fill them bound.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace portolan {

// How a number is shown to people; JSON and CSV have the number itself.
enum class CellKind : uint8_t { kText, kCount, kBytes, kPercent, kMillis, kReal, kSeconds };

struct ReportColumn {
  std::string name;  // the key in JSON and CSV
  CellKind kind = CellKind::kText;
};

// Text may be anything that a server sent; every writer escapes it.
using ReportCell = std::variant<std::string, uint64_t, double>;

enum class ReportPlot : uint8_t {
  kNone,
  kBars,     // a bar per row: the first column is the label, `plotted` the length
  kColumns,  // the rows are steps of one scale
  kLine,     // the first column is a time
  kMatrix,   // row names in the first column, the others by colour
};

struct ReportTable {
  std::string id;     // the key in JSON, the file's name for CSV
  std::string title;  // "Answers by status"
  std::string note;   // what is counted, in a sentence; may be empty
  std::vector<ReportColumn> columns;
  std::vector<std::vector<ReportCell>> rows;
  uint64_t rows_left_out = 0;  // more than were wanted
  ReportPlot plot = ReportPlot::kNone;
  size_t plotted = 1;  // the column
};

struct CrawlReport {
  std::string name;       // of the crawl
  std::string made;       // when, UTC
  std::string generator;  // "portolan 0.1.0"
  std::vector<ReportTable> tables;
  // Questions that the crawl's logs cannot answer, with the setting that would make them: one sentence each.
  std::vector<std::string> missing;
};

// The cell as people read it: "12,345", "1.5 MiB", "12.3 %", "45 ms". Text is given back as it is.
std::string CellText(const ReportCell& cell, CellKind kind);
// The cell as a number, for plots; text is 0.
double CellNumber(const ReportCell& cell);

// What is done for a terminal: tables with their titles, text made printable, at most `most_rows` rows each.
std::string ReportToText(const CrawlReport& report, size_t most_rows);
// One object: "report" with name, made and generator, "missing", and a list of objects per table id.
std::string ReportToJson(const CrawlReport& report);
// RFC 4180 with a line of names.
std::string TableToCsv(const ReportTable& table);
// One page that loads nothing: styles inside, plots as SVG, no script.
std::string ReportToHtml(const CrawlReport& report);

}  // namespace portolan
