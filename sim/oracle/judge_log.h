// Judges a hit log: its world, its events in the order of time, what was reachable.

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

// Everything that differs from the defaults is in the header.
Result<WorldParams> ParamsOfHeader(const HitLogHeader& header);

// Every event of the log, as it stands there.
Status ReadHits(HitLogReader& reader, HitSink& sink);

// How far events in this log are out of order at most, mostly its longest request: the shortest window with which
// TimeOrder can sort it, so that no more than necessary is held in memory. Takes one pass over the log.
Result<int64_t> WindowOf(Env& env, const std::string& path);

// Tells the judge what a crawl from the seeds could have reached when the first request came.
void CoverReachable(const World& world, const Rules& rules, bool follow_nofollow, Judge& judge,
                    const std::function<void(const std::string& url)>& each_missed = nullptr);

// The whole account of a log of this world.
Result<Account> JudgeHitLog(Env& env, const std::string& path, const World& world, const Rules& rules);

}  // namespace portolan::sim
