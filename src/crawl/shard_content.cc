// What the shard does with payloads that were captured before: revisit records, late findings, links of copies, and
// mirrors; with payloads that a page no longer has; and with pages whose text is nearly that of another one.
// docs/content.md has the policy and its reasons.
//
// With several shards the owner of a payload (by its hash) is told of each capture that the page's own shard takes for
// the first. If it knows an earlier one it answers, and the finding is a late one: the page is archived already.

#include <algorithm>

#include "crawl/crossing.h"
#include "crawl/shard.h"

namespace portolan {
namespace {

int64_t UnixMs(int64_t unix_ns) { return std::max<int64_t>(1, unix_ns / 1'000'000); }

bool IsPage(const PageResult& result) { return result.kind == UrlKind::kPage && result.status / 100 == 2; }

// "https://example.org/a/" of "https://example.org/a/b?c".
std::string_view DirectoryOf(std::string_view url) {
  const size_t origin = OriginOf(url).size();
  const size_t query = std::min(url.find('?', origin), url.size());
  const size_t slash = url.substr(0, query).rfind('/');
  return url.substr(0, slash == std::string_view::npos || slash < origin ? origin : slash + 1);
}

std::string_view SchemeOf(std::string_view url) { return url.substr(0, url.find(':')); }

}  // namespace

class Shard::LateToLog : public LateSink {
 public:
  explicit LateToLog(Shard& shard) : shard_(shard) {}
  Status OnLate(const LateFinding& finding) override {
    shard_.NoteLate(finding.url, finding.unix_ms, {}, finding.first_unix_ms, false);
    return {};
  }

 private:
  Shard& shard_;
};

Status Shard::TakeLate(Moment now, bool* moved) {
  constexpr uint64_t kStep = 4096;
  LateToLog late(*this);
  ASSIGN_OR_RETURN(const uint64_t looked, content_->TakeLate(late, kStep, now.now_ns));
  *moved = *moved || looked > 0;
  return {};
}

// A page that is not archived, for example because it says noarchive, is no first capture that others could refer to.
bool Shard::IsLookedAt(const PageResult& result) const {
  return content_ != nullptr && std::ranges::any_of(result.payload_sha1, [](char byte) { return byte != 0; }) &&
         (!options_.archived || !result.archive.bytes.empty());
}

// A page that could not be had this time keeps its payload.
bool Shard::ForgetsPayload(const PageResult& result) const {
  return content_ != nullptr && result.visit != nullptr && result.visit->last != nullptr &&
         result.visit->last->has_payload() && result.visit->signals.change == PayloadChange::kOther;
}

// REQUIRES: HasRoomFor(result).
Status Shard::CompareWithLast(const PageResult& result, const UrlRecord& record, FetchLine& line, CopyLinks& links) {
  const LastVisit& last = *result.visit->last;
  const VisitSignals& signals = result.visit->signals;
  ++counts_.revisits;
  if ((signals.flags & kSignalConditional) != 0) ++counts_.conditional;
  line.change = signals.change;
  if (signals.change == PayloadChange::kNotModified) ++counts_.not_modified;
  line.gone = result.gone();
  if (line.gone) ++counts_.gone;
  if (signals.change == PayloadChange::kSame) {
    ++counts_.unchanged;
    links = CopyLinks::kGuides;  // the others were offered when the page was first seen like this
    if (last.captured_unix_ms != 0 && !result.archive.revisit.empty()) {
      line.duplicate_of = last.captured_url.empty() ? std::string(record.url) : last.captured_url;
      line.revisit = true;
    }
  }
  if (signals.change == PayloadChange::kSame || signals.change == PayloadChange::kNotModified) {
    line.duplicate_unix_ms = last.captured_unix_ms;
  }
  if (!ForgetsPayload(result)) return {};
  const PayloadKey payload = PayloadKeyOf(last.payload_sha1, options_.key);
  const uint32_t owner = OwnerOfPayload(payload);
  RETURN_IF_ERROR(content_->Remove(payload, record.url, Here(owner)));
  if (Here(owner) || record.url.size() > kMaxFirstUrl) return {};
  EncodeFirstCapture({.payload = payload, .url = record.url, .removal = true}, encoded_);
  EncodePayloadCrossing(encoded_, IsPage(result), message_);
  exchange_->Send(owner, message_);
  return {};
}

// REQUIRES: HasRoomFor(result).
Status Shard::LookAtContent(const PageResult& result, const UrlRecord& record, FetchLine& line, CopyLinks& links) {
  const PayloadKey payload = PayloadKeyOf(result.payload_sha1, options_.key);
  const uint32_t owner = OwnerOfPayload(payload);
  const FirstCapture capture{.payload = payload,
                             .url = record.url,
                             .unix_ms = UnixMs(result.times.begin_unix_ns),
                             .depth = record.depth,
                             .type = TypeOf(result.mime),
                             .ours = Here(owner)};
  ASSIGN_OR_RETURN(const std::optional<ContentSeen::Known> first, content_->Look(capture));
  if (first) {
    ++counts_.duplicates;
    line.duplicate_of = first->url;
    line.duplicate_unix_ms = first->unix_ms;
    line.revisit = options_.duplicates != DuplicatePolicy::kKeep;
    if (!IsPage(result)) return {};
    mirrors_->Observe({.url = record.url, .first = first->url, .payload = payload.key});
    links = LinksOfCopy(result, record, *first);
    return {};
  }
  if (IsPage(result)) {
    mirrors_->Observe({.url = record.url, .payload = payload.key});
    if (record.stands_in && record.via.empty()) mirrors_->NoteMissing(record.url);
  }
  if (Here(owner) || record.url.size() > kMaxFirstUrl) return {};
  EncodeFirstCapture(capture, encoded_);
  EncodePayloadCrossing(encoded_, IsPage(result), message_);
  exchange_->Send(owner, message_);
  return {};
}

// The same bytes have the same links: what is absolute in them is known from the first capture, and what is relative
// too, if both pages are in one directory. Otherwise relative links are other URLs. Those of a mirror are left to the
// original, and where nearly everything is a copy they would lead to more copies.
Shard::CopyLinks Shard::LinksOfCopy(const PageResult& result, const UrlRecord& record,
                                    const ContentSeen::Known& first) {
  if (options_.duplicates != DuplicatePolicy::kSkip) return CopyLinks::kAll;
  // The first may have been read as something else, or too deep for its links to be followed.
  if (first.type != TypeOf(result.mime) || SchemeOf(first.url) != SchemeOf(record.url)) return CopyLinks::kAll;
  if (options_.depth_limited && record.depth < first.depth) return CopyLinks::kAll;
  if (DirectoryOf(first.url) == DirectoryOf(record.url)) return CopyLinks::kGuides;
  const auto mirror = mirrors_->MirrorOf(record.url);
  const bool counterpart =
      mirror && mirror->original == OriginOf(first.url) && PathAndQueryOf(first.url) == PathAndQueryOf(record.url);
  if (counterpart || mirrors_->MostlyCopies(record.url)) return CopyLinks::kGuides;
  return CopyLinks::kOwnOrigin;
}

// A copy of the same bytes was noticed already. The text of a near one is its own, and so may be any of its links: it
// is stored in full, and links are left out only within a host where nearly every page is a copy.
Status Shard::LookForNear(const PageResult& result, const UrlRecord& record, FetchLine& line, CopyLinks& links) {
  if (near_ == nullptr || result.similarity == 0 || !IsPage(result) || line.duplicate_unix_ms != 0) return {};
  const NearPage page{
      .similarity = result.similarity, .url = record.url, .depth = record.depth, .type = TypeOf(result.mime)};
  ASSIGN_OR_RETURN(std::optional<NearSeen::Known> near, near_->Look(page));
  if (!near) return {};
  ++counts_.near_duplicates;
  line.near_bits = near->bits;
  if (options_.near_duplicates == NearPolicy::kSkip && mirrors_ != nullptr) {
    mirrors_->NoteNear(record.url);
    const bool deeper = options_.depth_limited && record.depth < near->depth;
    if (near->type == page.type && !deeper && mirrors_->MostlyCopies(record.url)) links = CopyLinks::kElsewhere;
  }
  line.near_duplicate_of = std::move(near->url);
  return {};
}

// Redirects and canonical links lead away from a copy, and what a page needs to be displayed belongs to it.
bool Shard::IsFollowed(CopyLinks links, const FoundLink& link, uint64_t host) const {
  if (links == CopyLinks::kAll) return true;
  if ((link.flags & (kFoundRedirect | kFoundCanonical | kFoundRequisite)) != 0) return true;
  if (links == CopyLinks::kGuides) return false;
  return (links == CopyLinks::kOwnOrigin) == (link.host_hash == host);
}

void Shard::NoteLate(std::string_view url, int64_t unix_ms, std::string_view first, int64_t first_unix_ms, bool page) {
  ++counts_.late_duplicates;
  if (page && mirrors_ != nullptr) mirrors_->Observe({.url = url, .first = first, .known = true});
  PageResult none;
  none.times.begin_unix_ns = unix_ms * 1'000'000;
  FetchLine line;
  line.url = url;
  line.attempt = 0;
  line.denied = "late_duplicate";
  line.duplicate_of = first;
  line.duplicate_unix_ms = first_unix_ms;
  outputs_.Write(none, std::move(line));
}

// Another shard took this capture for the first of its payload, or takes one back.
Status Shard::OnPayload(const Crossing& crossing) {
  if (content_ == nullptr) return {};
  std::optional<FirstCapture> capture = DecodeFirstCapture(crossing.first);
  if (!capture) return Fail(ErrorCode::kCorrupt, "a payload from another shard is not valid");
  if (capture->removal) return content_->Remove(capture->payload, capture->url, true);
  capture->ours = true;
  ASSIGN_OR_RETURN(const std::optional<ContentSeen::Known> first, content_->Look(*capture));
  // A capture is no copy of itself: its shard fetched the page again after it lost what came after a checkpoint.
  if (!first || first->url == capture->url) return {};
  const uint32_t owner = OwnerOf(capture->url);
  if (Here(owner)) {
    NoteLate(capture->url, capture->unix_ms, first->url, first->unix_ms, crossing.page);
    return {};
  }
  EncodeCopyCrossing(capture->url, capture->unix_ms, first->url, first->unix_ms, crossing.page, message_);
  exchange_->Send(owner, message_);
  return {};
}

// ---- mirrors

std::string Shard::CounterpartOf(const UrlRecord& record) {
  // Seeds and what a page needs to be displayed are fetched where they are; so is what was tried or fetched before.
  if (mirrors_ == nullptr || options_.duplicates != DuplicatePolicy::kSkip || record.kind != UrlKind::kPage ||
      record.requisite > 0 || record.depth == 0 || record.attempts > 0 || record.stands_in || !record.last.empty() ||
      record.url.size() > kMaxVia) {
    return {};
  }
  const std::optional<MirrorTable::Mirror> mirror = mirrors_->MirrorOf(record.url);
  if (!mirror || options_.key.Hash(record.url) % mirror->sample == 0) return {};
  std::string counterpart = std::string(mirror->original) + std::string(PathAndQueryOf(record.url));
  if (mirrors_->IsGone(counterpart)) return {};
  UrlRecord found = record;
  found.url = counterpart;
  if (WhatKeepsOut(found, HostKey(counterpart, options_.key))) return {};
  const bool room = Here(OwnerOf(counterpart)) ? seen_->Room() > 0 : HasRoomElsewhere();
  return room ? counterpart : std::string();
}

// The page of the original is offered like a link that was found, with the mirror's page as its via: nothing is lost
// that both hosts have. If it fails, the mirror's page is fetched after all (BringBack).
Status Shard::LeaveToCounterpart(const Dispatch& dispatch, const std::string& counterpart, Moment now) {
  const std::string copy = EncodeUrlRecord(dispatch.record);  // Skip frees the slot's copy
  frontier_->Skip(dispatch.slot);
  const UrlRecord record = DecodeUrlRecord(copy).value();
  UrlRecord found = record;
  found.url = counterpart;
  found.budget = 0;
  found.robots = {};
  found.stands_in = true;
  found.via = ViaOf(record.url, counterpart);
  EncodeUrlRecord(found, encoded_);
  RETURN_IF_ERROR(Offer(options_.key.Hash(counterpart), encoded_, OwnerOf(counterpart)));
  ++counts_.mirrored;
  EndUnfetched(record, "mirror", now, nullptr, counterpart);
  return {};
}

// Needs no room in the exchange: there are no more of these than URLs that were left to a counterpart.
void Shard::BringBack(const UrlRecord& record) {
  if (mirrors_ != nullptr && record.kind == UrlKind::kPage) mirrors_->NoteGone(record.url);
  if (!record.stands_in || record.via.empty()) return;
  const std::string url = record.via.ToString();
  UrlRecord again = record;
  again.url = url;
  again.via = {};  // so it is not left to its counterpart again
  again.robots = {};
  again.budget = 0;
  again.attempts = 0;
  const uint32_t owner = OwnerOf(url);
  if (Here(owner)) {
    if (const Status status = TakeBack(again); !status) late_error_ = status;
    return;
  }
  std::string message;
  EncodeAgainCrossing(EncodeUrlRecord(again), message);
  exchange_->Send(owner, message);
}

// It had ended as "mirror", and waits again.
Status Shard::TakeBack(const UrlRecord& again) {
  RETURN_IF_ERROR(frontier_->Add(again));
  if (counts_.mirrored > 0) --counts_.mirrored;
  return {};
}

}  // namespace portolan
