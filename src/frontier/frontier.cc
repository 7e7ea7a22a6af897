#include "frontier/frontier.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"

namespace portolan {
namespace {

constexpr size_t kTimersAStep = 256;            // hosts and addresses removed in one call of Next
constexpr size_t kSpillStep = size_t{4} << 20;  // bytes; encoded and written in ten milliseconds or less
constexpr size_t kExpiredAStep = 64;            // hosts with an expired address in one call of Next

}  // namespace

Frontier::Frontier(Env& env, std::string dir, const FrontierOptions& options)
    : env_(env),
      dir_(std::move(dir)),
      options_(options),
      limits_{options.head_bytes, options.block_bytes},
      bench_(hosts_, options_.politeness, options_.connections_per_host, options_.key),
      book_(options_.key, {options_.lease_ns, options_.lease_retry_ns, LongestHold(options_.politeness)}) {
  if (options_.shards > 1) bench_.SetShared({options_.lease_ns, options_.lease_retry_ns, options_.epoch});
  if (options_.phases) phases_.emplace(*options_.phases);
  described_.name = options.name;
  described_.kind = kKind;
}

Frontier::~Frontier() = default;

Status Frontier::Add(const UrlRecord& record) {
  if (HostOf(record.url).empty()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("frontier: no host in '{}'", record.url));
  }
  EncodeUrlRecord(record, scratch_);
  return front_->Add(std::min<uint32_t>(record.priority, options_.front_queues - 1), scratch_);
}

Result<bool> Frontier::Route(std::string_view bytes) {
  const auto record = DecodeUrlRecord(bytes);
  if (!record) return Fail(ErrorCode::kCorrupt, "frontier: a front queue holds bytes that are not a URL record");
  const uint64_t key = HostKey(record->url, options_.key);
  uint32_t id = hosts_.Find(key);
  if (id == kNoHost) {
    if (hosts_.size() + bench_.idle_ips() >= options_.max_hosts) return false;
    id = hosts_.Insert(key);
    hosts_[id].free_ns = quiet_until_ns_;
    // Into RAM, whatever the limits: the first URL of a host is never spilled.
    hosts_[id].queue.PushInRam(bytes, limits_);
    Schedule(id, now_ns_);
    return true;
  }
  Host& host = hosts_[id];
  RETURN_IF_ERROR(host.queue.Push(bytes, limits_, *spill_));
  if (host.state == HostState::kLingering) {
    ClearTimer(id);
    --lingering_;
    Schedule(id, now_ns_);
    return true;
  }
  hosts_.Count(id);
  if (host.state == HostState::kReady && host.queue.later_count() > 0) Reposition(id);
  if (host.state == HostState::kInFlight) Schedule(id, now_ns_);  // one more may be fetched at the same time
  return true;
}

Result<uint32_t> Frontier::Pull(uint32_t max, uint32_t wanted) {
  uint32_t moved = 0;
  for (; moved < max && active_hosts() < wanted; ++moved) {
    if (ram_bytes() >= options_.memory) {
      RETURN_IF_ERROR(KeepWithinMemory());
      if (ram_bytes() >= options_.memory) break;
    }
    ASSIGN_OR_RETURN(const std::string* record, front_->Next());
    if (record == nullptr) break;
    ASSIGN_OR_RETURN(const bool routed, Route(*record));
    if (!routed) break;
    front_->Pop();
  }
  return moved;
}

// Spills down to fifteen sixteenths of the memory, one step per call: Next continues it.
Status Frontier::KeepWithinMemory() {
  const size_t low = options_.memory - options_.memory / 16;
  const size_t before = ram_bytes();
  spilling_ = true;
  while (before - std::min(before, ram_bytes()) < kSpillStep) {
    const uint32_t id = ram_bytes() > low ? hosts_.Largest() : kNoHost;
    bool freed = false;
    if (id != kNoHost) {
      ASSIGN_OR_RETURN(freed, hosts_[id].queue.Spill(*spill_));
      hosts_.Count(id);
    }
    if (!freed) {
      spilling_ = false;
      break;
    }
  }
  return {};
}

Result<Dispatch> Frontier::Next(int64_t now_ns, int64_t unix_ns) {
  now_ns_ = now_ns;
  calendar_offset_ns_ = unix_ns - now_ns;
  ExpireTimers(now_ns);
  bench_.Expire(now_ns, kTimersAStep);
  RETURN_IF_ERROR(compactor_.Step(hosts_, *spill_));
  // Before Pull, so that it finds room; one step per call.
  if (spilling_ || ram_bytes() >= options_.memory) RETURN_IF_ERROR(KeepWithinMemory());
  if (active_hosts() < options_.back_queues) RETURN_IF_ERROR(Pull(options_.pull_step, options_.back_queues));

  // An address that has expired is looked up again before the host is hit. A host whose turn is over, because its
  // address was busy or the phases' clock was put right, waits for the next one.
  uint32_t top = TopHost(now_ns);
  for (size_t i = 0; top != kNoHost; ++i) {
    const bool expired = hosts_[top].address_expires_ns <= now_ns;
    const int64_t turn_ns = TurnTime(hosts_[top], now_ns);
    if (!expired && turn_ns <= now_ns) break;
    if (i == kExpiredAStep) return Dispatch{.kind = Dispatch::Kind::kMoreWork};
    bench_.Take(top);
    if (expired) {
      Await(top);
    } else {
      bench_.Put(top, turn_ns);
    }
    top = TopHost(now_ns);
  }
  if (!awaiting_.empty() && resolving_ < options_.max_resolving) return GiveResolve();
  // Failures take turns with fetches: a dead host with a million URLs delays no other host, and is removed.
  fail_turn_ = !fail_turn_;
  if (!failing_.empty() && (fail_turn_ || top == kNoHost)) return GiveFail();
  if (top != kNoHost) return GiveFetch(top, now_ns);

  // No host is ready, but hosts of the next URLs from the front may be.
  ASSIGN_OR_RETURN(const uint32_t pulled, Pull(options_.pull_step, options_.max_hosts));
  if (pulled > 0) return Dispatch{.kind = Dispatch::Kind::kMoreWork};
  return Dispatch{.kind = Dispatch::Kind::kWait, .until_ns = NextEventTime()};
}

// The first host that may be hit, at an address that this shard holds.
uint32_t Frontier::TopHost(int64_t now_ns) {
  if (options_.shards > 1) {
    bench_.AskForLeases(now_ns);
    PassNotices(now_ns);
  }
  return bench_.Top(now_ns);
}

Result<Dispatch> Frontier::GiveFetch(uint32_t id, int64_t now_ns) {
  Host& host = hosts_[id];
  Flight flight;
  RETURN_IF_ERROR(host.queue.Pop(now_ns, *spill_, flight.record));
  const auto record = DecodeUrlRecord(flight.record);
  if (!record) {
    host.queue.PushFront(flight.record);
    return Fail(ErrorCode::kCorrupt, "frontier: a back queue holds bytes that are not a URL record");
  }
  // A robots.txt has no budget, so the host keeps the last one.
  if (record->budget != 0) host.budget = record->budget;
  if (++next_slot_ == 0) ++next_slot_;  // 0 means no slot
  flight.slot = SlotId{next_slot_} << 32 | id;
  flight.began_ns = now_ns;
  bench_.Hit(id, flight, now_ns);
  host.state = HostState::kInFlight;
  ++in_flight_;
  host.flights.push_back(std::move(flight));
  // If another URL may be fetched at the same time, it begins one delay later.
  if (options_.connections_per_host > 1) {
    host.free_ns = now_ns + HostGap(options_.politeness, host.crawl_delay_ns, 0, host.budget);
  }
  Schedule(id, now_ns);
  Dispatch dispatch;
  dispatch.kind = Dispatch::Kind::kFetch;
  dispatch.slot = host.flights.back().slot;
  dispatch.host = host.key;
  dispatch.record = DecodeUrlRecord(host.flights.back().record).value();
  dispatch.address = host.addresses[host.address_at];
  return dispatch;
}

Result<Dispatch> Frontier::GiveFail() {
  const uint32_t id = failing_.front();
  Host& host = hosts_[id];
  RETURN_IF_ERROR(host.queue.Pop(kNever, *spill_, failed_));
  const auto record = DecodeUrlRecord(failed_);
  if (!record) {
    host.queue.PushFront(failed_);
    return Fail(ErrorCode::kCorrupt, "frontier: a back queue holds bytes that are not a URL record");
  }
  Dispatch dispatch;
  dispatch.kind = Dispatch::Kind::kFail;
  dispatch.host = host.key;
  dispatch.record = *record;
  dispatch.outcome = host.verdict;
  failing_.pop_front();
  Schedule(id, now_ns_);
  return dispatch;
}

Dispatch Frontier::GiveResolve() {
  const uint32_t id = awaiting_.front();
  awaiting_.pop_front();
  Host& host = hosts_[id];
  host.state = HostState::kResolving;
  ++resolving_;
  Dispatch dispatch;
  dispatch.kind = Dispatch::Kind::kResolve;
  dispatch.host = host.key;
  failed_.assign(host.queue.Any());
  if (const auto record = DecodeUrlRecord(failed_)) dispatch.name = HostOf(record->url);
  return dispatch;
}

void Frontier::Schedule(uint32_t id, int64_t now_ns) {
  Host& host = hosts_[id];
  hosts_.Count(id);
  if (host.queue.empty() && !host.flights.empty()) {
    host.state = HostState::kInFlight;
  } else if (host.queue.empty()) {
    host.doomed = false;
    const int64_t leave_ns = LeaveTime(host, now_ns);
    if (leave_ns <= now_ns) {
      Leave(id);
      return;
    }
    host.state = HostState::kLingering;
    ++lingering_;
    SetTimer(id, leave_ns);
  } else if (host.doomed) {
    host.state = HostState::kFailing;
    failing_.push_back(id);
  } else if (host.flights.size() >= options_.connections_per_host) {
    host.state = HostState::kInFlight;
  } else if (host.ip == kNoIp) {
    Await(id);
  } else {
    host.state = HostState::kReady;
    bench_.Put(id, ReadyTime(host));
  }
}

void Frontier::Await(uint32_t id) {
  hosts_[id].state = HostState::kAwaiting;
  awaiting_.push_back(id);
}

void Frontier::Leave(uint32_t id) {
  bench_.Unbind(id);
  hosts_.Erase(id);
}

void Frontier::Reposition(uint32_t id) {
  const Host& host = hosts_[id];
  if (host.state == HostState::kReady) {
    const int64_t time_ns = ReadyTime(host);
    if (time_ns == bench_.TimeOf(id)) return;
    bench_.Take(id);
    bench_.Put(id, time_ns);
  } else if (host.state == HostState::kLingering) {
    ClearTimer(id);
    SetTimer(id, LeaveTime(host, now_ns_));
  }
}

// Not before its clock has passed. While there is room, a host with a known address stays a little longer, so that URLs
// which come meanwhile need no look-up.
int64_t Frontier::LeaveTime(const Host& host, int64_t now_ns) const {
  constexpr int64_t kStayNs = 2'000'000'000;
  const bool stays = host.ip != kNoIp && hosts_.size() < options_.max_hosts / 2;
  return stays ? std::max(host.free_ns, now_ns + kStayNs) : host.free_ns;
}

int64_t Frontier::ReadyTime(const Host& host) const {
  // When memory is short, hosts with URLs that wait for another attempt fetch no others.
  const size_t max_later = ram_bytes() >= options_.memory ? 1 : BackQueue::kMaxLater;
  return TurnTime(host, std::max(host.free_ns, host.queue.ReadyAt(max_later)));
}

int64_t Frontier::TurnTime(const Host& host, int64_t time_ns) const {
  if (!phases_ || !phase_offset_ns_ || time_ns == kNever) return time_ns;
  const int64_t phase_ns = std::max(time_ns, now_ns_) + *phase_offset_ns_;
  return phases_->NextTurn(options_.shard, phases_->GroupOf(host.key), phase_ns) - *phase_offset_ns_;
}

void Frontier::SetTimer(uint32_t id, int64_t time_ns) { timers_.Push({time_ns, sequence_++, id}, HostPlace()); }
void Frontier::ClearTimer(uint32_t id) { timers_.Remove(hosts_[id].place, HostPlace()); }

void Frontier::ExpireTimers(int64_t now_ns) {
  for (size_t i = 0; i < kTimersAStep && !timers_.empty() && timers_.top().time_ns <= now_ns; ++i) {
    const uint32_t id = timers_.top().id;
    ClearTimer(id);
    if (hosts_[id].state == HostState::kLingering) {
      --lingering_;
      Leave(id);
    } else {
      Await(id);
    }
  }
}

int64_t Frontier::NextEventTime() const {
  int64_t time_ns = bench_.NextTime();
  if (!timers_.empty()) time_ns = std::min(time_ns, timers_.top().time_ns);
  if (!front_->empty()) time_ns = std::min(time_ns, bench_.NextExpiry());
  return time_ns;
}

bool Frontier::Hungry() const {
  const uint64_t enough =
      2 * uint64_t{options_.connections_per_host};  // per host: those being fetched, and as many after them
  return front_->empty() && active_hosts() < options_.back_queues && counts().waiting() < enough * active_hosts() + 1;
}

Frontier::Counts Frontier::counts() const {
  Counts counts;
  counts.front = front_->size();
  counts.back_disk = spill_->records();
  counts.back_ram = hosts_.urls() - counts.back_disk;
  counts.back_near = hosts_.near_urls();
  counts.in_flight = in_flight_;
  counts.hosts = hosts_.size();
  counts.active_hosts = active_hosts();
  counts.resolving = resolving_;
  counts.failing_hosts = static_cast<uint32_t>(failing_.size());
  counts.ips = bench_.ips();
  counts.ram_bytes = ram_bytes();
  counts.spill_bytes = spill_->bytes_on_disk();
  return counts;
}

std::vector<Checkpointable*> Frontier::Checkpointables() {
  std::vector<Checkpointable*> all;
  front_->AppendTo(all);
  all.push_back(spill_.get());
  all.push_back(this);
  return all;
}

}  // namespace portolan
