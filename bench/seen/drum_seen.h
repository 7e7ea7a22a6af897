// DrumSeen: URLseen on our DRUM, as the crawler uses it: a set that only checks and updates, and tells of new URLs.
//
// Rounds run in the calling thread, so that the time of a run is the time of one core.

#pragma once

#include <memory>
#include <optional>

#include "bench/seen/url_seen.h"
#include "disk/drum.h"
#include "disk/manifest.h"
#include "io/env.h"
#include "io/executor.h"

namespace portolan::bench {

class DrumSeen : public UrlSeen {
 public:
  // REQUIRES: env outlives it. `codec` kLz4 is the default setting, kZstd the compact one. `recent_bytes` as in
  // DrumOptions: none is DRUM's choice, 0 no cache of recent keys.
  static Result<std::unique_ptr<DrumSeen>> Create(Env& env, const UrlSeenOptions& options, Codec codec,
                                                  std::optional<uint64_t> recent_bytes);

  Status Add(uint64_t key, std::string_view text) override;
  Status Finish() override;

  const Drum& drum() const { return *drum_; }

 private:
  struct Sink : DrumSink {
    UniqueSink unique;
    Status OnAnswer(const DrumAnswer& answer) override {
      unique(answer.aux);
      return {};
    }
  };

  DrumSeen(Manifest manifest, UniqueSink unique) : manifest_(std::move(manifest)) { sink_.unique = std::move(unique); }
  Status TakeResults();

  Manifest manifest_;
  InlineExecutor executor_;
  Sink sink_;
  std::unique_ptr<Drum> drum_;
};

}  // namespace portolan::bench
