#include "crawl/network_guard.h"

#include <algorithm>
#include <utility>

namespace portolan {

uint64_t NetworkGuard::TakeNewOutages() { return outage_.count() - std::exchange(outages_told_, outage_.count()); }

// ---- fetches

NetworkGuard::Permit NetworkGuard::MayFetch(int64_t now_ns) {
  constexpr int64_t kStepNs = 10'000'000'000;  // after this time without a shortage a few more connections are allowed
  if (connections_ < most_connections_ && now_ns - shortage_ns_ >= kStepNs) {
    connections_ = std::min(most_connections_, connections_ + connections_ / 8 + 1);
    shortage_ns_ = now_ns;
  }
  if (now_ns < short_until_ns_) return {.again_ns = short_until_ns_};
  if (!outage_.connections_down()) return {.fetch = true};
  if (outage_.fetch_probes().MayProbe(now_ns)) return {.fetch = true, .probe_only = true};
  return {.again_ns = outage_.fetch_probes().out() ? kNever : outage_.fetch_probes().next_ns()};
}

bool NetworkGuard::OnFetch(const PageResult& result, uint64_t host, const Address& address, bool enough_hosts,
                           int64_t now_ns) {
  if (result.id == probe_id_) outage_.fetch_probes().Ended(outage_.options(), now_ns);
  outage_.OnFetch(host, address, result.outcome, result.times.end_ns, now_ns);
  const Outage::Sign sign = Outage::SignOf(result.outcome);
  if (sign != Outage::Sign::kFailure && sign != Outage::Sign::kBroken) return false;
  return outage_.connections_down() || (outage_.connections_suspicious() && enough_hosts);
}

const PageResult* NetworkGuard::NextKnown(bool ending, int64_t now_ns) {
  if (held_.empty()) return nullptr;
  const bool back = outage_.connections_down() || ending;
  const bool innocent = !outage_.connections_suspicious();
  if (!back && !innocent && held_.front().until_ns > now_ns) return nullptr;
  PageResult& result = held_.front().result;
  if (back) {
    result.outcome = FetchOutcome::kNetworkDown;
    result.status = 0;
    result.times.end_ns = result.times.begin_ns;  // no delay for the host: it was not the cause
    result.retry_after_ns.reset();
    result.robots.reset();
    result.links = {};
    result.archive = {};
  }
  return &result;
}

PageResult NetworkGuard::TakeKnown() {
  PageResult result = std::move(held_.front().result);
  held_.pop_front();
  return result;
}

// ---- descriptors

// What is in flight now has its descriptors, so that is the number of connections from now on. New fetches wait for a
// second; so do those that failed, which lose no attempt.
bool NetworkGuard::OnShortage(size_t in_flight, int64_t now_ns) {
  constexpr int64_t kPauseNs = 1'000'000'000;
  const bool first = now_ns >= short_until_ns_;
  connections_ = std::clamp<uint32_t>(static_cast<uint32_t>(in_flight), 1, connections_);
  shortage_ns_ = now_ns;
  short_until_ns_ = now_ns + kPauseNs;
  return first;
}

// ---- names

void NetworkGuard::AskName(uint64_t host, std::string_view name) {
  names_asked_[host] = name;
  if (outage_.down()) {
    names_waiting_.push_back(host);
  } else {
    port_.Resolve({.host = host, .name = std::string(name)});
  }
}

bool NetworkGuard::OnResolved(const Resolution& resolution, bool enough_hosts, int64_t now_ns) {
  if (resolution.host == kWitness || resolution.host == name_probe_) {
    outage_.name_probes().Ended(outage_.options(), now_ns);
  }
  if (resolution.host == kWitness) {
    outage_.OnWitness(resolution.outcome, now_ns);
    return false;
  }
  const auto asked = names_asked_.find(resolution.host);
  if (asked == names_asked_.end()) return false;
  outage_.OnName(resolution.host, resolution.outcome, resolution.fresh, now_ns);
  const bool failed = Outage::NameFailed(resolution.outcome);
  if (failed && outage_.down()) {
    names_waiting_.push_back(resolution.host);
    return false;
  }
  if (failed && resolution.fresh && outage_.names_suspicious() && enough_hosts) {
    doubtful_names_.push_back({resolution, now_ns + outage_.options().hold_ns});
    return false;
  }
  if (resolution.outcome == FetchOutcome::kAnswered && resolution.fresh) outage_.SetWitness(asked->second);
  return true;
}

const Resolution* NetworkGuard::NextBelieved(bool ending, int64_t now_ns) {
  if (ending) return nullptr;
  while (!doubtful_names_.empty() && outage_.down()) {
    names_waiting_.push_back(doubtful_names_.front().resolution.host);
    doubtful_names_.pop_front();
  }
  if (doubtful_names_.empty()) return nullptr;
  const DoubtfulName& first = doubtful_names_.front();
  const bool time_is_up = first.until_ns <= now_ns && !outage_.witness_asked();
  return time_is_up || !outage_.names_suspicious() ? &first.resolution : nullptr;
}

std::string_view NetworkGuard::NameOf(uint64_t host) const {
  const auto asked = names_asked_.find(host);
  return asked == names_asked_.end() ? std::string_view() : std::string_view(asked->second);
}

void NetworkGuard::Forget(uint64_t host, bool failed) {
  if (failed) outage_.OnNameGivenUp(host);
  names_asked_.erase(host);
}

uint64_t NetworkGuard::AskFirst() {
  const uint64_t host = names_waiting_.front();
  names_waiting_.pop_front();
  port_.Resolve({.host = host, .name = names_asked_.at(host), .anew = true});
  return host;
}

// Names that failed during an outage are looked up anew, because the resolver's cache holds the failures of the outage.
void NetworkGuard::AskWaiting(int64_t now_ns) {
  const auto ask_witness = [this] { port_.Resolve({.host = kWitness, .name = outage_.witness(), .anew = true}); };
  if (outage_.TakeWitnessQuestion()) ask_witness();
  if (!outage_.down()) {
    while (!names_waiting_.empty()) AskFirst();
  } else if (outage_.name_probes().MayProbe(now_ns)) {
    const bool has_witness = outage_.names_down() && !outage_.witness().empty();
    probe_witness_ = has_witness && (!probe_witness_ || names_waiting_.empty());
    if (probe_witness_ || !names_waiting_.empty()) outage_.name_probes().Began();
    if (probe_witness_) {
      name_probe_ = kWitness;
      ask_witness();
    } else if (!names_waiting_.empty()) {
      name_probe_ = AskFirst();
    }
  }
}

int64_t NetworkGuard::NextWake(bool room) const {
  int64_t wake = kNever;
  if (outage_.down() && !outage_.name_probes().out() && has_question()) {
    wake = std::min(wake, outage_.name_probes().next_ns());
  }
  // If there is no room, the end of the round that blocks it wakes the shard; so does the witness's answer.
  if (!held_.empty() && room) wake = std::min(wake, held_.front().until_ns);
  if (!doubtful_names_.empty() && !outage_.witness_asked()) wake = std::min(wake, doubtful_names_.front().until_ns);
  return wake;
}

}  // namespace portolan
