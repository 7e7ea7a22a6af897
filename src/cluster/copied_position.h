// How far a checkpoint of a cluster's shard has read its stream: the number of the last message of the stream that the
// checkpoint holds. A copy with this checkpoint can be taken over as long as the stream still has everything behind it.
//
// Thread: any.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

// `manifest`: its text. 0: the shard had taken nothing. kCorrupt: it is not the checkpoint of a cluster's shard.
Result<uint64_t> PositionOfCheckpoint(Env& env, const std::string& state_dir, std::string_view manifest);
// The same of the newest checkpoint in that directory. kNotFound: there is none.
Result<uint64_t> PositionOfState(Env& env, const std::string& state_dir);

}  // namespace portolan
