// What the text of pages costs beside their links: by stage, and in the whole of PageMaker and of the two logs.

#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "bench/benchmark.h"
#include "bench/parse/samples.h"

namespace portolan::bench {

// Microseconds of processor time per page, the best of `rounds`; of the logs also bytes per page before and after
// compression.
Result<nlohmann::ordered_json> MeasureTextCosts(const std::vector<Sample>& samples, int rounds, Report& report);

}  // namespace portolan::bench
