// Judging a hit log: which world it is of, its events in the order of time, what was reachable.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/env.h"
#include "sim/hits/hit_log_reader.h"
#include "sim/oracle/judge.h"
#include "sim/world/params.h"
#include "sim/world/world.h"

namespace portolan::sim {

// All that differs from the defaults stands in the header.
Result<WorldParams> ParamsOfHeader(const HitLogHeader& header);

// Every event of the log, as it stands there.
Status ReadHits(HitLogReader& reader, HitSink& sink);

// How far events stand behind their time in this log at most, its longest request mostly: the shortest window with
// which TimeOrder can order it, so that no more is held in memory than must be. A pass over the log.
Result<int64_t> WindowOf(Env& env, const std::string& path);

// Tells the judge what a crawl from the seeds could have reached when the first request came.
void CoverReachable(const World& world, const Rules& rules, bool follow_nofollow, Judge& judge,
                    const std::function<void(const std::string& url)>& each_missed = nullptr);

// The whole account of a log of this world.
Result<Account> JudgeHitLog(Env& env, const std::string& path, const World& world, const Rules& rules);

}  // namespace portolan::sim
