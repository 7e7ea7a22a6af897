#include "follow/follower.h"

#include <utility>

namespace portolan {

Result<Follower> Follower::Open(Env& env, const OutputSources& sources, const std::string& position_path) {
  const std::string name = sources.size() == 0 ? std::string() : sources.begin()->name;
  ASSIGN_OR_RETURN(const OutputPositions positions, LoadPositions(env, position_path, name));
  ASSIGN_OR_RETURN(SourcesReader reader, SourcesReader::Open(env, sources, positions));
  return Follower(env, std::move(reader), name, position_path);
}

Status Follower::Save(uint64_t copied) {
  OutputPositions positions = reader_.positions();
  positions.copied = copied;
  return SavePositions(*env_, path_, name_, positions);
}

}  // namespace portolan
