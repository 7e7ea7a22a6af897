#include "sim/world/world.h"

#include <fmt/core.h>

#include <cstring>

#include "base/check.h"
#include "sim/world/link_plan.h"
#include "sim/world/maze.h"
#include "sim/world/responder.h"
#include "sim/world/web.h"

namespace portolan::sim {

void Web::AppendUrl(std::string& out, const Place& place) const {
  if (place.host.domain >= atlas.domains()) {
    atlas.AppendSpamOrigin(out, place.host);
    if (place.place_class == PlaceClass::kRobots) return Paths::AppendRobots(out, place.number);
    return Paths::AppendSpam(out, place.host, place.number);
  }
  const uint32_t hid = atlas.Hid(place.host);
  const HostFacts& facts = atlas.facts(hid);
  out += atlas.Origin(hid);
  switch (place.place_class) {
    case PlaceClass::kPage:
      return paths.AppendPage(out, facts.content, place.number);
    case PlaceClass::kRobots:
      return Paths::AppendRobots(out, place.number);
    case PlaceClass::kSitemap:
      return Paths::AppendSitemap(out, facts.sitemap_gz, place.number);
    case PlaceClass::kNothing:
      out += "/nothing-here";
      return;
    default:
      return paths.AppendTrap(out, facts.content, place.place_class, place.number);
  }
}

struct World::Impl {
  Impl(const WorldParams& params, uint64_t seed) : web(params, seed), responder(web) {}
  const Web web;
  const Responder responder;
};

World::World(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
World::~World() = default;

Result<std::unique_ptr<World>> World::Create(const WorldParams& params, uint64_t seed) {
  const auto refuse = [](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("a world needs {}", what));
  };
  if (params.domains < 1 || params.domains > 100'000'000) return refuse("1 to 100,000,000 domains");
  if (params.spam_domains > 100'000'000) return refuse("at most 100,000,000 spam domains");
  if (params.max_hosts < 1 || params.max_hosts > 1'000'000) return refuse("max_hosts between 1 and 1,000,000");
  if (params.hosts_alpha < 1.01) return refuse("hosts_alpha above 1");
  if (params.pages < 1) return refuse("at least one page");
  if (params.giants > params.domains) return refuse("no more giants than domains");
  if (params.giants > 0 && params.giant_pages < 1) return refuse("giant_pages");
  if (params.spam_addresses > 65'536) return refuse("at most 65,536 addresses of a spam domain");
  const uint64_t addresses = params.addresses + params.spam_domains * params.spam_addresses;
  if (params.address_first >> 24 != 127 || (params.address_first + addresses) >> 24 != 127) {
    return refuse("addresses within 127.0.0.0/8");
  }
  return std::unique_ptr<World>(new World(std::make_unique<Impl>(params, seed)));
}

const Web& World::web() const { return impl_->web; }
const WorldParams& World::params() const { return impl_->web.params; }
uint64_t World::seed() const { return impl_->web.seed; }
uint32_t World::Domains() const { return impl_->web.atlas.domains(); }
uint32_t World::AllDomains() const { return impl_->web.atlas.all_domains(); }
bool World::IsSpam(uint32_t domain) const { return domain >= Domains(); }

uint32_t World::Hosts(uint32_t domain) const {
  const Atlas& atlas = impl_->web.atlas;
  CHECK(domain < atlas.all_domains());
  if (domain >= atlas.domains()) return atlas.IsWildcard(domain) ? 0 : 1;
  return atlas.Hosts(domain);
}

uint64_t World::Pages(HostId host) const {
  const Atlas& atlas = impl_->web.atlas;
  return host.domain >= atlas.domains() ? 0 : atlas.Pages(atlas.Hid(host));
}

uint64_t World::TotalPages() const { return impl_->web.atlas.total_pages(); }

uint64_t World::DenseNumber(HostId host, uint64_t page) const {
  const Atlas& atlas = impl_->web.atlas;
  return atlas.FirstPage(atlas.Hid(host)) + page;
}

Place World::FromDense(uint64_t number) const {
  const Atlas& atlas = impl_->web.atlas;
  CHECK(number < atlas.total_pages());
  const uint32_t hid = atlas.HidOfPage(number);
  return {atlas.IdOf(hid), PlaceClass::kPage, number - atlas.FirstPage(hid)};
}

std::optional<HostId> World::MirrorOf(HostId host) const {
  const Atlas& atlas = impl_->web.atlas;
  if (host.domain >= atlas.domains()) return std::nullopt;
  const uint32_t hid = atlas.Hid(host);
  const uint32_t content = atlas.facts(hid).content;
  if (content == hid) return std::nullopt;
  return atlas.IdOf(content);
}

std::string World::HostName(HostId host) const {
  const Atlas& atlas = impl_->web.atlas;
  return host.domain >= atlas.domains() ? atlas.SpamHostName(host) : std::string(atlas.Name(atlas.Hid(host)));
}

std::optional<HostId> World::FindHost(std::string_view name) const { return impl_->web.atlas.Find(name); }

bool World::HostIsTls(HostId host) const {
  const Atlas& atlas = impl_->web.atlas;
  return host.domain < atlas.domains() && atlas.facts(atlas.Hid(host)).tls;
}

std::string World::Origin(HostId host) const {
  const Atlas& atlas = impl_->web.atlas;
  if (host.domain < atlas.domains()) return std::string(atlas.Origin(atlas.Hid(host)));
  std::string origin;
  atlas.AppendSpamOrigin(origin, host);
  return origin;
}

std::string World::UrlOf(const Place& place) const {
  std::string url;
  impl_->web.AppendUrl(url, place);
  return url;
}

Place World::Find(std::string_view host_name, std::string_view path_and_query) const {
  const auto host = FindHost(host_name);
  return host ? impl_->web.paths.Find(*host, path_and_query) : Place{};
}

Place World::FindUrl(std::string_view url) const {
  const size_t begin = url.find("://");
  if (begin == std::string_view::npos) return {};
  const size_t path = url.find('/', begin + 3);
  if (path == std::string_view::npos) return {};
  const std::string_view origin = url.substr(0, path);
  const std::string_view name = origin.substr(begin + 3);
  const auto host = FindHost(name.substr(0, name.find(':')));
  if (!host || Origin(*host) != origin) {
    // Another name of a wildcard farm than the one that we write.
    if (!host || !IsSpam(host->domain) || !origin.starts_with("http:")) return {};
  }
  return impl_->web.paths.Find(*host, url.substr(path));
}

std::vector<std::string> World::Seeds(uint64_t count) const {
  std::vector<std::string> urls;
  for (uint32_t domain = 0; domain < Domains() && urls.size() < count; ++domain) {
    const HostId host{domain, 0};
    if (DnsWorks(host) && TlsWorks(host)) urls.push_back(UrlOf({host, PlaceClass::kPage, 0}));
  }
  return urls;
}

PageKind World::KindOf(const Place& place) const {
  const Atlas& atlas = impl_->web.atlas;
  if (place.host.domain >= atlas.domains()) {
    return place.place_class == PlaceClass::kSpam ? PageKind::kNormal : PageKind::kNotFound;
  }
  const HostFacts& facts = atlas.facts(atlas.Hid(place.host));
  if (place.place_class == PlaceClass::kNothing) return facts.soft404 ? PageKind::kSoft404 : PageKind::kNotFound;
  if (place.place_class == PlaceClass::kMaze) {
    const MazeKind maze = MazeKindOf(place.number);
    if (maze == MazeKind::kRedirect) return PageKind::kRedirect;
    return maze == MazeKind::kSoft404 ? PageKind::kSoft404 : PageKind::kNormal;
  }
  if (place.place_class != PlaceClass::kPage) return PageKind::kNormal;
  return impl_->web.fate.Kind(facts.content, place.number);
}

WireFault World::FaultOf(const Place& place) const {
  const Atlas& atlas = impl_->web.atlas;
  if (place.place_class == PlaceClass::kRobots && place.host.domain < atlas.domains()) {
    const bool silent = atlas.facts(atlas.Hid(place.host)).robots == RobotsKind::kNoAnswer;
    return silent ? WireFault::kEmptyReply : WireFault::kNone;
  }
  if (place.place_class != PlaceClass::kPage) return WireFault::kNone;
  return impl_->web.fate.Fault(atlas.facts(atlas.Hid(place.host)).content, place.number);
}

bool World::IsBomb(const Place& place) const {
  const Atlas& atlas = impl_->web.atlas;
  if (place.place_class != PlaceClass::kPage) return false;
  return impl_->web.fate.IsBomb(atlas.facts(atlas.Hid(place.host)).content, place.number);
}

Place World::RedirectTarget(const Place& place) const {
  const Web& web = impl_->web;
  if (place.place_class == PlaceClass::kMaze) return {place.host, PlaceClass::kMaze, NextMazeRedirect(place.number)};
  CHECK(place.place_class == PlaceClass::kPage);
  const Fate::Target target = web.fate.Redirect(web.atlas.facts(web.atlas.Hid(place.host)).content, place.number);
  return {target.same_host ? place.host : web.atlas.IdOf(target.hid), PlaceClass::kPage, target.page};
}

void World::Links(const Place& place, int64_t unix_ns, const std::function<void(const OutLink&)>& each) const {
  const Web& web = impl_->web;
  std::string odd_url;
  char page_url[256 + Paths::kMaxPagePath];  // names of hosts are below 64 bytes
  bool all_nofollow = false;
  const auto sink = [&](const PlannedLink& link) {
    std::string_view url;
    if (link.target.place_class == PlaceClass::kPage) {
      const std::string_view origin = web.atlas.Origin(link.hid);
      DCHECK(origin.size() < 256);
      std::memcpy(page_url, origin.data(), origin.size());
      const char* const end =
          web.paths.WritePage(page_url + origin.size(), web.atlas.facts(link.hid).content, link.target.number);
      url = std::string_view(page_url, static_cast<size_t>(end - page_url));
    } else {
      odd_url.clear();
      web.AppendUrl(odd_url, link.target);
      url = odd_url;
    }
    each({link.target, url, link.nofollow || all_nofollow});
  };
  switch (place.place_class) {
    case PlaceClass::kPage: {
      const uint32_t hid = web.atlas.Hid(place.host);
      const uint32_t content = web.atlas.facts(hid).content;
      if (!web.fate.ShowsBody(content, place.number) || web.life.AnswersUnasked(content, place.number)) return;
      if (web.StateOf(content, place.number, unix_ns) != PageState::kAlive) return;
      const PageKind kind = web.fate.Kind(content, place.number);
      all_nofollow = kind == PageKind::kPageNofollow;
      const uint64_t shown = web.Shown(content, place.number, kind);
      PlanPage(web, hid, content, shown, web.fate.Change(content, shown, unix_ns).version, unix_ns, sink);
      return;
    }
    case PlaceClass::kCalendar:
    case PlaceClass::kSession:
    case PlaceClass::kLoop:
    case PlaceClass::kQuery:
    case PlaceClass::kMaze:
      return PlanTrap(web, web.atlas.Hid(place.host), place.place_class, place.number, sink);
    case PlaceClass::kSpam:
      return PlanSpam(web, place.host, place.number, sink);
    default:
      return;
  }
}

bool World::Allowed(const Place& place, std::string_view agent, int64_t unix_ns) const {
  return impl_->web.robots.Allowed(place, agent, unix_ns);
}

double World::CrawlDelay(HostId host, std::string_view agent, int64_t /*unix_ns*/) const {
  const Web& web = impl_->web;
  return host.domain < web.atlas.domains() ? web.robots.CrawlDelay(web.atlas.Hid(host), agent) : 0;
}

bool World::RobotsReachable(HostId host, int64_t /*unix_ns*/) const {
  const Web& web = impl_->web;
  return host.domain >= web.atlas.domains() || web.robots.Reachable(web.atlas.Hid(host));
}

bool World::DnsWorks(HostId host) const {
  const Web& web = impl_->web;
  return host.domain >= web.atlas.domains() || web.DnsWorks(web.atlas.Hid(host));
}

bool World::TlsWorks(HostId host) const {
  const Atlas& atlas = impl_->web.atlas;
  return host.domain >= atlas.domains() || atlas.facts(atlas.Hid(host)).certificate == Certificate::kGood;
}

uint64_t World::Version(const Place& place, int64_t unix_ns) const {
  const Web& web = impl_->web;
  if (place.place_class != PlaceClass::kPage) return 0;
  const uint32_t content = web.atlas.facts(web.atlas.Hid(place.host)).content;
  const uint64_t shown = web.Shown(content, place.number, web.fate.Kind(content, place.number));
  return web.Contents(content, shown, unix_ns).version;
}

uint64_t World::BytesVersion(const Place& place, int64_t unix_ns) const {
  const Web& web = impl_->web;
  if (place.place_class != PlaceClass::kPage) return 0;
  const uint32_t content = web.atlas.facts(web.atlas.Hid(place.host)).content;
  const uint64_t shown = web.Shown(content, place.number, web.fate.Kind(content, place.number));
  const uint64_t around = web.life.Boilerplate(content, shown, unix_ns).version;
  const uint64_t version = web.Contents(content, shown, unix_ns).version;
  return around == 0 ? version : Mix64(Mix64(version + 1) + around);
}

bool World::AnswersUnasked(const Place& place) const {
  const Web& web = impl_->web;
  if (place.place_class != PlaceClass::kPage || place.host.domain >= web.atlas.domains()) return false;
  return web.life.AnswersUnasked(web.atlas.facts(web.atlas.Hid(place.host)).content, place.number);
}

bool World::SaysAnew(const Place& place) const {
  const Web& web = impl_->web;
  if (place.host.domain >= web.atlas.domains()) return false;
  const ValidatorHabit habit = web.life.Validators(web.atlas.Hid(place.host));
  return habit == ValidatorHabit::kEtagRandom || habit == ValidatorHabit::kNow || habit == ValidatorHabit::kFuture;
}

PageState World::StateOf(const Place& place, int64_t unix_ns) const {
  const Web& web = impl_->web;
  if (place.place_class != PlaceClass::kPage || place.host.domain >= web.atlas.domains()) return PageState::kAlive;
  return web.StateOf(web.atlas.facts(web.atlas.Hid(place.host)).content, place.number, unix_ns);
}

int64_t World::BirthNs(const Place& place) const {
  const Web& web = impl_->web;
  if (place.place_class != PlaceClass::kPage) return static_cast<int64_t>(web.params.epoch_s) * 1'000'000'000;
  return web.life.BirthNs(web.atlas.facts(web.atlas.Hid(place.host)).content, place.number);
}

int64_t World::DeathNs(const Place& place) const {
  const Web& web = impl_->web;
  if (place.place_class != PlaceClass::kPage) return Life::kNever;
  return web.DeathNs(web.atlas.facts(web.atlas.Hid(place.host)).content, place.number);
}

double World::MeanChangeNs(const Place& place) const {
  const Web& web = impl_->web;
  if (place.place_class != PlaceClass::kPage) return 0;
  const uint32_t content = web.atlas.facts(web.atlas.Hid(place.host)).content;
  return web.fate.ChangeNs(content, web.Shown(content, place.number, web.fate.Kind(content, place.number)));
}

double World::Importance(const Place& place) const {
  if (place.place_class != PlaceClass::kPage) return 0;
  return Pow(1.0 + place.host.domain, -0.5) * Pow(1.0 + place.host.host, -0.25) *
         Pow(1.0 + static_cast<double>(place.number), -0.5);
}

int64_t World::LastChange(const Place& place, int64_t unix_ns) const {
  const Web& web = impl_->web;
  if (place.place_class != PlaceClass::kPage) return static_cast<int64_t>(web.params.epoch_s) * 1'000'000'000;
  const uint32_t content = web.atlas.facts(web.atlas.Hid(place.host)).content;
  const uint64_t shown = web.Shown(content, place.number, web.fate.Kind(content, place.number));
  return web.Contents(content, shown, unix_ns).unix_ns;
}

Answer World::Respond(const Request& request) const { return impl_->responder.Respond(request); }
DnsAnswer World::Resolve(std::string_view host_name) const { return impl_->responder.Resolve(host_name); }

Certificate World::CertificateOf(std::string_view host_name) const {
  const Atlas& atlas = impl_->web.atlas;
  const auto host = atlas.Find(host_name);
  if (!host || host->domain >= atlas.domains()) return Certificate::kGood;
  return atlas.facts(atlas.Hid(*host)).certificate;
}

std::string_view PlaceClassName(PlaceClass place_class) {
  constexpr std::string_view kNames[] = {"nothing", "page", "robots", "sitemap", "calendar",
                                         "session", "loop", "query",  "spam",    "maze"};
  return kNames[static_cast<size_t>(place_class)];
}

std::string_view PageKindName(PageKind kind) {
  constexpr std::string_view kNames[] = {"normal",         "redirect",     "redirect-loop", "not-found",    "gone",
                                         "forbidden",      "server-error", "flaky",         "soft-404",     "duplicate",
                                         "near-duplicate", "fault",        "noindex",       "page-nofollow"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view WireFaultName(WireFault fault) {
  constexpr std::string_view kNames[] = {
      "none",    "reset",       "reset-in-body", "close-early",  "empty-reply", "slow-first-byte", "tarpit",
      "endless", "long-length", "short-length",  "header-flood", "garbage",     "http-0.9",        "bad-chunks"};
  return kNames[static_cast<size_t>(fault)];
}

}  // namespace portolan::sim
