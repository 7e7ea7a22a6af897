// Plots of a report's tables as SVG inside HTML: nothing to load, no script, readable by screen readers (each has a
// title).
//
// Thread: any. Memory: the text.

#pragma once

#include <string>

#include "report/report_table.h"

namespace portolan {

// "" for a table without a plot or rows.
std::string PlotOf(const ReportTable& table);

}  // namespace portolan
