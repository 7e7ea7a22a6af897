// What settings of the crawler cost: the same crawl with them and without them, many times, in changing order.
//
// A shared machine moves by more than what most settings cost, within minutes. So each crawl with the settings stands
// beside one without it that ran just before or after, and the median over the pairs is told, with its quartiles.

#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/crawl/judged_crawl.h"

namespace portolan::bench {

// Every crawl must be judged clean. `settings` (key=value) are added to those of `choice` for one crawl of each pair.
Result<nlohmann::ordered_json> MeasureSideBySide(const CrawlChoice& choice, const std::vector<std::string>& settings,
                                                 uint32_t rounds, const std::string& dir, Report& report);

}  // namespace portolan::bench
