#include "cli/seed_writing.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "base/log.h"
#include "crawl/hash_key_store.h"
#include "crawl/recovery.h"
#include "crawl/seed_list.h"
#include "disk/manifest.h"
#include "io/clock.h"
#include "io/env.h"

namespace portolan {
namespace {

constexpr int64_t kTellNs = 5'000'000'000;  // between two progress lines
constexpr uint64_t kLookEvery = 4096;       // seeds between two looks at the clock and at `stopped`

// All that is given, one after the other.
class Given {
 public:
  Given(GivenSeeds& seeds, const SeedWriting& how) : seeds_(seeds), how_(how), told_ns_(Clock::Real().NowNs()) {}

  Result<std::optional<std::string>> Next() {
    if (++count_ % kLookEvery == 0) RETURN_IF_ERROR(Look());
    if (next_ < seeds_.first.size()) return seeds_.first[next_++];
    if (!seeds_.more) return std::optional<std::string>();
    return seeds_.more->Next();
  }

 private:
  Status Look() {
    if (how_.stopped && how_.stopped()) return Fail(ErrorCode::kClosed, "stopped while the seeds were read");
    const int64_t now = Clock::Real().NowNs();
    if (now - told_ns_ < kTellNs) return {};
    told_ns_ = now;
    Log(LogLevel::kInfo, "reading the seeds", {{"from", seeds_.from}, {"seeds", count_}});
    return {};
  }

  GivenSeeds& seeds_;
  const SeedWriting& how_;
  size_t next_ = 0;
  uint64_t count_ = 0;
  int64_t told_ns_;
};

// Skips the seeds that the list has; returns the first that it does not have, nullopt if it has all.
Result<std::optional<std::string>> FirstNew(const std::string& state_dir, Given& given) {
  ASSIGN_OR_RETURN(const Manifest manifest, Manifest::Read(Env::Posix(), state_dir));
  ASSIGN_OR_RETURN(std::optional<std::string> seed, given.Next());
  Status status;
  RETURN_IF_ERROR(ForEachListedSeed(Env::Posix(), manifest, [&](std::string_view listed) {
    if (!seed || *seed != listed) return false;
    auto next = given.Next();
    if (!next) {
      status = std::unexpected(next.error());
      return false;
    }
    seed = *std::move(next);
    return true;
  }));
  RETURN_IF_ERROR(status);
  return seed;
}

}  // namespace

Result<uint64_t> WriteSeeds(const EngineOptions& options, GivenSeeds& seeds, const SeedWriting& how) {
  Given given(seeds, how);
  std::optional<std::string> seed;
  if (how.goes_on) {
    const bool lists = how.list && how.listed_before.empty();
    ASSIGN_OR_RETURN(seed, lists ? FirstNew(options.state_dir, given) : given.Next());
    if (!seed) return uint64_t{0};
    RETURN_IF_ERROR(CheckBeforeRecovery(Env::Posix(), options));
  } else {
    ASSIGN_OR_RETURN(seed, given.Next());
  }
  ASSIGN_OR_RETURN(const HashKey key, HashKeyStore::Make());
  ASSIGN_OR_RETURN(SeedWriter writer, SeedWriter::Open(Env::Posix(), options.state_dir, key));
  for (const std::string& before : how.listed_before) RETURN_IF_ERROR(writer.Keep(before));
  while (seed) {
    RETURN_IF_ERROR(writer.Offer(*seed));
    if (how.list) RETURN_IF_ERROR(writer.Keep(*seed));
    ASSIGN_OR_RETURN(seed, given.Next());
  }
  RETURN_IF_ERROR(writer.Finish());
  return writer.kept();
}

}  // namespace portolan
