#include "gate/gate.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "gate/robots_request.h"
#include "gate/robots_value.h"
#include "robots/fetch_policy.h"

namespace portolan {
namespace {

Status CheckOptions(const GateOptions& options) {
  const auto wrong = [&](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("gate {}: {}", options.name, what));
  };
  if (options.memory < GateOptions::kMinMemory) {
    return wrong(fmt::format("{} bytes of memory, at least {} are needed", options.memory, GateOptions::kMinMemory));
  }
  if (options.unreachable_tries < 1 || options.unreachable_tries > kRobotsUnreachableMost) {
    return wrong("unreachable_tries must be from 1 to 7");
  }
  if (options.request_timeout_s < 1 || options.request_timeout_s > options.robots_ttl_s ||
      options.request_timeout_s > options.unreachable_ttl_s) {
    return wrong("request_timeout must be at least a second and at most either time to live");
  }
  return {};
}

uint32_t Later(uint32_t unix_s, uint32_t seconds) {
  return static_cast<uint32_t>(std::min<uint64_t>(uint64_t{unix_s} + seconds, ~uint32_t{0}));
}

}  // namespace

Result<std::unique_ptr<Gate>> Gate::Open(Env& env, const Manifest& manifest, Executor& executor,
                                         const GateOptions& options) {
  RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<Gate> gate(new Gate(options));
  gate->cache_pace_ = RoundPace(options.pace);
  gate->requests_pace_ = RoundPace(options.pace);

  RulesStore::Options rules;
  rules.name = options.name + "_rules";
  rules.memory = options.memory / 4;
  rules.segment_size = options.rules_segment;
  ASSIGN_OR_RETURN(gate->rules_, RulesStore::Open(env, manifest, rules));

  DiskQueue::Options queue;
  queue.codec = options.codec;
  queue.name = options.name + "_qr";
  ASSIGN_OR_RETURN(gate->answer_queue_, DiskQueue::Open(env, manifest, queue));
  queue.name = options.name + "_qu";
  ASSIGN_OR_RETURN(gate->host_queue_, DiskQueue::Open(env, manifest, queue));

  DrumOptions cache;
  cache.name = options.name + "_cache";
  cache.value_size = kRobotsValueSize;
  cache.memory = options.memory / 2;
  cache.disk = options.disk / 4 * 3;
  cache.codec = options.codec;
  cache.on_round_done = options.on_round_done;
  cache.combine = [ttl = options.unreachable_ttl_s, forget = options.robots_ttl_s](char* stored,
                                                                                   std::string_view incoming) {
    const RobotsValue value =
        EncodeRobotsRef(CombineRobots(DecodeRobotsRef(stored), DecodeRobotsRef(incoming.data()), ttl, forget));
    std::copy(value.begin(), value.end(), stored);
  };
  cache.expunge = [horizon = gate->cache_horizon_, keep = options.robots_ttl_s](uint64_t, std::string_view value) {
    return uint64_t{DecodeRobotsRef(value.data()).expires} + keep < horizon->load();
  };
  ASSIGN_OR_RETURN(gate->cache_, Drum::Open(env, manifest, executor, cache));

  DrumOptions requests;
  requests.name = options.name + "_requested";
  requests.value_size = 4;
  requests.memory = options.memory / 8;
  requests.disk = options.disk / 4;
  requests.only_op = DrumOp::kCheckUpdate;
  requests.codec = options.codec;
  requests.on_round_done = options.on_round_done;
  requests.combine = [timeout = options.request_timeout_s](char* stored, std::string_view incoming) {
    if (AskAgain(LoadLe<uint32_t>(stored), LoadLe<uint32_t>(incoming.data()), timeout)) {
      std::copy(incoming.begin(), incoming.end(), stored);
    }
  };
  // Long after the timeout, so that the entry of a request that waits for its round is not expunged before.
  requests.expunge = [horizon = gate->requests_horizon_, keep = options.request_timeout_s + options.robots_ttl_s](
                         uint64_t, std::string_view value) {
    return uint64_t{LoadLe<uint32_t>(value.data())} + keep < horizon->load();
  };
  ASSIGN_OR_RETURN(gate->requests_, Drum::Open(env, manifest, executor, requests));

  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  if (section != nullptr) RETURN_IF_ERROR(gate->Restore(*section));
  return gate;
}

// ---- deciding

Result<Gate::Ruling> Gate::Rule(const UrlRecord& record, const RobotsRef& ref, uint32_t unix_s) {
  if (!ref.present() || ref.expires <= unix_s || ref.position == kRobotsAsked) return Ruling::kUnknown;
  if (ref.position == kRobotsAllowAll) return Ruling::kAllowed;
  if (IsUnreachable(ref.position)) {
    return ref.position >= options_.unreachable_tries ? Ruling::kGivenUp : Ruling::kUnreachable;
  }
  ASSIGN_OR_RETURN(const RobotsRules* rules, rules_->Get(ref.position));
  if (rules == nullptr) return Ruling::kUnknown;
  return rules->Allows(PathAndQueryOf(record.url)) ? Ruling::kAllowed : Ruling::kDenied;
}

Status Gate::Emit(UrlRecord record, Ruling ruling, const RobotsRef& ref, GateSink& sink) {
  record.robots = ref;
  switch (ruling) {
    case Ruling::kAllowed:
      RETURN_IF_ERROR(sink.OnAllowed(record));
      ++counts_.allowed;
      return {};
    case Ruling::kDenied:
      RETURN_IF_ERROR(sink.OnDenied(record, DenyReason::kRules));
      ++counts_.denied_rules;
      return {};
    case Ruling::kGivenUp:
      RETURN_IF_ERROR(sink.OnDenied(record, DenyReason::kUnreachable));
      ++counts_.denied_unreachable;
      return {};
    case Ruling::kUnreachable:
    case Ruling::kUnknown:
      break;
  }
  CHECK(false, "a record that waits is not given out");
  return {};
}

Result<std::optional<Gate::Ruling>> Gate::FromKnown(const UrlRecord& record, uint64_t key, uint32_t unix_s,
                                                    RobotsRef& ref) {
  const KnownOrigin* known = known_.Find(key, unix_s);
  // How often an origin was unreachable is known to RobotsCache alone.
  if (known == nullptr || IsUnreachable(known->position)) return std::nullopt;
  ref = known->ref();
  if (ref.position == kRobotsAsked) return Ruling::kUnknown;
  ASSIGN_OR_RETURN(const Ruling ruling, Rule(record, ref, unix_s));
  if (ruling == Ruling::kUnknown) return std::nullopt;  // its rules are damaged: RobotsCache leads to a new request
  return ruling;
}

Status Gate::AwaitAnswer(std::string_view record, GateNow now) {
  const bool first = answer_queue_->size() == 0;
  RETURN_IF_ERROR(answer_queue_->Append(record));
  if (first) retry_unix_ = Later(now.unix_s, options_.request_timeout_s);
  return {};
}

Status Gate::Check(uint64_t key, std::string_view record) {
  RETURN_IF_ERROR(cache_->Add({.op = DrumOp::kCheck, .key = key, .value = {}, .aux = record}));
  ++in_cache_;
  return {};
}

Status Gate::Add(const UrlRecord& record, GateSink& sink, GateNow now) {
  CHECK(record.kind != UrlKind::kRobots, "robots.txt goes through no gate");
  const std::string_view origin = OriginOf(record.url);
  if (origin.size() > kMaxOrigin) {
    RETURN_IF_ERROR(Emit(record, Ruling::kGivenUp, {}, sink));
    ++counts_.entered;
    return {};
  }
  const uint64_t key = OriginKey(record.url, options_.key);
  RobotsRef ref;
  ASSIGN_OR_RETURN(const auto known, FromKnown(record, key, now.unix_s, ref));
  if (known && *known != Ruling::kUnknown) {
    RETURN_IF_ERROR(Emit(record, *known, ref, sink));
    ++counts_.entered;
    ++counts_.known;
    return {};
  }
  UrlRecord bare = record;
  bare.robots = {};
  EncodeUrlRecord(bare, encoded_);
  if (known) {
    RETURN_IF_ERROR(AwaitAnswer(encoded_, now));
    asked_due_ = std::min(asked_due_, ref.expires);
  } else {
    RETURN_IF_ERROR(Check(key, encoded_));
  }
  ++counts_.entered;
  return {};
}

Status Gate::OnRobots(std::string_view request, uint8_t hops, const RobotsAnswer& answer, GateSink& sink, GateNow now) {
  const std::string_view origin = RobotsOrigin(request);
  RobotsAnswer::Kind kind = answer.kind;
  if (kind == RobotsAnswer::Kind::kFollow) {
    if (answer.follow.empty()) {
      kind = RobotsAnswer::Kind::kDisallowAll;  // a redirect to nowhere: the careful reading
    } else if (RobotsForStatus(301, hops) == RobotsVerdict::kFollow) {
      const std::string url = RedirectedRobotsUrl(answer.follow, origin);
      UrlRecord next;
      next.kind = UrlKind::kRobots;
      next.hops = static_cast<uint8_t>(hops + 1);
      next.url = url;
      RETURN_IF_ERROR(sink.OnRobotsWanted(next));
      ++counts_.redirects;
      return {};
    } else {
      kind = RobotsAnswer::Kind::kAllowAll;
    }
  }
  RobotsRef ref;
  ref.expires =
      Later(now.unix_s, kind == RobotsAnswer::Kind::kDisallowAll ? options_.unreachable_ttl_s : options_.robots_ttl_s);
  switch (kind) {
    case RobotsAnswer::Kind::kRules: {
      ASSIGN_OR_RETURN(ref.position, rules_->Put(answer.rules, ref.expires));
      break;
    }
    case RobotsAnswer::Kind::kDisallowAll:
      ref.position = answer.hopeless ? options_.unreachable_tries : kRobotsUnreachable;
      break;
    case RobotsAnswer::Kind::kAllowAll:
    case RobotsAnswer::Kind::kFollow:
      ref.position = kRobotsAllowAll;
      break;
  }
  const RobotsValue value = EncodeRobotsRef(ref);
  const uint64_t key = OriginKey(origin, options_.key);
  RETURN_IF_ERROR(cache_->Add(
      {.op = DrumOp::kUpdate, .key = key, .value = std::string_view(value.data(), value.size()), .aux = {}}));
  Remember(key, ref);
  ++counts_.answers;
  ++answers_since_pass_;
  return {};
}

// REQUIRES: the rules were put or asked for just now, so that they are in RAM.
void Gate::Remember(uint64_t key, const RobotsRef& ref) {
  std::optional<uint32_t> delay;
  if (ref.position >= RulesStore::kFirstPosition) {
    const auto rules = rules_->Get(ref.position);
    if (!rules || *rules == nullptr) return;
    delay = (*rules)->crawl_delay_ms();
  }
  known_.Put(key, ref, delay);
}

const KnownOrigin* Gate::NewestKnown(const UrlRecord& record, uint32_t unix_s) const {
  const KnownOrigin* known = known_.Find(OriginKey(record.url, options_.key), unix_s);
  return known != nullptr && known->position != kRobotsAsked ? known : nullptr;
}

Result<Verdict> Gate::AtFetch(const UrlRecord& record, uint32_t unix_s) {
  if (record.kind == UrlKind::kRobots) return Verdict::kAllowed;
  const KnownOrigin* const known = NewestKnown(record, unix_s);
  const RobotsRef ref = known != nullptr ? known->ref() : record.robots;
  // What is at a position never changes: these very rules have let it pass.
  const bool same = record.robots.present() && ref.position == record.robots.position;
  if (same && ref.position >= RulesStore::kFirstPosition && ref.expires > unix_s) return Verdict::kAllowed;
  const uint64_t reads = rules_->reads();
  ASSIGN_OR_RETURN(const Ruling ruling, Rule(record, ref, unix_s));
  reads_at_fetch_ += rules_->reads() - reads;
  switch (ruling) {
    case Ruling::kAllowed:
      return Verdict::kAllowed;
    case Ruling::kDenied:
      return Verdict::kDenied;
    case Ruling::kUnreachable:
    case Ruling::kGivenUp:
    case Ruling::kUnknown:
      break;
  }
  return Verdict::kStale;
}

std::optional<uint32_t> Gate::CrawlDelayMs(const UrlRecord& record, uint32_t unix_s) {
  if (const KnownOrigin* const known = NewestKnown(record, unix_s); known != nullptr) {
    if (known->crawl_delay_ms == KnownOrigin::kNoDelay) return std::nullopt;
    return known->crawl_delay_ms;
  }
  const RobotsRef& ref = record.robots;
  if (!ref.present() || ref.position < RulesStore::kFirstPosition) return std::nullopt;
  const uint64_t reads = rules_->reads();
  const auto rules = rules_->Get(ref.position);
  reads_at_fetch_ += rules_->reads() - reads;
  if (!rules || *rules == nullptr) return std::nullopt;
  return (*rules)->crawl_delay_ms();
}

// ---- checkpoints

std::vector<Checkpointable*> Gate::Checkpointables() {
  return {this, cache_.get(), requests_.get(), answer_queue_.get(), host_queue_.get(), rules_.get()};
}

Status Gate::Flush() {
  ManifestSection section;
  section.name = options_.name;
  section.kind = kKind;
  section.numbers = {{"in_cache", in_cache_},
                     // A pass that was running starts again.
                     {"host_due", host_pass_.left > 0 ? 0 : host_due_},
                     {"entered", counts_.entered},
                     {"allowed", counts_.allowed},
                     {"denied_rules", counts_.denied_rules},
                     {"denied_unreachable", counts_.denied_unreachable},
                     {"known", counts_.known},
                     {"wanted", counts_.wanted},
                     {"redirects", counts_.redirects},
                     {"answers", counts_.answers},
                     {"passes", counts_.passes}};
  described_ = std::move(section);
  return {};
}

Status Gate::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(in_cache_, section.Number("in_cache"));
  ASSIGN_OR_RETURN(const uint64_t due, section.Number("host_due"));
  host_due_ = static_cast<uint32_t>(due);
  ASSIGN_OR_RETURN(counts_.entered, section.Number("entered"));
  ASSIGN_OR_RETURN(counts_.allowed, section.Number("allowed"));
  ASSIGN_OR_RETURN(counts_.denied_rules, section.Number("denied_rules"));
  ASSIGN_OR_RETURN(counts_.denied_unreachable, section.Number("denied_unreachable"));
  ASSIGN_OR_RETURN(counts_.known, section.Number("known"));
  ASSIGN_OR_RETURN(counts_.wanted, section.Number("wanted"));
  ASSIGN_OR_RETURN(counts_.redirects, section.Number("redirects"));
  ASSIGN_OR_RETURN(counts_.answers, section.Number("answers"));
  ASSIGN_OR_RETURN(counts_.passes, section.Number("passes"));
  if (in_cache_ > cache_->waiting()) {
    return Fail(ErrorCode::kCorrupt, fmt::format("gate {}: in_cache is {}, but only {} tuples wait in RobotsCache",
                                                 options_.name, in_cache_, cache_->waiting()));
  }
  if (counts_.entered != counts_.allowed + counts_.denied_rules + counts_.denied_unreachable + waiting()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("gate {}: {} records entered, {} wait and {} left", options_.name, counts_.entered,
                            waiting(), counts_.allowed + counts_.denied_rules + counts_.denied_unreachable));
  }
  // What was in RAM is lost: all waiting records are looked at again, and requests are repeated where needed.
  answers_since_pass_ = 1;
  stragglers_ = in_cache_;
  described_ = section;
  return {};
}

}  // namespace portolan
