#include "sim/world/responder.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

#include "sim/world/coding.h"
#include "sim/world/maze.h"
#include "sim/world/page_html.h"
#include "sim/world/sitemap_plan.h"
#include "sim/world/words.h"

namespace portolan::sim {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

std::string_view PathOnly(std::string_view path_and_query) {
  return path_and_query.substr(0, path_and_query.find('?'));
}

void AppendLastmod(int64_t unix_s, bool has_time, std::string& out) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(unix_s / 86400))};
  auto to = std::back_inserter(out);
  fmt::format_to(to, "<lastmod>{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                 static_cast<unsigned>(date.day()));
  const int64_t s = unix_s % 86400;
  if (has_time) fmt::format_to(to, "T{:02}:{:02}:{:02}Z", s / 3600, s / 60 % 60, s % 60);
  out += "</lastmod>";
}

std::string_view FrequencyOf(double mean_s) {
  constexpr double kDay = 86400;
  return mean_s < 0            ? "always"
         : mean_s == 0         ? "never"
         : mean_s < kDay / 4   ? "hourly"
         : mean_s < 3 * kDay   ? "daily"
         : mean_s < 15 * kDay  ? "weekly"
         : mean_s < 120 * kDay ? "monthly"
                               : "yearly";
}

}  // namespace

std::string Responder::ContentType(uint32_t hid) const {
  const HostFacts& facts = web_.atlas.facts(hid);
  if (!facts.charset_in_header) return "text/html";
  return fmt::format("text/html; charset={}", Languages()[facts.language].charsets[facts.charset]);
}

void Responder::Notice(int status, std::string_view words, Answer& answer) const {
  answer.status = status;
  answer.headers.emplace_back("Content-Type", "text/html; charset=utf-8");
  RenderNotice(words, answer.body);
}

Answer Responder::Respond(const Request& request) const {
  Answer answer;
  const Atlas& atlas = web_.atlas;
  const auto host = atlas.Find(request.host);
  if (!host) {
    Notice(404, "No such site", answer);
    return answer;
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Notice(405, "Method not allowed", answer);
    answer.headers.emplace_back("Allow", "GET, HEAD");
    return answer;
  }
  const Place place = web_.paths.Find(*host, request.path_and_query);
  const uint64_t net = Draw(web_.seed, Salt::kPageWire, Mix64((uint64_t{host->domain} << 32) + host->host),
                            Hash64(request.path_and_query));
  const double latency_ns = Lognormal(net, web_.params.latency_ms * 1e6, 0.7);
  answer.latency_ns = static_cast<int64_t>(latency_ns);
  if (host->domain >= atlas.domains()) {
    if (place.place_class != PlaceClass::kSpam) {
      Notice(404, "Not found", answer);
      return answer;
    }
    answer.headers.emplace_back("Content-Type", "text/html; charset=utf-8");
    RenderSpam(web_, *host, place.number, answer.body);
    return answer;
  }
  const uint32_t hid = atlas.Hid(*host);
  const HostFacts& facts = atlas.facts(hid);
  if (facts.tls != request.tls) {
    answer.status = 301;
    answer.headers.emplace_back("Location", std::string(atlas.Origin(hid)) + std::string(request.path_and_query));
    return answer;
  }
  // How a healthy answer is framed.
  if (facts.http10) {
    answer.http10 = true;
    answer.keep_alive = false;
    answer.framing = (net & 1) != 0 ? Framing::kLength : Framing::kClose;
  } else if (Unit(Mix64(net)) < web_.params.chunked) {
    answer.framing = Framing::kChunked;
  } else if (Unit(Mix64(net + 1)) < web_.params.cut_keep_alive) {
    answer.cut_keep_alive = true;
  }
  switch (place.place_class) {
    case PlaceClass::kNothing:
      if (facts.soft404) {
        Notice(200, "This page was not found", answer);
      } else {
        Notice(404, "Not found", answer);
      }
      break;
    case PlaceClass::kPage:
      Page(request, hid, place.number, answer);
      break;
    case PlaceClass::kRobots:
      Robots(request, hid, place.number, answer);
      break;
    case PlaceClass::kSitemap:
      Sitemap(request, hid, place.number, answer);
      break;
    case PlaceClass::kCalendar:
    case PlaceClass::kSession:
    case PlaceClass::kLoop:
    case PlaceClass::kQuery:
      answer.headers.emplace_back("Content-Type", ContentType(hid));
      RenderTrap(web_, hid, place.place_class, place.number, answer.body);
      break;
    case PlaceClass::kMaze:
      if (MazeKindOf(place.number) == MazeKind::kRedirect) {
        answer.status = 302;
        std::string location(atlas.Origin(hid));
        web_.paths.AppendMaze(location, facts.content, NextMazeRedirect(place.number));
        answer.headers.emplace_back("Location", location);
        answer.headers.emplace_back("Content-Type", "text/html");
        RenderNotice("Moved", answer.body);
        break;
      }
      answer.headers.emplace_back("Content-Type", ContentType(hid));
      RenderMaze(web_, hid, place.number, answer.body);
      break;
    case PlaceClass::kSpam:
      break;
  }
  return answer;
}

bool Responder::Validate(const Request& request, uint32_t hid, uint64_t page, const PageLook& look,
                         Answer& answer) const {
  const HostFacts& facts = web_.atlas.facts(hid);
  const bool conditional = !request.if_none_match.empty() || !request.if_modified_since.empty();
  if (web_.life.SaysMaxAge(hid)) {
    const double half_s = web_.fate.ChangeNs(facts.content, look.page) / 2e9;
    answer.headers.emplace_back("Cache-Control", fmt::format("max-age={}", static_cast<uint64_t>(half_s)));
  }
  if (!facts.validators) return false;
  const LastChangeOf contents = web_.Contents(facts.content, look.page, request.unix_ns);
  const LastChangeOf around = web_.life.Boilerplate(facts.content, look.page, request.unix_ns);
  uint64_t identity = Draw(web_.seed, Salt::kPageText, facts.content, Mix64(page) + contents.version);
  if (around.version != 0) identity = Mix64(identity + around.version);
  int64_t modified_s = std::max(contents.unix_ns, around.unix_ns) / kSecond;
  const int64_t now_s = request.unix_ns / kSecond;
  bool has_tag = true;
  switch (web_.life.Validators(hid)) {
    case ValidatorHabit::kTrue:
    case ValidatorHabit::kStuck:
      break;
    case ValidatorHabit::kEtagRandom:
      identity = Mix64(identity ^ Mix64(static_cast<uint64_t>(request.unix_ns)));
      break;
    case ValidatorHabit::kNow:
      modified_s = now_s;
      has_tag = false;
      break;
    case ValidatorHabit::kFuture:
      modified_s = now_s + 30 * 86400;
      has_tag = false;
      break;
  }
  const std::string tag = fmt::format("\"{:016x}\"", identity);
  if (has_tag) answer.headers.emplace_back("ETag", tag);
  answer.headers.emplace_back("Last-Modified", HttpDate(modified_s));
  bool same = false;
  if (web_.life.Validators(hid) == ValidatorHabit::kStuck) {
    same = conditional;
  } else if (has_tag && !request.if_none_match.empty()) {
    same = request.if_none_match == "*" || request.if_none_match.find(tag) != std::string_view::npos;
  } else if (!request.if_modified_since.empty()) {
    same = ParseHttpDate(request.if_modified_since) >= modified_s;
  }
  if (same) answer.status = 304;
  return same;
}

void Responder::Redirect(uint32_t hid, uint64_t page, Answer& answer) const {
  constexpr int kStatuses[] = {301, 302, 307, 308};
  const HostFacts& facts = web_.atlas.facts(hid);
  const uint64_t draw = Draw(web_.seed, Salt::kPageRedirect, facts.content, page);
  answer.status = kStatuses[draw % 4];
  const Fate::Target target = web_.fate.Redirect(facts.content, page);
  const uint32_t to = target.same_host ? hid : target.hid;
  std::string location;
  // A part of those on one host is written without it (RFC 9110 allows that).
  if (!target.same_host || (draw >> 8) % 4 != 0) location = web_.atlas.Origin(to);
  web_.paths.AppendPage(location, web_.atlas.facts(to).content, target.page);
  answer.headers.emplace_back("Location", location);
  answer.headers.emplace_back("Content-Type", "text/html");
  RenderNotice("Moved", answer.body);
}

void Responder::Fault(uint32_t hid, uint64_t page, Answer& answer) const {
  const uint32_t content = web_.atlas.facts(hid).content;
  const uint64_t draw = Draw(web_.seed, Salt::kPageFault, content, page);
  const WireFault fault = web_.fate.Fault(content, page);
  answer.fault = fault;
  switch (fault) {
    case WireFault::kNone: {  // a bomb
      std::call_once(bomb_made_, [&] { bomb_ = GzipBomb(web_.params.bomb_bytes); });
      answer.headers.emplace_back("Content-Encoding", "gzip");
      answer.body = bomb_;
      break;
    }
    case WireFault::kResetInBody:
    case WireFault::kCloseEarly:
      answer.framing = Framing::kLength;
      answer.fault_at = Below(draw, answer.body.size());
      break;
    case WireFault::kLongLength:
      answer.framing = Framing::kLength;
      answer.fault_at = answer.body.size() + 1 + draw % 5000;
      break;
    case WireFault::kShortLength:
      answer.framing = Framing::kLength;
      answer.fault_at = answer.body.size() / 2;
      break;
    case WireFault::kSlowFirstByte:
      answer.delay_ns = static_cast<int64_t>(Unit(draw) * web_.params.slow_first_byte_s * 1e9);
      break;
    case WireFault::kTarpit:
      answer.delay_ns = static_cast<int64_t>(web_.params.tarpit_s * 1e9);
      break;
    case WireFault::kEndless:
      answer.framing = (draw & 1) != 0 && !answer.http10 ? Framing::kChunked : Framing::kClose;
      break;
    case WireFault::kHeaderFlood:
      answer.fault_at = web_.params.header_flood_bytes;
      break;
    case WireFault::kBadChunks:
      answer.framing = Framing::kChunked;
      answer.http10 = false;
      break;
    case WireFault::kReset:
    case WireFault::kEmptyReply:
    case WireFault::kGarbage:
    case WireFault::kHttp09:
      break;
  }
}

void Responder::Encode(const Request& request, uint32_t hid, Answer& answer) const {
  const ContentCoding coding = Negotiate(web_.atlas.facts(hid).coding, request.accept_encoding);
  if (coding == ContentCoding::kIdentity) return;
  answer.headers.emplace_back("Content-Encoding", CodingName(coding));
  answer.headers.emplace_back("Vary", "Accept-Encoding");
  answer.body = Compress(coding, answer.body);
}

void Responder::Page(const Request& request, uint32_t hid, uint64_t page, Answer& answer) const {
  const HostFacts& facts = web_.atlas.facts(hid);
  const PageKind kind = web_.fate.Kind(facts.content, page);
  const uint64_t draw = Draw(web_.seed, Salt::kPageWire, facts.content, page);
  if (const PageState state = web_.StateOf(facts.content, page, request.unix_ns); state != PageState::kAlive) {
    const bool gone = state == PageState::kDead && web_.life.SaysGone(facts.content, page);
    return Notice(gone ? 410 : 404, gone ? "Gone" : "Not found", answer);
  }
  if (web_.life.AnswersUnasked(facts.content, page) && request.if_none_match.empty() &&
      request.if_modified_since.empty()) {
    answer.status = 304;
    return;
  }
  switch (kind) {
    case PageKind::kRedirect:
    case PageKind::kRedirectLoop:
      return Redirect(hid, page, answer);
    case PageKind::kNotFound:
      return Notice(404, "Not found", answer);
    case PageKind::kGone:
      return Notice(410, "Gone", answer);
    case PageKind::kForbidden:
      return Notice(403, "Forbidden", answer);
    case PageKind::kServerError:
      return Notice((draw & 1) != 0 ? 500 : 502, "Something went wrong", answer);
    case PageKind::kSoft404:
      return Notice(200, "This page was not found", answer);
    case PageKind::kFlaky:
      if (request.earlier < 1 + draw % 2) {
        Notice((draw & 4) != 0 ? 503 : 429, "Please come back later", answer);
        const int64_t wait_s = 1 + static_cast<int64_t>((draw >> 8) % 3);
        const bool as_date = (draw & 8) != 0;
        answer.headers.emplace_back("Retry-After",
                                    as_date ? HttpDate(request.unix_ns / kSecond + wait_s) : std::to_string(wait_s));
        return;
      }
      break;
    default:
      break;
  }
  PageLook look;
  look.served = hid;
  look.content = facts.content;
  look.page = web_.Shown(facts.content, page, kind);
  if (kind == PageKind::kNearDuplicate) look.twist = page;
  look.version = web_.fate.Change(facts.content, look.page, request.unix_ns).version;
  look.boilerplate = web_.life.Boilerplate(facts.content, look.page, request.unix_ns).version;
  look.unix_ns = request.unix_ns;
  const bool in_header = (draw & 16) != 0;
  if (kind == PageKind::kNoindex || kind == PageKind::kPageNofollow) {
    const bool noindex = kind == PageKind::kNoindex;
    (noindex ? look.noindex : look.nofollow) = !in_header;
    if (in_header) answer.headers.emplace_back("X-Robots-Tag", noindex ? "noindex" : "nofollow");
  }
  if (kind != PageKind::kFault && Validate(request, hid, page, look, answer)) return;
  answer.headers.emplace_back("Content-Type", ContentType(hid));
  if (request.head_alone) return;
  RenderPage(web_, look, answer.body);
  if (kind == PageKind::kFault) return Fault(hid, page, answer);
  Encode(request, hid, answer);
}

void Responder::Robots(const Request& request, uint32_t hid, uint64_t hop, Answer& answer) const {
  const HostFacts& facts = web_.atlas.facts(hid);
  switch (facts.robots) {
    case RobotsKind::kMissing:
      return Notice(404, "Not found", answer);
    case RobotsKind::kError:
      return Notice(503, "Service unavailable", answer);
    case RobotsKind::kNoAnswer:
      answer.fault = WireFault::kEmptyReply;
      return;
    default:
      break;
  }
  if (hop < web_.paths.RobotsHops(hid)) {
    answer.status = 301;
    std::string location(web_.atlas.Origin(hid));
    Paths::AppendRobots(location, hop + 1);
    answer.headers.emplace_back("Location", location);
    return;
  }
  answer.headers.emplace_back("Content-Type", "text/plain");
  answer.body = web_.robots.File(hid, request.unix_ns);
}

void Responder::Sitemap(const Request& request, uint32_t hid, uint64_t part, Answer& answer) const {
  const HostFacts& facts = web_.atlas.facts(hid);
  const std::string_view origin = web_.atlas.Origin(hid);
  const uint64_t files = web_.paths.Sitemaps(hid);
  std::string& out = answer.body;
  out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  if (IsSitemapIndex(web_, hid, part)) {
    out += "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
    for (uint64_t i = 1; i < files; ++i) {
      out += "<sitemap><loc>";
      out += origin;
      Paths::AppendSitemap(out, facts.sitemap_gz, i);
      out += "</loc></sitemap>\n";
    }
    out += "</sitemapindex>\n";
  } else {
    out += "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n";
    std::string path;
    PlanSitemap(web_, hid, part, request.unix_ns, [&](const PlannedEntry& entry) {
      path.clear();
      web_.paths.AppendPage(path, facts.content, entry.page);
      out += "<url><loc>";
      out += origin;
      for (const char c : path) {
        if (c == '&') {
          out += "&amp;";
        } else {
          out += c;
        }
      }
      out += "</loc>";
      if (entry.lastmod_s != 0) AppendLastmod(entry.lastmod_s, entry.lastmod_time, out);
      if (entry.frequency) {
        fmt::format_to(std::back_inserter(out), "<changefreq>{}</changefreq>", FrequencyOf(entry.mean_change_s));
      }
      out += "</url>\n";
    });
    out += "</urlset>\n";
  }
  if (PathOnly(request.path_and_query).ends_with(".gz")) {
    answer.headers.emplace_back("Content-Type", "application/gzip");
    out = Compress(ContentCoding::kGzip, out);
  } else {
    answer.headers.emplace_back("Content-Type", "application/xml");
  }
}

DnsAnswer Responder::Resolve(std::string_view host_name) const {
  const Atlas& atlas = web_.atlas;
  const WorldParams& params = web_.params;
  DnsAnswer answer;
  const auto host = atlas.Find(host_name);
  if (!host) {
    answer.fault = DnsFault::kNotFound;
    return answer;
  }
  const auto first = static_cast<uint32_t>(params.address_first);
  const uint64_t count = std::max<uint64_t>(1, params.addresses);
  const uint64_t shared = std::clamp<uint64_t>(params.shared_addresses, 1, count);
  uint64_t row = Draw(web_.seed, Salt::kDomainAddress, host->domain);
  // Farms live together on one address each ten domains, or each has a network of its own behind all others; big
  // hosting companies hold the first few.
  uint64_t index = 0;
  if (host->domain >= atlas.domains()) {
    index = params.spam_addresses > 0
                ? count + (host->domain - atlas.domains()) * params.spam_addresses + host->host % params.spam_addresses
                : Below(Draw(web_.seed, Salt::kDomainAddress, ~uint64_t{0}, host->domain / 10), count);
    answer.v4.push_back(first + static_cast<uint32_t>(index));
    return answer;
  }
  if (Unit(NextDraw(row)) < params.shared_address) {
    const double unit = Unit(NextDraw(row));
    index = static_cast<uint64_t>(static_cast<double>(shared) * unit * unit);
  } else {
    index = Below(NextDraw(row), count);
    // A quarter of the hosts of a domain stands elsewhere.
    const uint64_t own = Draw(web_.seed, Salt::kHostNet, host->domain, host->host);
    if (host->host > 0 && own % 4 == 0) index = Below(own, count);
  }
  const HostFacts& facts = atlas.facts(atlas.Hid(*host));
  uint64_t net = Draw(web_.seed, Salt::kHostNet, atlas.Hid(*host));
  switch (facts.dns) {
    case HostDns::kNotFound:
      answer.fault = DnsFault::kNotFound;
      return answer;
    case HostDns::kServFail:
      answer.fault = DnsFault::kServFail;
      return answer;
    case HostDns::kSilent:
      answer.fault = DnsFault::kSilent;
      return answer;
    case HostDns::kPrivate: {
      constexpr uint32_t kPrivate[] = {0x0a000001, 0xc0a80101, 0xa9fea9fe, 0xac100001, 0x00000000};
      answer.v4.push_back(kPrivate[NextDraw(net) % std::size(kPrivate)]);
      return answer;
    }
    case HostDns::kSlow:
      answer.fault = DnsFault::kSlow;
      answer.delay_ns = static_cast<int64_t>(Unit(NextDraw(net)) * 2e9);
      break;
    case HostDns::kFine:
      break;
  }
  const double six = Unit(NextDraw(net));
  if (six < params.ipv6 + params.ipv6_only) answer.v6.emplace_back(0, 1);
  if (six < params.ipv6_only) return answer;
  answer.v4.push_back(first + static_cast<uint32_t>(index));
  if (Unit(NextDraw(net)) < params.multi_address) {
    const uint64_t more = 1 + NextDraw(net) % 3;
    for (uint64_t i = 1; i <= more && i < count; ++i) {
      answer.v4.push_back(first + static_cast<uint32_t>((index + i) % count));
    }
  }
  return answer;
}

}  // namespace portolan::sim
