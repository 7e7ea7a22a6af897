// What a setting of the crawler costs: the same crawl with it and without it, many times, in changing order.
//
// A shared machine moves by more than what most settings cost, within minutes. So each crawl with the setting stands
// beside one without it that ran just before or after, and the median over the pairs is told, with its quartiles.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/benchmark.h"
#include "bench/crawl/judged_crawl.h"

namespace portolan::bench {

// Every crawl must be judged clean. `setting` (key=value) is added to those of `choice` for one crawl of each pair.
Result<nlohmann::ordered_json> MeasureSideBySide(const CrawlChoice& choice, const std::string& setting, uint32_t rounds,
                                                 const std::string& dir, Report& report);

}  // namespace portolan::bench
