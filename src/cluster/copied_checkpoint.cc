#include "cluster/copied_checkpoint.h"

#include "cluster/exchange_state.h"
#include "cluster/exchange_wire.h"
#include "disk/manifest.h"

namespace portolan {

Result<CopiedCheckpoint> CheckpointOfManifest(Env& env, const std::string& state_dir, std::string_view manifest) {
  ASSIGN_OR_RETURN(const ParsedManifest parsed, ParseManifest(manifest, state_dir));
  for (const ManifestSection& section : parsed.sections) {
    if (section.name != ExchangeWire::kSection) continue;
    if (section.files.empty()) return CopiedCheckpoint{};
    const std::string path = JoinPath(state_dir, section.files.front().name);
    ASSIGN_OR_RETURN(std::string bytes, ReadWholeFile(env, path));
    if (bytes.size() < section.files.front().length) return Fail(ErrorCode::kCorrupt, path + ": is cut");
    bytes.resize(section.files.front().length);
    ASSIGN_OR_RETURN(const ExchangeState state, ExchangeState::Decode(bytes));
    ASSIGN_OR_RETURN(const uint64_t serial, section.Number("serial"));
    return CopiedCheckpoint{.position = state.position.sequence, .serial = serial};
  }
  return Fail(ErrorCode::kCorrupt, state_dir + ": not the checkpoint of a cluster's shard");
}

Result<CopiedCheckpoint> CheckpointOfState(Env& env, const std::string& state_dir) {
  ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(env, state_dir));
  return CheckpointOfManifest(env, state_dir, FormatManifest(manifest.sequence(), manifest.sections()));
}

}  // namespace portolan
