#include "bench/budget/budget_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace portolan::bench {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 540;
constexpr double kLeft = 90;
constexpr double kRight = 215;  // room for the labels at the curves' ends
constexpr double kTop = 56;
constexpr double kBottom = 70;

struct Axis {
  double low;  // log10
  double high;
  double from;  // pixels
  double to;
  double At(double value) const { return from + (std::log10(value) - low) / (high - low) * (to - from); }
};

std::string Tick(double value) {
  if (value >= 1e6) return fmt::format("{:g}M", value / 1e6);
  return value >= 1e3 ? fmt::format("{:g}K", value / 1e3) : fmt::format("{:g}", value);
}

}  // namespace

std::string LogLogSvg(const std::string& title, const std::string& x_label, const std::string& y_label,
                      const std::vector<double>& x, const std::vector<PlotSeries>& series) {
  double least = series[0].y[0];
  double most = least;
  for (const PlotSeries& one : series) {
    least = std::min(least, *std::min_element(one.y.begin(), one.y.end()));
    most = std::max(most, *std::max_element(one.y.begin(), one.y.end()));
  }
  const Axis across{std::log10(x.front()), std::log10(x.back()), kLeft, kWidth - kRight};
  const Axis up{std::floor(std::log10(least) * 2) / 2, std::ceil(std::log10(most) * 4) / 4, kHeight - kBottom, kTop};

  std::string svg;
  const auto add = [&]<typename... Args>(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(svg), format, std::forward<Args>(args)...);
    svg += '\n';
  };
  add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" font-family="sans-serif" font-size="13">)", kWidth,
      kHeight);
  add(R"(<rect width="{}" height="{}" fill="#ffffff"/>)", kWidth, kHeight);
  add(R"(<text x="{}" y="28" font-size="16" font-weight="bold" fill="#1a1a1a">{}</text>)", kLeft, title);
  // Grid: a line and a figure at 1, 2 and 5 of each power of ten.
  for (int power = 0; power <= 12; ++power) {
    for (const int digit : {1, 2, 5}) {
      const double value = digit * std::pow(10, power);
      const double log = std::log10(value);
      const char* shade = digit == 1 ? "#c8c8c8" : "#ececec";
      if (log >= across.low - 1e-9 && log <= across.high + 1e-9) {
        add(R"(<path d="M{0:.1f} {1}V{2}" stroke="{3}"/>)", across.At(value), kTop, kHeight - kBottom, shade);
        add(R"(<text x="{:.1f}" y="{}" text-anchor="middle" fill="#444">{}</text>)", across.At(value),
            kHeight - kBottom + 20, Tick(value));
      }
      if (log >= up.low - 1e-9 && log <= up.high + 1e-9) {
        add(R"(<path d="M{0} {1:.1f}H{2}" stroke="{3}"/>)", kLeft, up.At(value), kWidth - kRight, shade);
        add(R"(<text x="{}" y="{:.1f}" text-anchor="end" fill="#444">{}</text>)", kLeft - 8, up.At(value) + 4.5,
            Tick(value));
      }
    }
  }
  add(R"(<path d="M{0} {1}V{2}H{3}" fill="none" stroke="#444"/>)", kLeft, kTop, kHeight - kBottom, kWidth - kRight);
  add(R"(<text x="{}" y="{}" text-anchor="middle" fill="#1a1a1a">{}</text>)", (kLeft + kWidth - kRight) / 2,
      kHeight - 22, x_label);
  add(R"-(<text transform="translate(24 {}) rotate(-90)" text-anchor="middle" fill="#1a1a1a">{}</text>)-",
      (kTop + kHeight - kBottom) / 2, y_label);

  // Labels stand at the right ends of their curves, pushed apart from the top down.
  std::vector<std::pair<double, const PlotSeries*>> labels;
  for (const PlotSeries& one : series) {
    std::string path;
    for (size_t i = 0; i < x.size(); ++i) {
      fmt::format_to(std::back_inserter(path), "{}{:.1f} {:.1f}", i == 0 ? "M" : "L", across.At(x[i]), up.At(one.y[i]));
    }
    add(R"(<path d="{}" fill="none" stroke="{}" stroke-width="2"{}/>)", path, one.color,
        one.dashed ? R"( stroke-dasharray="7 5")" : "");
    for (size_t i = 0; i < x.size() && !one.dashed; ++i) {
      add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="{}"/>)", across.At(x[i]), up.At(one.y[i]), one.color);
    }
    labels.emplace_back(up.At(one.y.back()), &one);
  }
  std::sort(labels.begin(), labels.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  double free_from = 0;
  for (const auto& [wanted, one] : labels) {
    const double y = std::max(wanted, free_from);
    free_from = y + 17;
    add(R"(<text x="{}" y="{:.1f}" fill="{}">{}</text>)", kWidth - kRight + 12, y + 4.5, one->color, one->label);
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace portolan::bench
