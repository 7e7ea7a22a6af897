// What dividing a crawl costs: pages per processor second of `portolan crawl --nodes N`, all node processes together,
// relative to `portolan crawl` without NATS, on the same simulated web. nats-server's own time is beside it.
//
// Large enough that starting and ending processes, a few tenths of a second each, do not decide.
//
// The crawls are processes of their own, so that their processor time is what the system says of them; the web is
// another one and counts for nobody. Checked: all crawls fetch the same number of pages, and everything.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/result.h"
#include "bench/benchmark.h"

namespace portolan::bench {

struct EfficiencyOptions {
  uint64_t pages = 100'000;
  std::vector<uint32_t> nodes = {1, 2, 4};
};
Result<nlohmann::ordered_json> MeasureEfficiency(const EfficiencyOptions& options, Report& report);

}  // namespace portolan::bench
