// SignalTrust: does a host's lastmod tell the truth?
//
// A sitemap's lastmod says that a page has changed since we had it. What it is worth is learnt at the visits, per host,
// as two shares: of the pages that had changed, how many were signalled (`told`); of those that had not, how many were
// signalled all the same (`false_told`). Only their ratio matters: a host that stamps every page with today tells of
// every change, and of everything else as well, so its ratio is 1 and it says nothing. Lies of any kind (always now, at
// random, never) have the ratio 1 after some visits; a ratio below 1 counts as 1.
//
//   Weight    told / false_told: by how much a signal raises the odds that the page has changed
//   Silence   (1 - told) / (1 - false_told): the part of the changes that comes without a signal
//
// Hosts from which no signal ever came are not known here: silence of theirs means nothing. Nor does silence since the
// host's sitemap was last read (heard_s).
//
// What reading a sitemap is worth depends on how many of its signals lead to a visit: most of those of a page that
// changes all the time do not (used).
//
// Thread: one owner. Deterministic. Memory bound: Options::memory, 32 bytes per host; a host that was dropped begins
// again, with a little belief in it. Durability: Checkpointable (disk/group_cache.h).

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "disk/group_cache.h"

namespace portolan {

struct Trust {
  double weight = 1;
  double silence = 1;
  double used = 1;        // part of the signals that led to a visit
  uint32_t heard_s = 0;   // when the host's signals were read last; 0: never
  double every_days = 1;  // between such readings

  // 0: signals mean nothing; 1: they tell everything.
  double worth() const { return 1 - silence; }
};

class SignalTrust {
 public:
  static constexpr double kMostWeight = 100;
  static constexpr double kLeastSilence = 0.05;  // so that pages of a truthful host are still looked at sometimes

  struct Options {
    std::string name = "trust";
    uint64_t memory = uint64_t{1} << 20;
  };
  static Result<std::unique_ptr<SignalTrust>> Open(Env& env, const Manifest& manifest, const Options& options);

  // The host's signals were read.
  void Heard(uint64_t host, uint32_t now_s);
  // One of them was news.
  void Given(uint64_t host);
  // At a visit: had the page changed, and had that been signalled? Does nothing for hosts that never gave a signal.
  void Observe(uint64_t host, bool signalled, bool changed);
  Trust Of(uint64_t host) const;

  Checkpointable* checkpointable() { return cache_.get(); }

 private:
  explicit SignalTrust(std::unique_ptr<GroupCache> cache) : cache_(std::move(cache)) {}

  std::unique_ptr<GroupCache>
      cache_;  // by host: four counts of 8 bits; when it was heard, and how often; signals given and used
};

}  // namespace portolan
