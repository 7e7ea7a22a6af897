// Recovery of a crawl's directory: from what a crash left over to the last checkpoint, in the one order that everybody
// uses: state, then the outputs.
//
// It cuts and removes what came after the checkpoint, and that is gone for good. So it is run dry first (DryRunEnv),
// and where it would take anything away, everything that the crawl needs in order to go on is read before: each file of
// the state to its last byte, then the structures themselves. A crawl that cannot go on is refused as it was found.
//
// Thread: one caller, and a worker. Memory bound: as a crawl with these options, before its first fetch; given back.
// Time: after a clean stop nothing is read twice; after a crash the state is read once more.

#pragma once

#include <functional>

#include "base/result.h"
#include "crawl/engine.h"
#include "disk/manifest.h"
#include "io/env.h"

namespace portolan {

// What Engine::Open does to the directory before it opens the shard. The Env says whether it is done or only tried.
Result<Manifest> Recover(Env& env, const EngineOptions& options);

// Opens the shard on files that are recovered, without anybody to fetch or to keep, and gives it to `look`.
Status OpenShardAlone(Env& env, const Manifest& manifest, const EngineOptions& options,
                      const std::function<void(const Shard&)>& look);

// Nothing is changed. An error: recovery must not begin.
Status CheckBeforeRecovery(Env& env, const EngineOptions& options);

}  // namespace portolan
