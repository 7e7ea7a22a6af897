#include "parse/visit_reader.h"

#include <algorithm>
#include <bit>

#include "base/ascii.h"
#include "http/cache_control.h"
#include "http/date.h"

namespace portolan {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

bool IsWeak(std::string_view etag) { return etag.starts_with("W/"); }

// RFC 9110 section 8.8.3.2: weak comparison.
bool SameEtag(std::string_view a, std::string_view b) {
  if (IsWeak(a)) a.remove_prefix(2);
  if (IsWeak(b)) b.remove_prefix(2);
  return a == b;
}

struct Fields {
  std::string_view etag;
  std::string_view last_modified;
};

void ReadFields(const PageView& view, Fields& fields, VisitSignals& signals) {
  const HeaderFields& head = view.head.fields;
  fields.etag = head.Find("etag").value_or("");
  if (!fields.etag.empty()) signals.flags |= kSignalEtag;
  if (IsWeak(fields.etag)) signals.flags |= kSignalWeakEtag;
  fields.last_modified = head.Find("last-modified").value_or("");
  for (const std::string_view value : {fields.etag, fields.last_modified}) {
    if (value.size() > kMaxValidator) signals.flags |= kSignalLongValidator;
  }

  const auto date = head.Find("date");
  if (!fields.last_modified.empty()) {
    signals.last_modified_s = ParseHttpDate(fields.last_modified);
    if (signals.last_modified_s) {
      const int64_t our_time = view.response.times.begin_unix_ns / kNsPerSecond;
      const int64_t now = date ? ParseHttpDate(*date).value_or(our_time) : our_time;
      signals.age_s = now - *signals.last_modified_s;
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
  if (head.Find("cache-control")) cache = ParseCacheControl(head.Joined("cache-control"));
  if (cache.no_store) signals.flags |= kSignalNoStore;
  if (cache.no_cache || (cache.must_revalidate && cache.max_age == 0)) signals.flags |= kSignalNoCache;
  signals.fresh_for_s = FreshFor(cache, head.Find("expires"), date);
}

bool IsWhole(const PageView& view, const PageResult& result) {
  return result.outcome == FetchOutcome::kAnswered && !result.cut && view.readable && !view.response.body.empty();
}

}  // namespace

void VisitReader::Read(const PageView& view, PageResult& result) {
  Visit& visit = *result.visit;
  VisitSignals& signals = visit.signals;
  const LastVisit* const last = visit.last.get();
  if (view.response.task.conditional()) signals.flags |= kSignalConditional;
  Fields fields;
  ReadFields(view, fields, signals);

  if (result.not_modified()) {
    signals.change = PayloadChange::kNotModified;
    signals.text_distance = 0;
  } else if (IsWhole(view, result)) {
    if (result.payload_sha1 != decltype(result.payload_sha1){}) {
      visit.payload_sha1 = result.payload_sha1;
    } else if (!result.archive.bytes.empty()) {
      visit.payload_sha1 = result.archive.payload_sha1;
    } else {
      sha1_.Start();
      sha1_.Update(view.response.body);
      std::ranges::copy(sha1_.Finish(), visit.payload_sha1.begin());
    }
    if (last != nullptr && last->has_payload()) {
      signals.change = visit.payload_sha1 == last->payload_sha1 ? PayloadChange::kSame : PayloadChange::kOther;
    }
    if (last != nullptr && last->similarity != 0 && result.similarity != 0) {
      signals.text_distance = static_cast<uint8_t>(std::popcount(last->similarity ^ result.similarity));
    }
  } else if (result.gone() && last != nullptr && last->has_payload()) {
    signals.change = PayloadChange::kOther;
  }

  const bool unchanged = signals.change == PayloadChange::kNotModified || signals.change == PayloadChange::kSame;
  const bool changed = signals.change == PayloadChange::kOther && result.status / 100 == 2;
  if (last != nullptr && (unchanged || changed)) {
    const Validators& old = last->validators;
    if (!old.etag.empty() && !fields.etag.empty()) {
      const bool same = SameEtag(old.etag, fields.etag);
      if (unchanged && !same) signals.flags |= kSignalEtagMoved;
      if (changed && same) signals.flags |= kSignalEtagStuck;
    }
    if (!old.last_modified.empty() && !fields.last_modified.empty()) {
      const bool same = old.last_modified == fields.last_modified;
      if (unchanged && !same) signals.flags |= kSignalDateMoved;
      if (changed && same) signals.flags |= kSignalDateStuck;
    }
  }

  const bool kept = (result.outcome == FetchOutcome::kAnswered || result.outcome == FetchOutcome::kBodyCut) &&
                    view.readable && (result.status / 100 == 2 || result.not_modified());
  if (!kept || (result.not_modified() && (signals.flags & kSignalEtagMoved) != 0)) return;
  if (result.not_modified()) visit.validators = last->validators;
  if (IsValidator(fields.etag)) visit.validators.etag = fields.etag;
  if (IsValidator(fields.last_modified) && signals.last_modified_s)
    visit.validators.last_modified = fields.last_modified;
}

}  // namespace portolan
