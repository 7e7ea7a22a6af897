// For tests: whether a computed figure is the one printed in a table.
//
// The thesis mostly cuts figures off (4.487 is printed as 4.48) and sometimes rounds them (68.7 as 69). Both are taken
// as the same figure, nothing else.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace portolan {

inline ::testing::AssertionResult IsPrintedAs(double value, std::string printed) {
  std::erase(printed, ',');
  const size_t point = printed.find('.');
  const double scale = std::pow(10, point == std::string::npos ? 0 : printed.size() - point - 1);
  const double figure = std::round(std::stod(printed) * scale);
  if (std::floor(value * scale) == figure || std::round(value * scale) == figure) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << value << " would not be printed as " << printed;
}

}  // namespace portolan
