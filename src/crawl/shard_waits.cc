// How the shard handles failures: when robots.txt is fetched again, what is reported about it, and the end of a crawl
// in which everything waits.

#include <algorithm>

#include "base/hash.h"
#include "crawl/shard.h"
#include "gate/robots_request.h"

namespace portolan {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kFirstWaitNs = 60 * kSecondNs;  // before the second try of a robots.txt, if there is other work
constexpr int64_t kHurryLookNs = kSecondNs / 4;   // between two checks whether nothing else is left
constexpr uint32_t kHurryHosts = 1 << 16;         // with more hosts that check would take too long

}  // namespace

// The robots.txt waits in the frontier, like a page that failed, so that its wait can be shortened; its URLs wait at
// the gate. False: there were enough attempts.
bool Shard::AskRobotsAgain(PageResult& result, const UrlRecord& record, const InFlight& flight, Hit hit, FetchLine line,
                           Moment now) {
  const uint8_t tries = hurried_ ? kQuickTries : kPatientTries;
  if (!options_.give_up_quickly || record.attempts + 1 >= tries) return false;
  UrlRecord later = record;
  ++later.attempts;
  ++counts_.retries;
  hit.later_ns = BackOff(kFirstWaitNs, record.attempts, std::max(options_.robots_retry_ns, kSecondNs));
  // The delay of ten times an answer's duration protects the server; waiting for a connection cost the server nothing.
  if (FollowOf(result.outcome, 0).count == CountAs::kConnection) hit.duration_ns = 0;
  // A missing answer says nothing about the host's other ports, and they need not wait for it.
  hit.other_address = !HasAnswer(result.outcome);
  hit.host_ill = hit.host_ill && HasAnswer(result.outcome);
  const Failure failure{result.outcome, result.status, tries};
  NoteFailure(options_.key.Hash(record.url), failure);
  NoteTrouble({.what = std::string(line.url), .why = failure.Words(), .attempt = line.attempt});
  frontier_->Retry(flight.slot, later, Where::kTail, hit, now.now_ns);
  result.archive = {};
  result.outputs.clear();
  result.links = {};
  line.again = true;
  outputs_.Write(result, std::move(line));
  return true;
}

void Shard::NoteFailure(uint64_t key, const Failure& failure) {
  if (failures_.size() >= kFailures && !failures_.contains(key)) failures_.clear();
  failures_[key] = failure;
}

void Shard::NoteTrouble(HostTrouble&& trouble) {
  if (trouble.given_up && given_up_.size() < kNotes) given_up_.push_back(trouble);
  if (troubles_.size() < kNotes) troubles_.push_back(std::move(trouble));
}

// Does so if nothing is in flight or on its way, and everything in the frontier has failed before.
void Shard::HurryIfNothingElse(Moment now) {
  if (!in_flight_.empty() || network_.asks_names() || outage().down()) return;
  if (seen_->waiting() > 0 || (admission_ != nullptr && admission_->waiting() > 0)) return;
  if (seeds_->size() > 0 || arrivals_->size() > 0 || gate_->in_cache() > 0) return;
  if (frontier_->counts().waiting() == 0) return;
  if (now.now_ns < hurry_look_ns_) {
    next_wake_ns_ = std::min(next_wake_ns_, hurry_look_ns_);
    return;
  }
  hurry_look_ns_ = now.now_ns + kHurryLookNs;
  if (!frontier_->OnlyWaits(kHurryHosts)) return;
  only_waits_ = true;
  if (!others_only_wait_) return;
  frontier_->Hurry(now.now_ns);
  hurried_ = true;
  next_wake_ns_ = std::min(next_wake_ns_, std::max(now.now_ns, frontier_->NextEventTime()));
}

std::vector<FlyingUrl> Shard::Flying(size_t max, Moment now) const {
  std::vector<std::pair<uint64_t, const InFlight*>> all;  // ids grow with time
  all.reserve(in_flight_.size());
  for (const auto& [id, flight] : in_flight_) all.emplace_back(id, &flight);
  max = std::min(max, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<ptrdiff_t>(max), all.end());
  std::vector<FlyingUrl> flying;
  for (size_t i = 0; i < max; ++i) {
    const InFlight& flight = *all[i].second;
    const auto record = DecodeUrlRecord(flight.record);
    if (!record) continue;
    flying.push_back(
        {std::string(RobotsTarget(record->url)), static_cast<double>(now.now_ns - flight.since_ns) * 1e-9});
  }
  return flying;
}

std::vector<AwaitedUrl> Shard::Awaited(size_t max, Moment now) const {
  std::vector<AwaitedUrl> awaited;
  for (const Frontier::Wait& wait : frontier_->Waits(max, kShownHosts)) {
    AwaitedUrl& url = awaited.emplace_back();
    url.url = RobotsTarget(wait.url);
    url.attempt = wait.failures + 1;
    url.urls = wait.urls;
    const int64_t left_ns = std::max<int64_t>(0, wait.until_ns - now.now_ns);
    url.seconds = static_cast<double>(left_ns) * 1e-9;
    url.until_unix_ns = now.unix_ns + left_ns;
    const auto failure = failures_.find(wait.key);
    if (failure == failures_.end()) continue;
    url.why = failure->second.Words();
    url.attempts = failure->second.attempts;
  }
  return awaited;
}

}  // namespace portolan
