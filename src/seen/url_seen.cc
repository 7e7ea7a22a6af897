#include "seen/url_seen.h"

#include <fmt/core.h>

namespace portolan {

Result<std::unique_ptr<UrlSeen>> UrlSeen::Open(Env& env, const Manifest& manifest, Executor& executor,
                                               const UrlSeenOptions& options) {
  if (options.memory < UrlSeenOptions::kMinMemory) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {} bytes of memory, at least {} are needed", options.name,
                                                         options.memory, UrlSeenOptions::kMinMemory));
  }
  DrumOptions drum_options;
  drum_options.name = options.name;
  drum_options.memory = options.memory;
  drum_options.disk = options.disk;
  drum_options.only_op = DrumOp::kCheckUpdate;
  drum_options.emit_duplicates = false;
  drum_options.codec = options.codec;
  drum_options.recent_bytes = options.recent_memory;
  drum_options.on_round_done = options.on_round_done;
  ASSIGN_OR_RETURN(auto drum, Drum::Open(env, manifest, executor, drum_options));
  std::unique_ptr<UrlSeen> seen(new UrlSeen(options, std::move(drum)));
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, Drum::kKind));
  if (section != nullptr) {
    ASSIGN_OR_RETURN(seen->counts_.offered, section->Number("seen.offered"));
    ASSIGN_OR_RETURN(seen->counts_.recent, section->Number("seen.recent"));
    ASSIGN_OR_RETURN(seen->counts_.unique, section->Number("seen.unique"));
    ASSIGN_OR_RETURN(seen->counts_.duplicates, section->Number("seen.duplicates"));
    seen->described_ = *section;
  }
  return seen;
}

Status UrlSeen::Add(uint64_t hash, std::string_view record) {
  RETURN_IF_ERROR(drum_->Add({.op = DrumOp::kCheckUpdate, .key = hash, .value = {}, .aux = record}));
  ++counts_.offered;
  return {};
}

UrlSeenCounts UrlSeen::counts() const {
  UrlSeenCounts counts = counts_;
  counts.recent += drum_->known();
  return counts;
}

Result<uint64_t> UrlSeen::Take(UniqueSink& sink, uint64_t max, int64_t now_ns) {
  struct Unique : DrumSink {
    explicit Unique(UniqueSink& receiver) : to(receiver) {}
    Status OnAnswer(const DrumAnswer& answer) override {
      RETURN_IF_ERROR(to.OnUnique(answer.aux));
      ++count;
      return {};
    }
    UniqueSink& to;
    uint64_t count = 0;
  } unique(sink);
  pace_.Observe(*drum_, now_ns);
  const uint64_t before = drum_->waiting();
  const auto result = drum_->TakeResults(unique, max);
  const uint64_t taken = before - drum_->waiting();  // also where it ended with an error
  counts_.unique += unique.count;
  counts_.duplicates += taken - unique.count;
  pace_.Observe(*drum_, now_ns);
  RETURN_IF_ERROR(result);
  return taken;
}

int64_t UrlSeen::NextRoundTime(int64_t now_ns, bool hungry) {
  pace_.Observe(*drum_, now_ns);
  return pace_.NextStart(*drum_, hungry);
}

Result<bool> UrlSeen::StartRound(int64_t now_ns, bool hungry) {
  if (!WantsRound(now_ns, hungry)) return false;
  ASSIGN_OR_RETURN(const bool started, drum_->StartRound());
  pace_.Observe(*drum_, now_ns);
  return started;
}

Status UrlSeen::Flush() {
  RETURN_IF_ERROR(drum_->Flush());
  described_ = drum_->Describe();
  described_.numbers["seen.offered"] = counts_.offered;
  described_.numbers["seen.recent"] = counts().recent;
  described_.numbers["seen.unique"] = counts_.unique;
  described_.numbers["seen.duplicates"] = counts_.duplicates;
  return {};
}

}  // namespace portolan
