// What moves the gate: answers of its DRUMs, passes through its queues, and when.

#include <algorithm>

#include "base/bytes.h"
#include "gate/gate.h"
#include "gate/robots_request.h"
#include "gate/robots_value.h"

namespace portolan {
namespace {

// What a record costs in a pass, at least: it is read, looked up, and perhaps written twice. Keeps the pace where the
// clock stands still during a pass.
constexpr int64_t kRecordNs = 500;
constexpr uint32_t kCleanEveryS = 60;
constexpr size_t kRequestTimeSize = 4;  // the aux and value of a request begin with: u32 unix seconds
// After this time RobotsCache is asked again about an origin whose robots.txt was requested before a restart.
constexpr uint32_t kAskedBeforeS = 10;

int64_t SteadyTimeOf(uint32_t unix_s, GateNow now) {
  if (unix_s <= now.unix_s) return now.ns;
  return now.ns + int64_t{unix_s - now.unix_s} * 1'000'000'000;
}

}  // namespace

class Gate::CacheSink : public DrumSink {
 public:
  CacheSink(Gate& gate, GateSink& sink, GateNow now) : gate_(gate), sink_(sink), now_(now) {}
  Status OnAnswer(const DrumAnswer& answer) override { return gate_.OnCached(answer, sink_, now_); }

 private:
  Gate& gate_;
  GateSink& sink_;
  const GateNow now_;
};

class Gate::RequestSink : public DrumSink {
 public:
  RequestSink(Gate& gate, GateSink& sink, GateNow now) : gate_(gate), sink_(sink), now_(now) {}
  Status OnAnswer(const DrumAnswer& answer) override {
    if (answer.aux.size() < 4) return {};  // checksums say that this cannot be
    const auto asked = LoadLe<uint32_t>(answer.aux.data());
    if (!answer.unique && !AskAgain(LoadLe<uint32_t>(answer.value.data()), asked, gate_.options_.request_timeout_s)) {
      // RAM did not know of that request (it was made before a restart), so its answer may be in RobotsCache, behind
      // the check that did not find it. The mark that Ask made must not hide it until the timeout.
      const uint64_t key = OriginKey(answer.aux.substr(4), gate_.options_.key);
      const auto soon = static_cast<uint32_t>(std::min<uint64_t>(uint64_t{now_.unix_s} + kAskedBeforeS, ~uint32_t{0}));
      if (const KnownOrigin* known = gate_.known_.Find(key, now_.unix_s);
          known != nullptr && known->position == kRobotsAsked) {
        gate_.known_.Put(key, {.position = kRobotsAsked, .expires = std::min(soon, known->expires)});
      }
      gate_.asked_due_ = std::min(gate_.asked_due_, soon);
      return {};
    }
    const std::string url = RobotsUrl(answer.aux.substr(4));
    UrlRecord request;
    request.kind = UrlKind::kRobots;
    request.url = url;
    RETURN_IF_ERROR(sink_.OnRobotsWanted(request));
    ++gate_.counts_.wanted;
    return {};
  }

 private:
  Gate& gate_;
  GateSink& sink_;
  const GateNow now_;
};

Status Gate::Ask(uint64_t key, std::string_view origin, GateNow now) {
  std::string aux;
  AppendLe<uint32_t>(aux, now.unix_s);
  aux += origin;
  RETURN_IF_ERROR(requests_->Add({.op = DrumOp::kCheckUpdate,
                                  .key = key,
                                  .value = std::string_view(aux).substr(0, kRequestTimeSize),
                                  .aux = aux}));
  const uint64_t until = uint64_t{now.unix_s} + options_.request_timeout_s;
  known_.Put(key,
             {.position = kRobotsAsked, .expires = static_cast<uint32_t>(std::min<uint64_t>(until, ~uint32_t{0}))});
  return {};
}

// Everything that can fail comes before what it changes here: after an error the same answer comes again.
Status Gate::OnCached(const DrumAnswer& answer, GateSink& sink, GateNow now) {
  if (in_cache_ == 0) {
    return Fail(ErrorCode::kCorrupt, options_.name + ": RobotsCache answers more checks than in_cache says");
  }
  const auto record = DecodeUrlRecord(answer.aux);
  if (!record) return Fail(ErrorCode::kCorrupt, options_.name + ": RobotsCache gave back bytes that are not a record");
  const uint64_t key = OriginKey(record->url, options_.key);
  RobotsRef ref;
  if (!answer.unique) ref = DecodeRobotsRef(answer.value.data());
  // An answer that came after this check was made may be in RAM.
  const KnownOrigin* const found = known_.Find(key, now.unix_s);
  const bool known = found != nullptr;
  const bool asked = known && found->position == kRobotsAsked;
  const bool unreachable = known && IsUnreachable(found->position);
  const uint32_t known_until = known ? found->expires : 0;
  if (known && !asked && !unreachable) ref = found->ref();
  ASSIGN_OR_RETURN(const Ruling ruling, Rule(*record, ref, now.unix_s));
  const bool straggler = stragglers_ > 0;
  switch (ruling) {
    case Ruling::kAllowed:
    case Ruling::kDenied:
    case Ruling::kGivenUp:
      RETURN_IF_ERROR(Emit(*record, ruling, ref, sink));
      // An unreachable verdict that RAM knows is newer than this.
      if (!known || asked) Remember(key, ref);
      break;
    case Ruling::kUnreachable:
      RETURN_IF_ERROR(host_queue_->Append(answer.aux));
      if (!known || asked) Remember(key, ref);
      host_due_ = std::min(host_due_, ref.expires);
      break;
    case Ruling::kUnknown:
      // Asked first: once more does no harm, a second copy of the record would.
      if (!asked && !unreachable) RETURN_IF_ERROR(Ask(key, OriginOf(record->url), now));
      RETURN_IF_ERROR(AwaitAnswer(answer.aux, now));
      if (asked) asked_due_ = std::min(asked_due_, known_until);
      if (unreachable || (straggler && !known)) ++answers_since_pass_;
      break;
  }
  --in_cache_;
  if (straggler) --stragglers_;
  return {};
}

Result<uint64_t> Gate::Pump(GateSink& sink, uint64_t max, GateNow now) {
  Observe(now);
  uint64_t done = 0;
  RequestSink requests(*this, sink, now);
  while (done < max && requests_->ResultsReady()) {
    ASSIGN_OR_RETURN(const uint64_t taken, requests_->TakeResults(requests, max - done));
    done += taken;
    Observe(now);
  }
  CacheSink cached(*this, sink, now);
  while (done < max && cache_->ResultsReady()) {
    // Each answer may be a reason to ask for one robots.txt.
    const uint64_t room = requests_->Room(kRequestTimeSize + kMaxOrigin);
    if (room == 0) break;
    ASSIGN_OR_RETURN(const uint64_t taken, cache_->TakeResults(cached, std::min(max - done, room)));
    done += taken;
    Observe(now);
  }
  RETURN_IF_ERROR(WalkQueue(*answer_queue_, answer_pass_, sink, max, now, done));
  RETURN_IF_ERROR(WalkQueue(*host_queue_, host_pass_, sink, max, now, done));
  if (now.unix_s >= clean_unix_) {
    rules_->RemoveExpired(now.unix_s);
    clean_unix_ = now.unix_s + kCleanEveryS;
  }
  return done;
}

Status Gate::WalkQueue(DiskQueue& queue, Pass& pass, GateSink& sink, uint64_t max, GateNow now, uint64_t& done) {
  while (pass.left > 0 && done < max) {
    ASSIGN_OR_RETURN(const std::string* bytes, queue.Front());
    if (bytes == nullptr) {
      pass.left = 0;
      break;
    }
    const auto record = DecodeUrlRecord(*bytes);
    if (!record) return Fail(ErrorCode::kCorrupt, options_.name + ": a queue gave bytes that are not a record");
    RobotsRef ref;
    const uint64_t key = OriginKey(record->url, options_.key);
    ASSIGN_OR_RETURN(const auto known, FromKnown(*record, key, now.unix_s, ref));
    if (!known) {
      if (Room() == 0) return {};  // it stays, and the pass goes on when there is
      RETURN_IF_ERROR(Check(key, *bytes));
    } else if (*known == Ruling::kUnknown) {
      RETURN_IF_ERROR(AwaitAnswer(*bytes, now));
      asked_due_ = std::min(asked_due_, ref.expires);
    } else {
      RETURN_IF_ERROR(Emit(*record, *known, ref, sink));
      ++counts_.known;
    }
    queue.PopFront();
    --pass.left;
    ++done;
  }
  if (pass.left == 0 && pass.records > 0) {
    const int64_t cost = std::max(now.ns - pass.begin_ns, static_cast<int64_t>(pass.records) * kRecordNs);
    pass.rested_ns = now.ns + options_.pace.ratio * cost;
    pass.calm_ns = options_.pace.patience_ns == kNever
                       ? kNever
                       : now.ns + std::max(options_.pace.calm_ratio * cost, options_.pace.patience_ns);
    pass.records = 0;
  }
  return {};
}

bool Gate::Ready() const {
  return requests_->ResultsReady() || cache_->ResultsReady() || answer_pass_.left > 0 || host_pass_.left > 0;
}

// ---- when

void Gate::Observe(GateNow now) {
  cache_pace_.Observe(*cache_, now.ns);
  requests_pace_.Observe(*requests_, now.ns);
}

int64_t Gate::NextCacheRound(bool hungry) const {
  // Answers alone are not urgent: a check that comes after them finds them.
  return in_cache_ == 0 ? kNever : cache_pace_.NextStart(*cache_, hungry);
}

int64_t Gate::NextAnswerPass(GateNow now, bool hungry) const {
  if (answer_pass_.left > 0 || answer_queue_->size() == 0) return kNever;
  const int64_t retry = std::max(SteadyTimeOf(std::min(retry_unix_, asked_due_), now), answer_pass_.rested_ns);
  if (answers_since_pass_ == 0) return retry;
  // The URLs of a giant host keep the frontier full (not hungry), but new hosts must be crawled beside it.
  const bool now_or_soon = hungry || answers_since_pass_ >= options_.pass_answers;
  return std::min(retry, now_or_soon ? answer_pass_.rested_ns : answer_pass_.calm_ns);
}

int64_t Gate::NextHostPass(GateNow now) const {
  if (host_pass_.left > 0 || host_queue_->size() == 0) return kNever;
  return std::max(SteadyTimeOf(std::max(host_due_, host_rest_unix_), now), host_pass_.rested_ns);
}

int64_t Gate::NextRoundTime(GateNow now, bool hungry) {
  Observe(now);
  return std::min({NextCacheRound(hungry), requests_pace_.NextStart(*requests_, hungry), NextAnswerPass(now, hungry),
                   NextHostPass(now)});
}

void Gate::BeginPass(Pass& pass, const DiskQueue& queue, GateNow now) {
  pass.left = queue.size();
  pass.records = pass.left;
  pass.begin_ns = now.ns;
  ++counts_.passes;
}

Result<bool> Gate::StartRounds(GateNow now, bool hungry) {
  Observe(now);
  bool any = false;
  if (NextAnswerPass(now, hungry) <= now.ns) {
    BeginPass(answer_pass_, *answer_queue_, now);
    answers_since_pass_ = 0;
    stragglers_ = in_cache_;
    asked_due_ = ~uint32_t{0};
    retry_unix_ =
        static_cast<uint32_t>(std::min<uint64_t>(uint64_t{now.unix_s} + options_.request_timeout_s, ~uint32_t{0}));
    any = true;
  }
  if (NextHostPass(now) <= now.ns) {
    BeginPass(host_pass_, *host_queue_, now);
    host_due_ = ~uint32_t{0};
    host_rest_unix_ = now.unix_s + options_.unreachable_ttl_s / 4;
    any = true;
  }
  if (NextCacheRound(hungry) <= now.ns) {
    cache_horizon_->store(now.unix_s);
    ASSIGN_OR_RETURN(const bool started, cache_->StartRound());
    any = any || started;
  }
  if (requests_pace_.NextStart(*requests_, hungry) <= now.ns) {
    requests_horizon_->store(now.unix_s);
    ASSIGN_OR_RETURN(const bool started, requests_->StartRound());
    any = any || started;
  }
  Observe(now);
  return any;
}

}  // namespace portolan
