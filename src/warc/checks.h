// The rules of the standards about a record's header, one function per format. Used by strict reading.

#pragma once

#include <functional>
#include <string>

#include "warc/arc_line.h"
#include "warc/fault.h"
#include "warc/record.h"

namespace portolan {

using ReportFault = std::function<void(FaultKind, std::string)>;

// Everything that can be checked in a WARC header without its block: version, mandatory fields, duplicates, values.
// `header` is its bytes, `line_faults` what parsing counted.
void CheckWarcHeader(const WarcRecord& record, std::string_view header, const FieldFaults& line_faults,
                     const ReportFault& report);

void CheckArcLine(const ArcLine& line, const ReportFault& report);

}  // namespace portolan
