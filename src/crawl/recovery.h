// Recovery of a crawl's directory: from the state after a crash back to the last checkpoint. All callers use the same
// order: state first, then the outputs.
//
// Recovery cuts and removes what was written after the checkpoint, and that cannot be undone. So it is run dry first
// (DryRunEnv). If it would remove anything, everything that the crawl needs in order to continue is read before: each
// file of the state to its last byte, then the structures themselves. If the crawl cannot continue, this is an error
// and nothing is changed.
//
// Thread: one caller, and a worker. Memory bound: as a crawl with these options before its first fetch; then freed.
// Time: after a clean stop nothing is read twice; after a crash the state is read once more.

#pragma once

#include <functional>

#include "base/result.h"
#include "crawl/engine.h"
#include "disk/manifest.h"
#include "io/env.h"

namespace portolan {

// What Engine::Open does to the directory before it opens the shards. With a DryRunEnv nothing is changed.
Result<Manifest> Recover(Env& env, const EngineOptions& options);

// Opens each shard on recovered files, without fetching or writing anything, and passes it to `look`, one after the
// other.
Status OpenShardsAlone(Env& env, const Manifest& manifest, const EngineOptions& options,
                       const std::function<void(const Shard&)>& look);

// Changes nothing. An error means that recovery must not begin.
Status CheckBeforeRecovery(Env& env, const EngineOptions& options);

}  // namespace portolan
