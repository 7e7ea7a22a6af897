#include "follow/follower.h"

#include <utility>

namespace portolan {

Result<Follower> Follower::Open(Env& env, const OutputSource& source, const std::string& position_path) {
  ASSIGN_OR_RETURN(const OutputPosition position, LoadPosition(env, position_path, source.name));
  ASSIGN_OR_RETURN(const auto committed, ReadCommitted(env, source));
  if (!committed || committed->lanes.empty()) {
    return Fail(ErrorCode::kNotFound, source.state_dir + ": the crawl has no output '" + source.name + "'");
  }
  ASSIGN_OR_RETURN(OutputReader reader, OutputReader::Open(env, source, committed->lanes[0], position));
  return Follower(env, std::move(reader), source.name, position_path);
}

Status Follower::Save(uint64_t copied) {
  OutputPosition position = reader_.position();
  position.copied = copied;
  return SavePosition(*env_, path_, name_, position);
}

}  // namespace portolan
