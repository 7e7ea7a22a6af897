// The shard while the network is in doubt, or gone: what is held, what goes back, and what is sent as a probe.

#include <algorithm>

#include "crawl/shard.h"

namespace portolan {

bool Shard::MayBeOutage(const PageResult& result) const {
  const Outage::Sign sign = Outage::SignOf(result.outcome);
  if (sign != Outage::Sign::kFailure && sign != Outage::Sign::kBroken) return false;
  return outage_.connections_down() || (outage_.connections_suspicious() && EnoughHosts());
}

Status Shard::SettleDoubtful(Moment now) {
  counts_.outages += outage_.count() - outages_counted_;
  outages_counted_ = outage_.count();
  const bool ending = stopping_ || !limit_reached_.empty();
  const bool back = outage_.connections_down() || ending;
  const bool innocent = !outage_.connections_suspicious();
  while (!doubtful_.empty() && (back || innocent || doubtful_.front().until_ns <= now.now_ns)) {
    if (!HasRoomFor(doubtful_.front().result)) break;  // it is in flight until then
    PageResult result = std::move(doubtful_.front().result);
    doubtful_.pop_front();
    if (back) {
      result.outcome = FetchOutcome::kNetworkDown;
      result.status = 0;
      result.times.end_ns = result.times.begin_ns;  // the host is not to be left alone for what it did not do
      result.retry_after_ns.reset();
      result.robots.reset();
      result.links = {};
      result.archive = {};
    }
    RETURN_IF_ERROR(Settle(std::move(result), now));
  }
  const bool names_innocent = !outage_.names_suspicious();
  while (!doubtful_names_.empty() && !ending) {
    const DoubtfulName& first = doubtful_names_.front();
    if (outage_.down()) {
      names_waiting_.push_back(first.resolution.host);
    } else if (names_innocent || (first.until_ns <= now.now_ns && !outage_.witness_asked())) {
      TellName(first.resolution, now);
    } else {
      break;
    }
    doubtful_names_.pop_front();
  }
  return {};
}

// ---- descriptors

// What is in flight now has its descriptors: so many it shall be. The others wait for a second, and with them those
// that failed, which lost no attempt.
void Shard::OnShortage(Moment now) {
  constexpr int64_t kPauseNs = 1'000'000'000;
  if (now.now_ns >= short_until_ns_) ++counts_.shortages;
  connections_ = std::clamp<uint32_t>(static_cast<uint32_t>(PagesInFlight() + robots_in_flight_), 1, connections_);
  shortage_ns_ = now.now_ns;
  short_until_ns_ = now.now_ns + kPauseNs;
}

void Shard::AllowMoreConnections(Moment now) {
  constexpr int64_t kStepNs = 10'000'000'000;
  if (connections_ >= options_.connections || now.now_ns - shortage_ns_ < kStepNs) return;
  connections_ = std::min(options_.connections, connections_ + connections_ / 8 + 1);
  shortage_ns_ = now.now_ns;
}

// ---- names

Status Shard::OnResolved(const Resolution& resolution, Moment now) {
  if (resolution.host == kWitness || resolution.host == name_probe_) {
    outage_.name_probes().Ended(options_.outage, now.now_ns);
  }
  if (resolution.outcome == FetchOutcome::kShortage) OnShortage(now);
  const auto asked = names_asked_.find(resolution.host);
  if (resolution.host == kWitness) {
    outage_.OnWitness(resolution.outcome, now.now_ns);
  } else if (asked != names_asked_.end()) {
    outage_.OnName(resolution.host, resolution.outcome, resolution.fresh, now.now_ns);
    const bool failed = Outage::NameFailed(resolution.outcome);
    if (failed && outage_.down()) {
      names_waiting_.push_back(resolution.host);
    } else if (failed && resolution.fresh && outage_.names_suspicious() && EnoughHosts()) {
      doubtful_names_.push_back({resolution, now.now_ns + options_.outage.hold_ns});
    } else {
      if (resolution.outcome == FetchOutcome::kAnswered && resolution.fresh) outage_.SetWitness(asked->second);
      TellName(resolution, now);
    }
  }
  next_wake_ns_ = now.now_ns;
  return {};
}

void Shard::TellName(const Resolution& resolution, Moment now) {
  if (Outage::NameFailed(resolution.outcome)) {
    outage_.OnNameGivenUp(resolution.host);
    const Failure failure{resolution.outcome, 0, FollowOf(resolution.outcome, 0).attempts};
    NoteFailure(resolution.host, failure);
    if (const auto asked = names_asked_.find(resolution.host); asked != names_asked_.end()) {
      NoteTrouble({.what = asked->second, .why = failure.Words()});
    }
  }
  names_asked_.erase(resolution.host);
  frontier_->OnResolved(resolution, now.now_ns);
}

void Shard::AskName(uint64_t host, std::string_view name) {
  names_asked_[host] = name;
  if (outage_.down()) {
    names_waiting_.push_back(host);
  } else {
    port_.Resolve({.host = host, .name = std::string(name)});
  }
}

// Those that failed during an outage are asked for anew: what the resolver remembers of them is the outage.
void Shard::AskWaitingNames(Moment now) {
  if (outage_.TakeWitnessQuestion()) port_.Resolve({.host = kWitness, .name = outage_.witness(), .anew = true});
  const auto ask_first = [this] {
    const uint64_t host = names_waiting_.front();
    names_waiting_.pop_front();
    port_.Resolve({.host = host, .name = names_asked_.at(host), .anew = true});
    return host;
  };
  if (!outage_.down()) {
    while (!names_waiting_.empty()) ask_first();
  } else if (outage_.name_probes().MayProbe(now.now_ns)) {
    const bool has_witness = outage_.names_down() && !outage_.witness().empty();
    probe_witness_ = has_witness && (!probe_witness_ || names_waiting_.empty());
    if (probe_witness_ || !names_waiting_.empty()) outage_.name_probes().Began();
    if (probe_witness_) {
      name_probe_ = kWitness;
      port_.Resolve({.host = kWitness, .name = outage_.witness(), .anew = true});
    } else if (!names_waiting_.empty()) {
      name_probe_ = ask_first();
    }
  }
  const bool has_question = !names_waiting_.empty() || (outage_.names_down() && !outage_.witness().empty());
  if (outage_.down() && !outage_.name_probes().out() && has_question) {
    next_wake_ns_ = std::min(next_wake_ns_, outage_.name_probes().next_ns());
  }
  // Where there is no room, the end of the round that is in the way wakes us.
  if (!doubtful_.empty() && HasRoomFor(doubtful_.front().result)) {
    next_wake_ns_ = std::min(next_wake_ns_, doubtful_.front().until_ns);
  }
  // The witness's answer wakes us, too.
  if (!doubtful_names_.empty() && !outage_.witness_asked()) {
    next_wake_ns_ = std::min(next_wake_ns_, doubtful_names_.front().until_ns);
  }
}

}  // namespace portolan
