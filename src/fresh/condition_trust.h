// ConditionTrust: may a host be asked "has it changed?" (a conditional request), or does it say "no" whatever happens?
//
// Some servers answer 304 to every conditional request: who believes them never sees a change. So some visits ask
// without a condition (checks), and what these find is compared with what the others find, per host. If conditional
// visits find changes less than a quarter as often as checks do, the host's 304s are not believed: its pages are asked
// without a condition from then on, but for one visit in kSometimes, which notices if the server has been mended.
//
// The first visits of a host are conditional, then every second is a check until some were made, then one in
// kSometimes.
//
// Thread: one owner. Deterministic: which visits are checks is a hash of the page and its number of visits.
// Memory bound: Options::memory, 8 bytes per host; a host that was dropped begins again. Durability: Checkpointable.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "disk/group_cache.h"

namespace portolan {

class ConditionTrust {
 public:
  static constexpr uint64_t kSometimes = 16;

  struct Options {
    std::string name = "conditions";
    uint64_t memory = uint64_t{1} << 20;
  };
  static Result<std::unique_ptr<ConditionTrust>> Open(Env& env, const Manifest& manifest, const Options& options);

  // Whether the next visit of the page may be conditional.
  bool MayAsk(uint64_t host, uint64_t page, uint32_t visits) const;
  // A visit of a page that has validators said whether the page had changed.
  void Observe(uint64_t host, bool conditional, bool changed);
  bool Believed(uint64_t host) const;

  Checkpointable* checkpointable() { return cache_.get(); }

 private:
  explicit ConditionTrust(std::unique_ptr<GroupCache> cache) : cache_(std::move(cache)) {}

  std::unique_ptr<GroupCache> cache_;  // by host, four counts of 8 bits: asked (changed, same), checked (changed, same)
};

}  // namespace portolan
