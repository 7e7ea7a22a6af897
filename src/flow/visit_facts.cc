#include "flow/visit_facts.h"

#include <bit>

#include "http/cache_control.h"
#include "http/date.h"

namespace portolan {
namespace {

bool IsWeak(std::string_view etag) { return etag.starts_with("W/"); }

// RFC 9110 section 8.8.3.2: weak comparison.
bool SameEtag(std::string_view a, std::string_view b) {
  if (IsWeak(a)) a.remove_prefix(2);
  if (IsWeak(b)) b.remove_prefix(2);
  return a == b;
}

void AddFields(const VisitFields& fields, int64_t our_time_s, VisitSignals& signals) {
  if (!fields.etag.empty()) signals.flags |= kSignalEtag;
  if (IsWeak(fields.etag)) signals.flags |= kSignalWeakEtag;
  for (const std::string_view value : {fields.etag, fields.last_modified}) {
    if (value.size() > kMaxValidator) signals.flags |= kSignalLongValidator;
  }
  if (!fields.last_modified.empty()) {
    signals.last_modified_s = ParseHttpDate(fields.last_modified);
    if (signals.last_modified_s) {
      const int64_t now_s = fields.date ? ParseHttpDate(*fields.date).value_or(our_time_s) : our_time_s;
      signals.age_s = now_s - *signals.last_modified_s;
      if (*signals.age_s < 0) {
        signals.flags |= kSignalFutureDate;
      } else if (*signals.age_s <= kNowSeconds) {
        signals.flags |= kSignalNowDate;
      }
    } else {
      signals.flags |= kSignalBadDate;
    }
  }
  CacheControl cache;
  if (!fields.cache_control.empty()) cache = ParseCacheControl(fields.cache_control);
  if (cache.no_store) signals.flags |= kSignalNoStore;
  if (cache.no_cache || (cache.must_revalidate && cache.max_age == 0)) signals.flags |= kSignalNoCache;
  signals.fresh_for_s = FreshFor(cache, fields.expires, fields.date);
}

void Compare(const Visit& visit, const PageResult& result, VisitSignals& signals) {
  const LastVisit* const last = visit.last.get();
  if (result.not_modified()) {
    signals.change = PayloadChange::kNotModified;
    signals.text_distance = 0;
    return;
  }
  if (last == nullptr) return;
  if (visit.has_payload()) {
    if (last->has_payload()) {
      signals.change = visit.payload_sha1 == last->payload_sha1 ? PayloadChange::kSame : PayloadChange::kOther;
    }
    if (last->similarity != 0 && result.similarity != 0) {
      signals.text_distance = static_cast<uint8_t>(std::popcount(last->similarity ^ result.similarity));
    }
  } else if (result.gone() && last->has_payload()) {
    signals.change = PayloadChange::kOther;
  }
}

// Validators against what has changed.
void CompareValidators(const Validators& old, const VisitFields& fields, int status, VisitSignals& signals) {
  const bool unchanged = signals.change == PayloadChange::kNotModified || signals.change == PayloadChange::kSame;
  if (!unchanged && (signals.change != PayloadChange::kOther || status / 100 != 2)) return;
  if (!old.etag.empty() && !fields.etag.empty()) {
    const bool same = SameEtag(old.etag, fields.etag);
    if (unchanged && !same) signals.flags |= kSignalEtagMoved;
    if (!unchanged && same) signals.flags |= kSignalEtagStuck;
  }
  if (!old.last_modified.empty() && !fields.last_modified.empty()) {
    const bool same = old.last_modified == fields.last_modified;
    if (unchanged && !same) signals.flags |= kSignalDateMoved;
    if (!unchanged && same) signals.flags |= kSignalDateStuck;
  }
}

}  // namespace

void AddVisitFacts(const VisitFields& fields, bool conditional, bool readable, int64_t our_time_s, PageResult& result) {
  Visit& visit = *result.visit;
  VisitSignals& signals = visit.signals;
  if (conditional) signals.flags |= kSignalConditional;
  AddFields(fields, our_time_s, signals);
  Compare(visit, result, signals);
  if (visit.last != nullptr) CompareValidators(visit.last->validators, fields, result.status, signals);

  const bool kept = readable &&
                    (result.outcome == FetchOutcome::kAnswered || result.outcome == FetchOutcome::kBodyCut) &&
                    (result.status / 100 == 2 || result.not_modified());
  if (!kept) return;
  if (result.not_modified()) {
    if (visit.last == nullptr || (signals.flags & kSignalEtagMoved) != 0) return;
    visit.validators = visit.last->validators;
  }
  if (IsValidator(fields.etag)) visit.validators.etag = fields.etag;
  if (IsValidator(fields.last_modified) && signals.last_modified_s) {
    visit.validators.last_modified = fields.last_modified;
  }
}

}  // namespace portolan
