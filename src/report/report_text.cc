#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "base/text.h"
#include "base/units.h"
#include "base/utf8.h"
#include "report/report_table.h"

namespace portolan {
namespace {

constexpr size_t kWidestText = 60;  // characters of a cell on a terminal

// "1,234,567"
std::string Grouped(uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

size_t Characters(std::string_view text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }));
}

std::string Shortened(std::string text) {
  if (Characters(text) <= kWidestText) return text;
  size_t at = 0;
  for (size_t characters = 0; at < text.size(); ++at) {
    if ((static_cast<uint8_t>(text[at]) & 0xc0) != 0x80 && ++characters == kWidestText) break;
  }
  return text.substr(0, at) + "…";
}

}  // namespace

double CellNumber(const ReportCell& cell) {
  if (const auto* count = std::get_if<uint64_t>(&cell)) return static_cast<double>(*count);
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return 0;
}

std::string CellText(const ReportCell& cell, CellKind kind) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  const double number = CellNumber(cell);
  switch (kind) {
    case CellKind::kText:
    case CellKind::kCount:
      return std::holds_alternative<uint64_t>(cell) ? Grouped(std::get<uint64_t>(cell)) : fmt::format("{:.0f}", number);
    case CellKind::kBytes:
      return FormatBytes(static_cast<uint64_t>(std::max(0.0, std::round(number))));
    case CellKind::kPercent:
      return fmt::format("{:.2f} %", number);
    case CellKind::kMillis:
      return number < 1 ? fmt::format("{:.0f} ms", number) : FormatDuration(number / 1000);
    case CellKind::kReal:
      return fmt::format("{:.2f}", number);
    case CellKind::kSeconds:
      return FormatDuration(number);
  }
  return {};
}

std::string ReportToText(const CrawlReport& report, size_t most_rows) {
  std::string out = fmt::format("{}, {}\n", Printable(report.name), report.made);
  for (const ReportTable& table : report.tables) {
    if (table.plot == ReportPlot::kLine) continue;  // of use only as a plot
    out += fmt::format("\n{}\n", table.title);
    if (!table.note.empty()) out += fmt::format("  {}\n", Printable(table.note));
    const bool named = table.id != "summary";
    const size_t columns = named ? table.columns.size() : 2;
    const size_t rows = named ? std::min(most_rows, table.rows.size()) : table.rows.size();
    std::vector<std::vector<std::string>> lines;
    if (named) {
      std::vector<std::string>& names = lines.emplace_back();
      for (const ReportColumn& column : table.columns) {
        names.push_back(Printable(column.name));
        std::ranges::replace(names.back(), '_', ' ');
      }
    }
    for (size_t i = 0; i < rows; ++i) {
      std::vector<std::string>& line = lines.emplace_back();
      for (size_t c = 0; c < columns; ++c) {
        line.push_back(Shortened(Printable(CellText(table.rows[i][c], table.columns[c].kind))));
      }
    }
    std::vector<size_t> widths(columns);
    for (const auto& line : lines) {
      for (size_t c = 0; c < columns; ++c) widths[c] = std::max(widths[c], Characters(line[c]));
    }
    for (const auto& line : lines) {
      std::string text = " ";
      for (size_t c = 0; c < columns; ++c) {
        const std::string space(widths[c] - Characters(line[c]), ' ');
        // Numbers end below each other.
        const bool left = table.columns[c].kind == CellKind::kText;
        text += " " + (left ? line[c] + space : space + line[c]) + (c + 1 < columns ? " " : "");
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
    const uint64_t more = table.rows.size() - rows + table.rows_left_out;
    if (more > 0) out += fmt::format("  … {} more\n", Grouped(more));
  }
  for (const std::string& missing : report.missing) out += fmt::format("\n{}\n", missing);
  return out;
}

std::string TableToCsv(const ReportTable& table) {
  std::string out;
  for (size_t c = 0; c < table.columns.size(); ++c) {
    if (c > 0) out += ',';
    AppendCsv(out, table.columns[c].name);
  }
  out += "\n";
  for (const auto& row : table.rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      if (c > 0) out += ',';
      if (const auto* text = std::get_if<std::string>(&row[c])) {
        AppendCsv(out, *text);
      } else if (const auto* count = std::get_if<uint64_t>(&row[c])) {
        out += fmt::format("{}", *count);
      } else {
        out += fmt::format("{:.6g}", std::get<double>(row[c]));
      }
    }
    out += "\n";
  }
  return out;
}

}  // namespace portolan
