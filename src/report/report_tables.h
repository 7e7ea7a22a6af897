// The tables of a report, in the order in which they are shown; those without rows are left out.

#pragma once

#include <vector>

#include "report/report_table.h"
#include "report/report_tally.h"
#include "report/report_totals.h"

namespace portolan {

std::vector<ReportTable> ReportTables(const ReportTotals& totals, const ReportTally& tally);

}  // namespace portolan
