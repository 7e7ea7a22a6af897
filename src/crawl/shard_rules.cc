// What rules, block lists and page limits mean for the shard: which URLs are left out, which answers are not kept.

#include "crawl/shard.h"

namespace portolan {

// Tested again at each step, because the settings may have changed since the URL was found, and pages were counted.
Shard::KeptOut Shard::WhatKeepsOut(const UrlRecord& record, uint64_t host, RuleVerdict* rules) {
  const bool seed = record.depth == 0 && record.hops == 0 && record.requisite == 0;
  const ScopeVerdict verdict = scope_.Judge(record, host, seed);
  if (rules != nullptr) *rules = verdict.rules;
  switch (verdict.answer) {
    case ScopeAnswer::kInside:
      break;
    case ScopeAnswer::kOutside:
      return {.outcome = "out_of_scope"};
    case ScopeAnswer::kRule:
      return {.outcome = "excluded_by_rule", .rule = verdict.rules.access};
    case ScopeAnswer::kBlocked:
      return {.outcome = "blocked"};
  }
  // A page that is visited again is counted already.
  if (const Rule* const limit = verdict.rules.limit; limit != nullptr && page_limits_ && !IsRevisit(record)) {
    if (page_limits_->Reached(*limit, page_limits_->ClaimOf(*limit, record.url, host), /*or_began=*/false)) {
      return {.outcome = "over_limit", .rule = limit};
    }
  }
  return {};
}

// True if the last pages that a limit allows are being fetched. Some of these fetches may fail, so the URL waits: it is
// looked at again when they have ended.
bool Shard::AwaitsLimit(const Dispatch& dispatch, const PageLimits::Claim& claim, const Rule& limit, Moment now) {
  constexpr int64_t kLookAgainNs = 1'000'000'000;
  if (!page_limits_->Reached(limit, claim, /*or_began=*/true)) return false;
  Hit none;
  none.ok = false;  // it says nothing about the host
  none.later_ns = kLookAgainNs;
  frontier_->Retry(dispatch.slot, dispatch.record, Where::kTail, none, now.now_ns);
  return true;
}

void Shard::EndKeptOut(const UrlRecord& record, const KeptOut& why, Moment now) {
  if (!IsRevisit(record)) {
    ++counts_.excluded;
    if (why.outcome == "excluded_by_rule") ++counts_.by_rule;
    if (why.outcome == "blocked") ++counts_.blocked;
    if (why.outcome == "over_limit") ++counts_.over_limit;
  }
  EndUnfetched(record, why.outcome, now, why.rule);
}

// The pages of other hosts are counted by the shards that own them.
bool Shard::OverLimit(const Rule* limit, std::string_view url, uint64_t host, uint32_t owner) {
  if (limit == nullptr || !page_limits_ || !Here(owner)) return false;
  return page_limits_->Reached(*limit, page_limits_->ClaimOf(*limit, url, host), /*or_began=*/false);
}

// Size and type are known: the answer is not kept, and its links are not followed.
void Shard::DropByRule(const UrlRecord& record, PageResult& result, FetchLine& line) {
  if (!scope_.judges_answers() || FollowOf(result.outcome, result.status).count != CountAs::kFetched) return;
  const Rule* const rule = scope_.ExcludesAnswer(record, {.size = result.body_bytes, .type = result.mime});
  if (rule == nullptr) return;
  ++counts_.dropped;
  line.dropped = true;
  line.rule = rule->Name();
  result.archive = {};
  result.outputs.clear();
  result.links = {};
}

void Shard::OnBlockList(std::shared_ptr<const BlockList> list, Moment now) {
  scope_.SetBlocked(std::move(list));
  next_wake_ns_ = now.now_ns;
}

// A seed, with the priority that the rules give it.
void Shard::SetSeedPriority(UrlRecord& record) {
  if (scope_.rules() == nullptr || !scope_.rules()->has(RuleAction::kPriority)) return;
  const RuleVerdict rules = scope_.Judge(record, HostKey(record.url, options_.key), /*seed=*/true).rules;
  if (rules.priority == nullptr) return;
  record.priority = static_cast<uint8_t>(std::min(rules.priority->priority, options_.frontier.front_queues - 1));
}

}  // namespace portolan
