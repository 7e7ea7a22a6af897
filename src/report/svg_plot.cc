#include "report/svg_plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace portolan {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 180;
constexpr double kLeft = 64;  // room for the axis' numbers
constexpr double kBottom = 34;
constexpr size_t kMostBars = 20;
constexpr size_t kLabelBytes = 48;

std::string Open(const ReportTable& table, double height) {
  return fmt::format(R"(<svg role="img" viewBox="0 0 {} {}" class="plot"><title>{}</title>)", kWidth, height,
                     EscapeHtml(table.title));
}

std::string Label(std::string_view text) {
  if (text.size() <= kLabelBytes) return EscapeHtml(text);
  size_t end = kLabelBytes;
  while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return EscapeHtml(text.substr(0, end)) + "…";
}

double Largest(const ReportTable& table, size_t column) {
  double most = 0;
  for (const auto& row : table.rows) most = std::max(most, CellNumber(row[column]));
  return most;
}

std::string Bars(const ReportTable& table) {
  constexpr double kRow = 20;
  constexpr double kLabels = 250;
  constexpr double kValues = 90;
  const size_t rows = std::min(table.rows.size(), kMostBars);
  const double most = Largest(table, table.plotted);
  std::string svg = Open(table, kRow * static_cast<double>(rows) + 4);
  for (size_t i = 0; i < rows; ++i) {
    const auto& row = table.rows[i];
    const double y = kRow * static_cast<double>(i);
    const double length = most > 0 ? CellNumber(row[table.plotted]) / most * (kWidth - kLabels - kValues) : 0;
    svg += fmt::format(R"(<text x="{}" y="{}" class="label" text-anchor="end">{}</text>)", kLabels - 8, y + 15,
                       Label(CellText(row[0], table.columns[0].kind)));
    svg += fmt::format(R"(<rect x="{}" y="{}" width="{:.1f}" height="14" class="bar"/>)", kLabels, y + 4,
                       std::max(length, 0.5));
    svg += fmt::format(R"(<text x="{:.1f}" y="{}" class="value">{}</text>)", kLabels + length + 6, y + 15,
                       EscapeHtml(CellText(row[table.plotted], table.columns[table.plotted].kind)));
  }
  return svg + "</svg>";
}

// The axis on the left: its lowest and highest value and the middle.
std::string Axis(double most, CellKind kind) {
  std::string svg;
  for (int i = 0; i <= 2; ++i) {
    const double value = most * i / 2;
    const double y = kHeight - kBottom - (kHeight - kBottom - 12) * i / 2;
    const ReportCell cell = kind == CellKind::kCount && most >= 2
                                ? ReportCell(static_cast<uint64_t>(std::llround(value)))
                                : ReportCell(value);
    svg += fmt::format(R"(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" class="grid"/>)", kLeft, kWidth, y, y);
    svg += fmt::format(R"(<text x="{}" y="{:.1f}" class="value" text-anchor="end">{}</text>)", kLeft - 6, y + 4,
                       EscapeHtml(CellText(cell, kind)));
  }
  return svg;
}

std::string Columns(const ReportTable& table) {
  const double most = Largest(table, table.plotted);
  const auto count = static_cast<double>(table.rows.size());
  const double step = (kWidth - kLeft) / count;
  const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(60 / step)));
  std::string svg = Open(table, kHeight) + Axis(most, table.columns[table.plotted].kind);
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const auto& row = table.rows[i];
    const double height = most > 0 ? CellNumber(row[table.plotted]) / most * (kHeight - kBottom - 12) : 0;
    const double x = kLeft + step * static_cast<double>(i);
    const std::string name = EscapeHtml(CellText(row[0], table.columns[0].kind));
    svg += fmt::format(
        R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" class="bar"><title>{}: {}</title></rect>)",
        x + step * 0.1, kHeight - kBottom - height, step * 0.8, std::max(height, 0.5), name,
        EscapeHtml(CellText(row[table.plotted], table.columns[table.plotted].kind)));
    if (i % every == 0) {
      svg += fmt::format(R"(<text x="{:.1f}" y="{}" class="value" text-anchor="middle">{}</text>)", x + step / 2,
                         kHeight - kBottom + 16, name);
    }
  }
  return svg + "</svg>";
}

std::string Line(const ReportTable& table) {
  if (table.rows.size() < 2) return {};
  const double most = Largest(table, table.plotted);
  const double step = (kWidth - kLeft) / static_cast<double>(table.rows.size() - 1);
  std::string svg =
      Open(table, kHeight) + Axis(most, table.columns[table.plotted].kind) + R"(<polyline class="line" points=")";
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const double share = most > 0 ? CellNumber(table.rows[i][table.plotted]) / most : 0;
    svg += fmt::format("{:.1f},{:.1f} ", kLeft + step * static_cast<double>(i),
                       kHeight - kBottom - share * (kHeight - kBottom - 12));
  }
  svg += R"("/>)";
  svg += fmt::format(R"(<text x="{}" y="{}" class="value">{}</text>)", kLeft, kHeight - kBottom + 16,
                     EscapeHtml(CellText(table.rows.front()[0], CellKind::kText)));
  svg += fmt::format(R"(<text x="{}" y="{}" class="value" text-anchor="end">{}</text>)", kWidth, kHeight - kBottom + 16,
                     EscapeHtml(CellText(table.rows.back()[0], CellKind::kText)));
  return svg + "</svg>";
}

// By the logarithm: most links stay within a domain, and the others would not be seen beside them.
std::string Matrix(const ReportTable& table) {
  constexpr double kCell = 40;
  constexpr double kNames = 100;
  const size_t side = table.rows.size();
  double most = 1;
  for (const auto& row : table.rows) {
    for (size_t c = 1; c <= side; ++c) most = std::max(most, CellNumber(row[c]));
  }
  std::string svg = Open(table, kCell * static_cast<double>(side) + 24);
  for (size_t i = 0; i < side; ++i) {
    const double at = kCell * static_cast<double>(i);
    const std::string name = Label(CellText(table.rows[i][0], CellKind::kText));
    svg +=
        fmt::format(R"(<text x="{}" y="{}" class="label" text-anchor="end">{}</text>)", kNames - 8, at + 24 + 25, name);
    svg += fmt::format(R"(<text x="{}" y="16" class="label" text-anchor="middle">{}</text>)", kNames + at + kCell / 2,
                       name);
    for (size_t c = 1; c <= side; ++c) {
      const double links = CellNumber(table.rows[i][c]);
      svg += fmt::format(
          R"(<rect x="{}" y="{}" width="{}" height="{}" class="bar" fill-opacity="{:.3f}"><title>{} to {}: {}</title></rect>)",
          kNames + kCell * static_cast<double>(c - 1), at + 24, kCell - 2, kCell - 2,
          links > 0 ? 0.08 + 0.92 * std::log(links + 1) / std::log(most + 1) : 0, name,
          Label(CellText(table.rows[c - 1][0], CellKind::kText)),
          EscapeHtml(CellText(table.rows[i][c], CellKind::kCount)));
    }
  }
  return svg + "</svg>";
}

}  // namespace

std::string PlotOf(const ReportTable& table) {
  if (table.rows.empty()) return {};
  switch (table.plot) {
    case ReportPlot::kNone:
      return {};
    case ReportPlot::kBars:
      return Bars(table);
    case ReportPlot::kColumns:
      return Columns(table);
    case ReportPlot::kLine:
      return Line(table);
    case ReportPlot::kMatrix:
      return Matrix(table);
  }
  return {};
}

}  // namespace portolan
