// What the shard sends to other shards, and what arrives from them.

#include <fmt/core.h>

#include "crawl/crossing.h"
#include "crawl/shard_sinks.h"
#include "gate/robots_request.h"

namespace portolan {

bool Shard::HasRoomElsewhere() const {
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (!Here(to) && !exchange_->HasRoom(to)) return false;
  }
  return true;
}

// ---- phases

Status Shard::CheckPhases(const ShardOptions& options) {
  if (!options.phases) return {};
  const auto wrong = [](const std::string& what) { return Fail(ErrorCode::kInvalidArgument, "phases: " + what); };
  const PhasePartition::Options& phases = *options.phases;
  if (phases.phases != 0 && phases.phases < options.shards) {
    return wrong(
        fmt::format("{} are too few for {} shards: two would fetch from one host", phases.phases, options.shards));
  }
  if (phases.gap_ns < options.frontier.politeness.max_delay_ns || phases.gap_ns >= phases.period_ns) {
    return wrong(
        fmt::format("a gap of {} ns must be at least the longest delay of a host, {} ns, and less than the "
                    "period of {} ns",
                    phases.gap_ns, options.frontier.politeness.max_delay_ns, phases.period_ns));
  }
  if (options.admission.enabled || options.traps.enabled || options.duplicates == DuplicatePolicy::kSkip ||
      (options.scope.rules != nullptr && options.scope.rules->has(RuleAction::kLimit))) {
    return wrong("not possible with budgets, traps, skipped duplicates, and rules that limit pages");
  }
  return {};
}

void Shard::SetPhaseClock(const PhaseTime& time) {
  if (!phases_ || time == phase_time_) return;
  phase_time_ = time;
  if (time != PhaseTime::Unknown()) frontier_->SetPhaseClock(time.offset_ns);
}

std::optional<Shard::PhaseView> Shard::Phase(Moment now) const {
  if (!phases_) return std::nullopt;
  PhaseView view{
      .phases = phases_->options().phases, .good = phase_time_.IsGood(now.now_ns), .error_ns = phase_time_.error_ns};
  if (!view.good) return view;
  const int64_t phase_ns = now.now_ns + phase_time_.offset_ns;
  view.group = phases_->ActiveGroup(options_.shard, phase_ns);
  const int64_t swap_ns = phases_->NextSwap(phase_ns);
  const PhasePartition::Options& options = phases_->options();
  view.next_ns = view.group ? swap_ns - phase_ns : swap_ns - options.period_ns + options.gap_ns - phase_ns;
  return view;
}

// ---- sending

Status Shard::Offer(uint64_t hash, std::string_view record, uint32_t owner) {
  if (Here(owner)) return seen_->Add(hash, record);
  if (sent_ != nullptr && sent_->enabled()) {
    if (sent_->Contains(hash)) return {};
    sent_->Insert(hash);
  }
  EncodeLinkCrossing(hash, record, message_);
  exchange_->Send(owner, message_);
  return {};
}

// A redirect may lead to a host of another shard. That shard fetches it, because it has the host's clocks. Requests for
// robots.txt do not wait for room in the exchange: there are no more of them than fetches in flight.
Status Shard::WantRobots(const UrlRecord& request) {
  const uint32_t owner = OwnerOfRobots(RobotsTarget(request.url));
  if (!Here(owner)) {
    EncodeUrlRecord(request, encoded_);
    EncodeRobotsRequest(encoded_, message_);
    exchange_->Send(owner, message_);
    return {};
  }
  RETURN_IF_ERROR(frontier_->Add(request));
  ++robots_open_;
  return {};
}

// REQUIRES: the gate has room.
Status Shard::SendRobotsAnswer(const UrlRecord& request, const RobotsAnswer& answer, Moment now) {
  const uint32_t owner = OwnerOfRobots(RobotsOrigin(request.url));
  if (Here(owner)) return OnRobotsAnswer(request.url, request.hops, answer, now);
  EncodeRobotsAnswer(request.url, request.hops, answer, message_);
  exchange_->Send(owner, message_);
  return {};
}

Status Shard::OnRobotsAnswer(std::string_view url, uint8_t hops, const RobotsAnswer& answer, Moment now) {
  // Set at once, so that it applies to the first page.
  if (answer.crawl_delay_ms) {
    frontier_->SetCrawlDelay(HostKey(RobotsOrigin(url), options_.key), int64_t{*answer.crawl_delay_ms} * 1'000'000);
  }
  GateToFrontier passed(*this, now);
  return gate_->OnRobots(url, hops, answer, passed, GateTime(now));
}

void Shard::SendAddressMail(Moment now) {
  if (exchange_ == nullptr) return;
  for (const AddressMail& mail : frontier_->TakeAddressMail(now.now_ns)) exchange_->Tell(mail.shard, mail.notice);
  WakeBy(frontier_->NextReturn());
}

// Whoever has no room gets the next ones. So ranks, too, take no more of the exchange than one page would.
void Shard::SendRanks(std::string_view histogram) {
  EncodeRanksCrossing(options_.shard, histogram, message_);
  for (uint32_t to = 0; to < options_.shards; ++to) {
    if (!Here(to) && exchange_->HasRoom(to)) exchange_->Send(to, message_);
  }
}

// ---- receiving

bool Shard::HasRoomForArrival() const {
  return seen_->Room() > 0 && gate_->Room() > 0 && (content_ == nullptr || content_->HasRoom());
}

Status Shard::OnArrival(std::string_view message, Moment now) {
  const std::optional<Crossing> crossing = DecodeCrossing(message);
  if (!crossing) return Fail(ErrorCode::kCorrupt, "a message from another shard is not valid");
  next_wake_ns_ = now.now_ns;
  switch (crossing->kind) {
    case Crossing::Kind::kLink: {
      if (park_ != nullptr) {
        std::optional<UrlRecord> found = DecodeUrlRecord(crossing->record);
        if (!found) return Fail(ErrorCode::kCorrupt, "a link from another shard is not a URL record");
        if (park_->Without(found->url, HostKey(found->url, options_.key), shorter_)) {
          found->url = shorter_;
          EncodeUrlRecord(*found, encoded_);
          ++counts_.shortened;
          return seen_->Add(options_.key.Hash(shorter_), encoded_);
        }
      }
      return seen_->Add(crossing->hash, crossing->record);
    }
    case Crossing::Kind::kRobotsRequest: {
      const std::optional<UrlRecord> request = DecodeUrlRecord(crossing->record);
      if (!request) return Fail(ErrorCode::kCorrupt, "a robots.txt request from another shard is not a URL record");
      return WantRobots(*request);
    }
    case Crossing::Kind::kRobotsAnswer:
      return OnRobotsAnswer(crossing->url, crossing->hops, crossing->answer, now);
    case Crossing::Kind::kPayload:
      return OnPayload(*crossing);
    case Crossing::Kind::kAgain: {
      const std::optional<UrlRecord> again = DecodeUrlRecord(crossing->record);
      if (!again) return Fail(ErrorCode::kCorrupt, "a page of a mirror from another shard is not a URL record");
      return TakeBack(*again);
    }
    case Crossing::Kind::kCopy:
      NoteLate(crossing->url, crossing->unix_ms, crossing->first, crossing->first_unix_ms, crossing->page);
      return {};
    case Crossing::Kind::kRanks:
      if (crossing->shard >= options_.shards || Here(crossing->shard)) {
        return Fail(ErrorCode::kCorrupt,
                    fmt::format("ranks of a shard {} have arrived, of {} shards", crossing->shard, options_.shards));
      }
      return admission_ == nullptr ? Status() : admission_->TakeRanks(crossing->shard, crossing->ranks);
  }
  return {};
}

Status Shard::OnRaise(uint64_t pld, Moment now) {
  next_wake_ns_ = now.now_ns;
  return admission_ == nullptr ? Status() : admission_->RaiseFromElsewhere(pld);
}

void Shard::OnAddressNotice(const AddressMail& mail, Moment now) {
  frontier_->OnAddressNotice(mail.shard, mail.notice, now.now_ns);
  next_wake_ns_ = now.now_ns;
}

// Takes the messages that were on their way when a checkpoint was written.
Status Shard::OfferArrivals(bool* moved, Moment now) {
  constexpr int kStep = 4096;
  for (int taken = 0; taken < kStep && arrivals_->size() > 0 && HasRoomForArrival(); ++taken) {
    ASSIGN_OR_RETURN(const std::string* message, arrivals_->Front());
    if (message == nullptr) break;
    RETURN_IF_ERROR(OnArrival(*message, now));
    arrivals_->PopFront();
    *moved = true;
  }
  return {};
}

}  // namespace portolan
