// What comes back to the frontier: ends of fetches, addresses and leases of them, crawl delays.

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "frontier/frontier.h"

namespace portolan {
namespace {

constexpr int64_t kMillisecond = 1'000'000;
constexpr int64_t kDefaultBackOff = 60'000 * kMillisecond;

}  // namespace

Host& Frontier::OpenHost(SlotId slot, uint32_t& id) {
  id = static_cast<uint32_t>(slot);
  CHECK(id < hosts_.slots() && std::as_const(hosts_)[id].FlightOf(slot) != nullptr, "slot {} is not open", slot);
  Host& host = hosts_[id];
  if (host.state == HostState::kReady) {
    bench_.Take(id);
    host.state = HostState::kInFlight;
  }
  return host;
}

Flight Frontier::TakeFlight(Host& host, SlotId slot) {
  const auto found = std::ranges::find(host.flights, slot, &Flight::slot);
  Flight flight = std::move(*found);
  host.flights.erase(found);
  --in_flight_;
  return flight;
}

// In the other states the host waits for something else, for example a name, while it still has URLs or failures.
void Frontier::Reschedule(uint32_t id, int64_t now_ns) {
  if (hosts_[id].state == HostState::kInFlight) {
    Schedule(id, now_ns);
  } else {
    hosts_.Count(id);
  }
}

void Frontier::NoteIllness(Host& host, FetchOutcome outcome, int64_t now_ns) {
  host.last_ill_ns = now_ns;
  if (host.ill_streak < 255) ++host.ill_streak;
  if (options_.give_up_after > 0 && host.ill_streak >= options_.give_up_after) {
    host.doomed = true;
    host.verdict = outcome;
  }
}

void Frontier::EndHit(uint32_t id, SlotId slot, const Hit& hit, int64_t wait_ns, int64_t now_ns) {
  const PolitenessOptions& politeness = options_.politeness;
  Host& host = hosts_[id];
  now_ns_ = std::max(now_ns_, now_ns);
  const Flight flight = TakeFlight(host, slot);
  bench_.End(flight, host.budget, now_ns);
  host.last_end_ns = now_ns;
  int64_t gap = std::max(HostGap(politeness, host.crawl_delay_ns, hit.duration_ns, host.budget), wait_ns);
  gap = std::max(gap, std::min(hit.retry_after_ns, politeness.max_retry_after_ns));
  int64_t polite_gap = gap;
  bool known = false;
  if (hit.host_ill) {
    constexpr int64_t kHadEnoughPart = 3;
    // Several requests that ran together and fail together count as one failure.
    known = host.ill_streak > 0 && flight.began_ns <= host.last_ill_ns;
    const int64_t first = hit.wait_ns > 0 ? hit.wait_ns : kDefaultBackOff;
    const int64_t back_off = BackOff(first, host.ill_streak - (known ? 1U : 0U), politeness.max_back_off_ns);
    gap = std::max(gap, back_off);
    // It answered, and said that the requests were too many.
    if (HasAnswer(hit.outcome)) polite_gap = std::max(polite_gap, back_off / kHadEnoughPart);
    if (!known) NoteIllness(host, hit.outcome, now_ns);
  } else if (hit.ok) {
    host.ill_streak = 0;
  }
  // Perhaps the host's other address works.
  if (((hit.host_ill && !known) || hit.other_address) && host.addresses.size() > 1) {
    host.address_at = static_cast<uint8_t>((host.address_at + 1U) % host.addresses.size());
    bench_.Bind(id, host.addresses[host.address_at]);
  }
  host.free_ns = std::max(host.free_ns, now_ns + gap);
  host.polite_ns = std::max(host.polite_ns, now_ns + polite_gap);
}

void Frontier::Skip(SlotId slot) {
  uint32_t id = 0;
  Host& host = OpenHost(slot, id);
  bench_.Undo(TakeFlight(host, slot), now_ns_);
  Reschedule(id, now_ns_);
}

void Frontier::Finish(SlotId slot, const Hit& hit, int64_t now_ns) {
  uint32_t id = 0;
  OpenHost(slot, id);
  EndHit(id, slot, hit, 0, now_ns);
  Reschedule(id, now_ns);
}

void Frontier::Retry(SlotId slot, const UrlRecord& record, Where where, const Hit& hit, int64_t now_ns) {
  uint32_t id = 0;
  Host& host = OpenHost(slot, id);
  CHECK(HostKey(record.url, options_.key) == host.key, "'{}' comes back to another host", record.url);
  EncodeUrlRecord(record, scratch_);  // before the slot's own bytes are freed
  EndHit(id, slot, hit, where == Where::kHead && !hit.host_ill ? hit.wait_ns : 0, now_ns);
  if (where == Where::kHead) {
    host.queue.PushFront(scratch_);
  } else if (const int64_t wait_ns = hit.later_ns > 0 ? hit.later_ns : hit.wait_ns; wait_ns > 0) {
    host.queue.PushLater(scratch_, now_ns + wait_ns);
  } else {
    host.queue.PushInRam(scratch_, limits_);
  }
  Reschedule(id, now_ns);
}

void Frontier::OnResolved(const Resolution& resolution, int64_t now_ns) {
  const uint32_t id = hosts_.Find(resolution.host);
  if (id == kNoHost || hosts_[id].state != HostState::kResolving) return;
  Host& host = hosts_[id];
  now_ns_ = std::max(now_ns_, now_ns);
  --resolving_;
  FetchOutcome outcome = resolution.outcome;
  if (outcome == FetchOutcome::kAnswered) {
    const Address before = host.addresses.empty() ? Address{} : host.addresses[host.address_at];
    std::vector<Address> addresses;
    for (const Address& address : resolution.addresses) {
      if (!address.empty() && addresses.size() < Host::kMaxAddresses) addresses.push_back(address);
    }
    if (!addresses.empty()) {
      // The address that worked, if it is still among them; otherwise by the host's hash, to spread hosts over a farm.
      const auto same = std::find(addresses.begin(), addresses.end(), before);
      host.address_at = static_cast<uint8_t>(same != addresses.end() ? static_cast<size_t>(same - addresses.begin())
                                                                     : host.key % addresses.size());
      host.addresses = std::move(addresses);
      host.addresses.shrink_to_fit();
      host.dns_failures = 0;
      const int64_t ttl_ns = static_cast<int64_t>(resolution.ttl_s) * 1000 * kMillisecond;
      host.address_expires_ns = now_ns + std::clamp(ttl_ns, options_.min_ttl_ns, options_.max_ttl_ns);
      bench_.Bind(id, host.addresses[host.address_at]);
      Schedule(id, now_ns);
      return;
    }
    outcome = FetchOutcome::kDnsNotFound;
  }
  const Follow follow = FollowOf(outcome, 0);
  int64_t wait_ns = std::max<int64_t>(follow.first_wait_ms, 1000) * kMillisecond;
  bool again = follow.retry == Retry::kNow;
  if (follow.retry == Retry::kHostLater || follow.retry == Retry::kUrlLater) {
    wait_ns = BackOff(wait_ns, host.dns_failures, options_.politeness.max_back_off_ns);
    if (host.dns_failures < 255) ++host.dns_failures;
    again = host.dns_failures < follow.attempts;
  }
  if (again) {
    host.state = HostState::kDnsLater;
    SetTimer(id, now_ns + wait_ns);
    return;
  }
  host.doomed = true;
  host.verdict = outcome;
  host.dns_failures = 0;
  Schedule(id, now_ns);
}

// ---- addresses that other shards use, too

// The owner follows from the keyed hash, mixed once more because the hash itself is the index of tables.
uint32_t Frontier::OwnerOf(const Address& address) const {
  return static_cast<uint32_t>(Mix64(address.Hash(options_.key)) % options_.shards);
}

void Frontier::OnAddressNotice(uint32_t from, const AddressNotice& notice, int64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  TakeNotice(from, notice, now_ns);
  PassNotices(now_ns);
}

void Frontier::TakeNotice(uint32_t from, const AddressNotice& notice, int64_t now_ns) {
  std::vector<AddressMail> answers;
  switch (notice.kind) {
    case AddressNotice::Kind::kWanted:
      book_.OnWanted(from, notice, now_ns, answers);
      break;
    case AddressNotice::Kind::kReturned:
      book_.OnReturned(from, notice, now_ns, answers);
      break;
    case AddressNotice::Kind::kGranted:
      bench_.OnGranted(notice, now_ns);
      break;
    case AddressNotice::Kind::kRecalled:
      bench_.OnRecalled(notice, now_ns);
      break;
  }
  for (AddressMail& mail : answers) {
    if (mail.shard == options_.shard) {
      TakeNotice(mail.shard, mail.notice, now_ns);
    } else {
      outbox_.push_back(mail);
    }
  }
}

void Frontier::PassNotices(int64_t now_ns) {
  for (std::vector<AddressNotice> notices = bench_.TakeNotices(); !notices.empty(); notices = bench_.TakeNotices()) {
    for (const AddressNotice& notice : notices) {
      const uint32_t owner = OwnerOf(notice.address);
      if (owner == options_.shard) {
        TakeNotice(owner, notice, now_ns);
      } else {
        outbox_.push_back({owner, notice});
      }
    }
  }
}

std::vector<AddressMail> Frontier::TakeAddressMail(int64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  bench_.Expire(now_ns_, 0);
  PassNotices(now_ns_);
  return std::exchange(outbox_, {});
}

void Frontier::SetCrawlDelay(uint64_t key, int64_t delay_ns, int64_t rule_ns) {
  const uint32_t id = hosts_.Find(key);
  if (id == kNoHost) return;
  Host& host = hosts_[id];
  host.crawl_delay_ns = std::max<int64_t>({options_.politeness.obey_crawl_delay ? delay_ns : 0, rule_ns, 0});
  if (host.last_end_ns == Host::kNeverHit) return;
  // The delay also applies to the gap that is running now.
  const int64_t free_ns = host.last_end_ns + HostGap(options_.politeness, host.crawl_delay_ns, 0, host.budget);
  host.polite_ns = std::max(host.polite_ns, free_ns);
  if (free_ns <= host.free_ns) return;
  host.free_ns = free_ns;
  Reposition(id);
}

}  // namespace portolan
