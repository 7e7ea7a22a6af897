#include "sim/world/host_robots.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/ascii.h"

namespace portolan::sim {
namespace {

// What forbids the inside of each section of paths.h, and of all traps.
constexpr std::string_view kRules[kSections + 1] = {
    "Disallow: /private/\nAllow: /private/press/\n",
    "Disallow: /cgi-bin/\n",
    "Disallow: /search\n",
    "Disallow: /*.print$\n",
    "Allow: /tmp/public\nDisallow: /tmp\n",
    "Disallow: /*?sort=\n",
    "Disallow: /archive/*/raw/\n",
    "Disallow: /Members/  # and not /members/\n",
    "Disallow: /calendar\nDisallow: /shop\nDisallow: /pub/\nDisallow: /browse\n",
};
constexpr std::string_view kAgents[] = {"portolan", "googlebot", "portolan", "bingbot", "portolan", "wget"};
constexpr std::string_view kBadBot = "badbot";

}  // namespace

HostRobots::HostRobots(const WorldParams& params, uint64_t seed, const Atlas& atlas, const Paths& paths)
    : seed_(seed),
      delay_share_(params.crawl_delay),
      delay_s_(params.crawl_delay_s),
      own_(params.robots_own),
      change_ns_(static_cast<int64_t>(std::max<uint64_t>(1, params.robots_change_s)) * 1'000'000'000),
      atlas_(atlas),
      paths_(paths) {}

bool HostRobots::HasRules(uint32_t hid) const {
  const RobotsKind kind = atlas_.facts(hid).robots;
  return kind == RobotsKind::kRules || kind == RobotsKind::kRedirect || kind == RobotsKind::kHuge;
}

bool HostRobots::Reachable(uint32_t hid) const {
  const RobotsKind kind = atlas_.facts(hid).robots;
  return kind != RobotsKind::kError && kind != RobotsKind::kNoAnswer;
}

HostRobots::Masks HostRobots::MasksOf(uint32_t hid, int64_t unix_ns) const {
  const HostFacts& facts = atlas_.facts(hid);
  const uint64_t epoch = facts.robots_change ? static_cast<uint64_t>(std::max<int64_t>(0, unix_ns) / change_ns_) : 0;
  const uint64_t draw = Draw(seed_, Salt::kHostMask, hid, epoch);
  constexpr uint32_t kAll = (1U << kSections) - 1;
  const uint32_t traps = facts.forbids_traps ? 1U << kTrapSection : 0;
  return {static_cast<uint32_t>(draw & kAll) | traps, static_cast<uint32_t>((draw >> 16) & kAll) | traps};
}

std::string_view HostRobots::NamedAgent(uint32_t hid) const {
  return kAgents[Draw(seed_, Salt::kHostMask, hid, ~uint64_t{0}) % std::size(kAgents)];
}

double HostRobots::DelayOf(uint32_t hid) const {
  uint64_t row = Draw(seed_, Salt::kHostMask, hid, ~uint64_t{1});
  if (Unit(NextDraw(row)) >= delay_share_) return 0;
  return std::ceil(Unit(NextDraw(row)) * delay_s_ * 2) / 2;  // in halves of a second
}

double HostRobots::CrawlDelay(uint32_t hid, std::string_view agent) const {
  if (!HasRules(hid)) return 0;
  if (atlas_.facts(hid).groups && EqualsIgnoringCase(agent, kBadBot)) return 0;
  return DelayOf(hid);
}

bool HostRobots::Allowed(const Place& place, std::string_view agent, int64_t unix_ns) const {
  if (place.place_class == PlaceClass::kRobots && place.number == 0) return true;
  if (place.host.domain >= atlas_.domains()) return true;
  const uint32_t hid = atlas_.Hid(place.host);
  if (!Reachable(hid)) return false;
  const HostFacts& facts = atlas_.facts(hid);
  if (facts.robots == RobotsKind::kForbidAll) return false;
  if (!HasRules(hid)) return true;
  uint32_t section = 0;
  switch (place.place_class) {
    case PlaceClass::kPage: {
      const Section where = paths_.SectionOf(facts.content, place.number);
      if (where.index >= 0 && where.inside) section = 1U << where.index;
      break;
    }
    case PlaceClass::kCalendar:
    case PlaceClass::kSession:
    case PlaceClass::kLoop:
    case PlaceClass::kQuery:
      section = 1U << kTrapSection;
      break;
    default:
      break;
  }
  if (facts.groups && EqualsIgnoringCase(agent, kBadBot)) return false;
  if (section == 0) return true;
  const Masks masks = MasksOf(hid, unix_ns);
  const bool named = facts.groups && EqualsIgnoringCase(agent, NamedAgent(hid));
  return ((named ? masks.named : masks.any) & section) == 0;
}

std::string HostRobots::File(uint32_t hid, int64_t unix_ns) const {
  const HostFacts& facts = atlas_.facts(hid);
  if (facts.robots == RobotsKind::kEmpty) return (facts.style & 16) != 0 ? "" : "# nothing to say\n";
  if (facts.robots == RobotsKind::kGarbage) {
    std::string bytes =
        (facts.style & 16) != 0 ? "<!DOCTYPE html><html><body>Welcome! Disallow is: nice</body></html>" : "";
    uint64_t row = Draw(seed_, Salt::kHostMask, hid, 99);
    for (int i = 0; i < 400; ++i) bytes += static_cast<char>(NextDraw(row) & 0x8f);  // no letters: no words
    return bytes;
  }
  if (facts.robots == RobotsKind::kForbidAll) return "User-agent: *\nDisallow: /\n";
  const Masks masks = MasksOf(hid, unix_ns);
  std::string text;
  const double delay = DelayOf(hid);
  const auto group = [&](std::string_view agent, uint32_t mask) {
    text += fmt::format("User-agent: {}\n", agent);
    if (delay > 0) text += fmt::format("Crawl-delay: {}\n", delay);
    if (mask == 0) text += "Disallow:\n";
    for (int i = 0; i <= kSections; ++i) {
      if ((mask >> i & 1) != 0) text += kRules[i];
    }
    for (uint64_t i = 0; i < own_; ++i) text += fmt::format("Disallow: /own-{}-{}/\n", hid, i);
    text += '\n';
  };
  if ((facts.style & 64) != 0) text += fmt::format("# robots.txt of {}\n\n", atlas_.Name(hid));
  const bool named_first = (facts.style & 128) != 0;
  if (facts.groups && named_first) group(NamedAgent(hid), masks.named);
  group("*", masks.any);
  if (facts.groups) {
    if (!named_first) group(NamedAgent(hid), masks.named);
    text += fmt::format("User-agent: {}\nUser-agent: nastybot/2.0\nDisallow: /\n\n", kBadBot);
  }
  if (facts.sitemap) text += fmt::format("Sitemap: {}/sitemap.xml\n", atlas_.Origin(hid));
  if (facts.robots == RobotsKind::kHuge) {
    while (text.size() < 600 << 10) text += "# this line is one of very many that say nothing at all to any robot\n";
  }
  if ((facts.style & 32) == 0) return text;
  // Another hand: CRLF and other capitals.
  std::string other = (facts.style & 64) != 0 ? "\xef\xbb\xbf" : "";
  bool key = true;
  for (const char c : text) {
    if (c == ':') key = false;
    if (c == '\n') {
      key = true;
      other += '\r';
    }
    other += key && c >= 'A' && c <= 'Z' ? AsciiLower(c) : c;
  }
  return other;
}

}  // namespace portolan::sim
