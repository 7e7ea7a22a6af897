// The benchmark's figure: bytes of disk traffic per page over the size of the crawl, both axes logarithmic, as SVG.

#pragma once

#include <string>
#include <vector>

namespace portolan::bench {

struct PlotSeries {
  std::string label;
  std::string color;
  bool dashed = false;  // a model; measured ones have dots
  std::vector<double> y;
};

// REQUIRES: all positive; each y as long as x.
std::string LogLogSvg(const std::string& title, const std::string& x_label, const std::string& y_label,
                      const std::vector<double>& x, const std::vector<PlotSeries>& series);

}  // namespace portolan::bench
