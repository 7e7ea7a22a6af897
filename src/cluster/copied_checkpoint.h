// CopiedCheckpoint: what a checkpoint of a cluster's shard says of its exchange, for a node that keeps a copy and for
// the one that gives it away.
//
// Thread: any.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

struct CopiedCheckpoint {
  // The number of the last message of the shard's stream that the checkpoint holds; 0: it had taken nothing. A copy
  // with this checkpoint can be taken over as long as the stream still has everything behind it.
  uint64_t position = 0;
  uint64_t serial = 0;  // of the exchange's file, which grows with each checkpoint; 0: none
  bool operator==(const CopiedCheckpoint&) const = default;
};

// `manifest`: its text. kCorrupt: it is not the checkpoint of a cluster's shard.
Result<CopiedCheckpoint> CheckpointOfManifest(Env& env, const std::string& state_dir, std::string_view manifest);
// The same of the newest checkpoint in that directory. kNotFound: there is none.
Result<CopiedCheckpoint> CheckpointOfState(Env& env, const std::string& state_dir);

}  // namespace portolan
