#include "sim/virtual/truth_result.h"

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "flow/url_record.h"
#include "flow/visit_facts.h"
#include "http/cache_control.h"
#include "io/clock.h"
#include "robots/fetch_policy.h"
#include "robots/robots_tag.h"
#include "robots/robots_txt.h"
#include "sim/world/maze.h"
#include "sim/world/sitemap_plan.h"
#include "sim/world/web.h"

namespace portolan::sim {
namespace {

std::string_view FieldOf(const Answer& answer, std::string_view name) {
  for (const auto& [field, value] : answer.headers) {
    if (field == name) return value;
  }
  return {};
}

// The world's Location is absolute, or a path.
std::string AbsoluteOf(std::string_view url, std::string_view location) {
  if (!location.starts_with('/')) return std::string(location);
  return std::string(OriginOf(url)) + std::string(location);
}

}  // namespace

PageResult TruthResult::Make(const Exchange& exchange) {
  PageResult result;
  result.id = exchange.task.id;
  result.kind = exchange.task.kind;
  result.outcome = exchange.outcome;
  result.status = exchange.status;
  result.times = {.begin_ns = exchange.begin_ns,
                  .connected_ns = exchange.begin_ns,
                  .first_byte_ns = exchange.first_byte_ns == 0 ? 0 : exchange.begin_ns + exchange.first_byte_ns,
                  .end_ns = exchange.end_ns(),
                  .begin_unix_ns = exchange.begin_unix_ns};
  result.tls = exchange.tls;
  result.body_bytes = exchange.body_bytes;
  if (exchange.task.revisit() || (visits_ && exchange.task.kind != UrlKind::kRobots)) {
    result.visit = std::make_unique<Visit>();
    result.visit->last = exchange.task.last;
  }
  if (exchange.task.kind == UrlKind::kRobots) AddRobots(exchange, result);
  if (!HasAnswer(exchange.outcome)) return result;

  result.version = HttpVersion::k11;
  result.wire_bytes = exchange.body_bytes + 300;  // a head of the usual size
  result.mime = exchange.task.kind == UrlKind::kPage     ? "text/html"
                : exchange.task.kind == UrlKind::kRobots ? "text/plain"
                                                         : "application/xml";
  if (exchange.answer) {
    if (const std::string_view value = FieldOf(*exchange.answer, "Retry-After"); !value.empty()) {
      const int64_t now_s = (exchange.begin_unix_ns + exchange.took_ns) / kSecond;
      if (const auto seconds = ParseRetryAfter(value, now_s)) {
        result.retry_after_ns = static_cast<int64_t>(*seconds) * kSecond;
      }
    }
  }
  if (exchange.task.kind == UrlKind::kRobots) return result;
  if (result.status == 304 && !exchange.task.conditional()) result.outcome = FetchOutcome::kUnaskedNotModified;
  if (exchange.page_kind == PageKind::kNoindex) result.robots_flags |= RobotsTag::kNoIndex;
  if (exchange.page_kind == PageKind::kPageNofollow) result.robots_flags |= RobotsTag::kNoFollow;
  if (exchange.status >= 300 && exchange.status < 400 && exchange.status != 304) {
    AddTarget(exchange, result);
  } else if (exchange.status == 200) {
    result.fingerprint = FingerprintOf(exchange);
    // As good as the digest of the bytes: equal where they are.
    for (size_t i = 0; i < result.payload_sha1.size(); i += sizeof(uint32_t)) {
      StoreLe(&result.payload_sha1[i], static_cast<uint32_t>(Mix64(result.fingerprint + i)));
    }
    result.similarity = SimilarityOf(exchange);
    if (visits_ && exchange.place.place_class == PlaceClass::kSitemap) {
      AddSitemap(exchange, result);
    } else {
      AddLinks(exchange, result);
    }
  }
  if (result.visit != nullptr) AddVisit(exchange, result);
  return result;
}

// What a PageMaker reads from the head of the same answer.
void TruthResult::AddVisit(const Exchange& exchange, PageResult& result) {
  VisitFields fields;
  if (exchange.answer) {
    fields.etag = FieldOf(*exchange.answer, "ETag");
    fields.last_modified = FieldOf(*exchange.answer, "Last-Modified");
    fields.cache_control = FieldOf(*exchange.answer, "Cache-Control");
  }
  if (result.status == 200) result.visit->payload_sha1 = result.payload_sha1;
  AddVisitFacts(fields, exchange.task.conditional(), true, exchange.begin_unix_ns / kSecond, result);
}

void TruthResult::AddSitemap(const Exchange& exchange, PageResult& result) {
  const Web& web = world_.web();
  const Place& place = exchange.place;
  const uint32_t hid = web.atlas.Hid(place.host);
  std::string url;
  const auto add = [&](const Place& target, uint8_t flags) {
    url.clear();
    web.AppendUrl(url, target);
    result.links.Add(url, key_.Hash(url), HostKeyOf(target.host, url), flags);
  };
  if (IsSitemapIndex(web, hid, place.number)) {
    for (uint64_t part = 1; part < web.paths.Sitemaps(hid); ++part) {
      add({place.host, PlaceClass::kSitemap, part}, kFoundSitemap | kFoundSitemapFile);
    }
    return;
  }
  PlanSitemap(web, hid, place.number, exchange.begin_unix_ns, [&](const PlannedEntry& entry) {
    LinkHint hint{.link = static_cast<uint32_t>(result.links.links.size()),
                  .modified_s = static_cast<uint32_t>(std::clamp<int64_t>(entry.lastmod_s, 0, UINT32_MAX))};
    if (entry.frequency) {
      hint.every_s = entry.mean_change_s < 0    ? 1
                     : entry.mean_change_s == 0 ? LinkHint::kNever
                                                : static_cast<uint32_t>(std::min(entry.mean_change_s, 3e9));
    }
    add({place.host, PlaceClass::kPage, entry.page}, kFoundSitemap);
    if (hint.modified_s != 0 || hint.every_s != 0) result.visit->hints.push_back(hint);
  });
}

void TruthResult::AddTarget(const Exchange& exchange, PageResult& result) {
  if (!exchange.answer) return;
  const std::string_view location = FieldOf(*exchange.answer, "Location");
  if (location.empty()) return;
  const std::string url = AbsoluteOf(exchange.task.url, location);
  result.links.Add(url, key_.Hash(url), HostKey(url, key_), kFoundRedirect);
}

void TruthResult::AddLinks(const Exchange& exchange, PageResult& result) {
  ++stamp_;
  shown_count_ = 0;
  const bool page_nofollow = (result.robots_flags & RobotsTag::kNoFollow) != 0;
  const uint8_t page_flags = static_cast<uint8_t>((page_nofollow ? kFoundNofollow : 0) |
                                                  (exchange.task.kind == UrlKind::kSitemap ? kFoundSitemap : 0));
  result.links.text.reserve(4096);
  result.links.links.reserve(64);
  world_.Links(exchange.place, exchange.begin_unix_ns, [&](const OutLink& link) {
    const uint64_t hash = key_.Hash(link.url);
    if (!ShowOnce(hash)) return;
    const uint8_t flags = static_cast<uint8_t>(page_flags | (link.nofollow ? kFoundNofollow : 0));
    result.links.Add(link.url, hash, HostKeyOf(link.target.host, link.url), flags);
  });
}

uint64_t TruthResult::HostKeyOf(HostId host, std::string_view url) {
  KnownHost& known = known_hosts_[Mix64(uint64_t{host.domain} << 32 | host.host) % kKnownHosts];
  if (known.key == 0 || known.host != host) known = {host, HostKey(url, key_)};
  return known.key;
}

bool TruthResult::ShowOnce(uint64_t hash) {
  if (2 * ++shown_count_ > shown_.size()) {
    std::vector<std::pair<uint64_t, uint64_t>> old(2 * shown_.size());
    old.swap(shown_);
    for (const auto& [kept, stamp] : old) {
      if (stamp != stamp_) continue;
      size_t at = kept & (shown_.size() - 1);
      while (shown_[at].second == stamp_) at = (at + 1) & (shown_.size() - 1);
      shown_[at] = {kept, stamp_};
    }
  }
  size_t at = hash & (shown_.size() - 1);
  while (shown_[at].second == stamp_) {
    if (shown_[at].first == hash) {
      --shown_count_;
      return false;
    }
    at = (at + 1) & (shown_.size() - 1);
  }
  shown_[at] = {hash, stamp_};
  return true;
}

void TruthResult::AddRobots(const Exchange& exchange, PageResult& result) {
  RobotsAnswer robots;
  // Cut answers count by what of them arrived, as for a fetcher that reads them; without an answer the status is 0.
  const RobotsVerdict verdict = RobotsForStatus(HasAnswer(exchange.outcome) ? exchange.status : 0, 0);
  switch (verdict) {
    case RobotsVerdict::kUseFile: {
      const RobotsTxt parsed = ParseRobots(exchange.answer->body, {.agent = agent_});
      robots.kind = RobotsAnswer::Kind::kRules;
      robots.rules = parsed.rules;
      robots.crawl_delay_ms = parsed.crawl_delay_ms;
      for (const std::string& sitemap : parsed.sitemaps) {
        const uint8_t flags = visits_ ? kFoundSitemap | kFoundSitemapFile : kFoundSitemap;
        result.links.Add(sitemap, key_.Hash(sitemap), HostKey(sitemap, key_), flags);
      }
      break;
    }
    case RobotsVerdict::kFollow:
      robots.kind = RobotsAnswer::Kind::kFollow;
      robots.follow = AbsoluteOf(exchange.task.url, FieldOf(*exchange.answer, "Location"));
      if (robots.follow.empty()) robots.kind = RobotsAnswer::Kind::kAllowAll;
      break;
    case RobotsVerdict::kAllowAll:
      robots.kind = RobotsAnswer::Kind::kAllowAll;
      break;
    case RobotsVerdict::kDisallowAll:
      robots.kind = RobotsAnswer::Kind::kDisallowAll;
      break;
  }
  result.robots = std::move(robots);
}

uint64_t TruthResult::FingerprintOf(const Exchange& exchange) const {
  Place place = exchange.place;
  if (const auto original = world_.MirrorOf(place.host)) place.host = *original;
  if (exchange.page_kind == PageKind::kSoft404) {
    return Mix64(0x404 + (uint64_t{place.host.domain} << 32 | place.host.host));
  }
  // A duplicate is its source's body, byte for byte; a near duplicate is one of its own.
  if (place.place_class == PlaceClass::kPage && exchange.page_kind == PageKind::kDuplicate) {
    const Web& web = world_.web();
    place.number = web.fate.Source(web.atlas.facts(web.atlas.Hid(place.host)).content, place.number);
  }
  const uint64_t version = world_.BytesVersion(place, exchange.begin_unix_ns);
  uint64_t hash = Mix64(world_.seed() + static_cast<uint64_t>(place.place_class));
  for (const uint64_t part : {uint64_t{place.host.domain} << 32 | place.host.host, place.number, version}) {
    hash = Mix64(hash ^ Mix64(part + 0x9e3779b97f4a7c15));
  }
  return hash == 0 ? 1 : hash;
}

uint64_t TruthResult::SimilarityOf(const Exchange& exchange) const {
  constexpr uint64_t kText = 0x73696d696c6172;
  const Web& web = world_.web();
  Place place = exchange.place;
  if (const auto original = world_.MirrorOf(place.host)) place.host = *original;
  const uint64_t host = Mix64(world_.seed() ^ kText) + (uint64_t{place.host.domain} << 32 | place.host.host);
  const auto nearly = [](uint64_t bits, uint64_t twist) {
    bits ^= uint64_t{1} << (twist & 63);
    return (twist & 0x1c0) == 0 ? bits ^ uint64_t { 1 } << (twist >> 9 & 63) : bits;  // one in eight: two
  };
  const auto page = [&](uint64_t number) {
    const uint32_t content = web.atlas.facts(web.atlas.Hid(place.host)).content;
    const PageKind kind = web.fate.Kind(content, number);
    if (kind == PageKind::kSoft404) return Mix64(kText);  // one text for all hosts
    const uint64_t shown = web.Shown(content, number, kind);
    // A link to a new page, or another advertisement, does not change the text.
    const uint64_t version = web.fate.Change(content, shown, exchange.begin_unix_ns).version;
    const uint64_t text = Mix64(Mix64(host + Mix64(shown)) + version);
    return kind == PageKind::kNearDuplicate ? nearly(text, Mix64(number)) : text;
  };
  uint64_t bits = 0;
  if (place.place_class == PlaceClass::kMaze) {
    const MazeLook look = LookOfMaze(web, web.atlas.facts(web.atlas.Hid(place.host)).content, place.number);
    if (look.page) {
      bits = page(look.number);
    } else {
      bits = look.twist == 0 ? Mix64(look.text) : nearly(Mix64(look.text), look.twist);
    }
  } else if (exchange.page_kind == PageKind::kSoft404) {
    bits = Mix64(kText);
  } else if (place.place_class == PlaceClass::kSpam) {
    bits = Mix64(Mix64(kText + place.host.domain) + (world_.params().spam_alone != 0 ? 0 : Mix64(place.host.host)) +
                 place.number);
  } else if (place.place_class == PlaceClass::kSession) {
    bits = Mix64(host ^ (place.number % kSessionItems));
  } else if (place.place_class == PlaceClass::kPage) {
    bits = page(place.number);
  } else {
    bits = Mix64(host ^ Mix64(place.number + static_cast<uint64_t>(place.place_class)));
  }
  return bits == 0 ? 1 : bits;
}

}  // namespace portolan::sim
