#include "bench/seen/drum_seen.h"

namespace portolan::bench {

Result<std::unique_ptr<DrumSeen>> DrumSeen::Create(Env& env, const UrlSeenOptions& options, Codec codec,
                                                   std::optional<uint64_t> recent_bytes) {
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, options.dir));
  std::unique_ptr<DrumSeen> seen(new DrumSeen(std::move(manifest), options.unique));
  DrumOptions drum;
  drum.name = "urlseen";
  drum.memory = options.ram;
  drum.only_op = DrumOp::kCheckUpdate;
  drum.emit_duplicates = false;
  drum.codec = codec;
  drum.recent_bytes = recent_bytes;
  ASSIGN_OR_RETURN(seen->drum_, Drum::Open(env, seen->manifest_, seen->executor_, drum));
  return seen;
}

Status DrumSeen::Add(uint64_t key, std::string_view text) {
  RETURN_IF_ERROR(drum_->Add({.key = key, .aux = text}));
  return drum_->ResultsReady() ? TakeResults() : Status();
}

Status DrumSeen::TakeResults() {
  RETURN_IF_ERROR(drum_->TakeResults(sink_, ~uint64_t{0}));
  // A checkpoint after each round, as the crawl makes them now and then: files of the round before can go.
  Checkpointable* const all[] = {drum_.get()};
  return manifest_.Commit(all);
}

Status DrumSeen::Finish() { return drum_->Drain(sink_); }

}  // namespace portolan::bench
