#include "sim/world/atlas.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "sim/world/words.h"

namespace portolan::sim {
namespace {

constexpr std::string_view kTop = ".test";

std::string_view Word(std::span<const std::string_view> words, uint64_t draw) { return words[draw % words.size()]; }

// The number at the end of `text`, in the one spelling that we write.
std::optional<uint64_t> NumberAtEnd(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && IsDigit(text[begin - 1])) --begin;
  const std::string_view digits = text.substr(begin);
  if (digits.empty() || digits.size() > 9 || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

std::string Port(uint16_t port, uint16_t standard) {
  return port == 0 || port == standard ? "" : fmt::format(":{}", port);
}

// One of several troubles by their rates, or none: index 0 … n-1, n for none.
size_t Choose(double unit, std::initializer_list<double> rates) {
  size_t index = 0;
  for (const double rate : rates) {
    if (unit < rate) return index;
    unit -= rate;
    ++index;
  }
  return index;
}

}  // namespace

Atlas::Atlas(const WorldParams& params, uint64_t seed)
    : seed_(seed),
      domains_(static_cast<uint32_t>(params.domains)),
      all_domains_(static_cast<uint32_t>(params.domains + params.spam_domains)),
      wildcard_(params.spam_wildcard) {
  first_host_.push_back(0);
  for (uint32_t d = 0; d < domains_; ++d) {
    const double unit = 1 - Unit(Draw(seed_, Salt::kDomainHosts, d));  // (0, 1]
    const double hosts = std::min(Pow(unit, -1 / params.hosts_alpha), static_cast<double>(params.max_hosts));
    first_host_.push_back(first_host_.back() + std::max(1U, static_cast<uint32_t>(hosts)));
  }
  facts_.resize(first_host_.back());
  for (uint32_t d = 0; d < domains_; ++d) {
    for (uint32_t hid = first_host_[d]; hid < first_host_[d + 1]; ++hid) facts_[hid] = {.domain = d, .content = hid};
  }
  DrawSizes(params);
  DrawFacts(params);
  DrawMirrors(params);
  MakeNames(params);
  DrawPopularity(params);
}

void Atlas::DrawSizes(const WorldParams& params) {
  std::vector<double> weights(facts_.size());
  for (uint32_t d = 0; d < domains_; ++d) {
    double sum = 0;
    for (uint32_t h = 0; h < Hosts(d); ++h) sum += 1.0 / (h + 1);
    const double size =
        Pow(d + 1, -params.size_exponent) * Lognormal(Draw(seed_, Salt::kDomainSize, d), 1, params.size_sigma);
    for (uint32_t h = 0; h < Hosts(d); ++h) weights[first_host_[d] + h] = size / sum / (h + 1);
  }
  const double cap = static_cast<double>(std::max<uint64_t>(1, params.max_pages_per_host));
  const auto pages_at = [&](double scale, double weight) { return std::floor(std::clamp(scale * weight, 1.0, cap)); };
  // The scale at which all hosts together have params.pages: found by halving, since caps bend the sum.
  double low = 0;
  double high = 1;
  const auto total = [&](double scale) {
    double sum = 0;
    for (const double weight : weights) sum += pages_at(scale, weight);
    return sum;
  };
  const double goal = std::min(static_cast<double>(params.pages), cap * static_cast<double>(facts_.size()));
  while (total(high) < goal && high < 1e18) high *= 4;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (total(middle) < goal ? low : high) = middle;
  }
  std::vector<uint64_t> pages(facts_.size());
  for (size_t hid = 0; hid < facts_.size(); ++hid) pages[hid] = static_cast<uint64_t>(pages_at(high, weights[hid]));
  // Giants stand at domains 1, 1 + D/g, …: popular and less popular ones.
  for (uint64_t g = 0; g < params.giants && domains_ > 1; ++g) {
    const uint64_t d = 1 + g * (domains_ - 1) / params.giants;
    pages[first_host_[d]] = params.giant_pages;
  }
  first_page_.push_back(0);
  for (const uint64_t count : pages) first_page_.push_back(first_page_.back() + count);
}

void Atlas::DrawFacts(const WorldParams& params) {
  for (uint32_t hid = 0; hid < facts_.size(); ++hid) {
    HostFacts& facts = facts_[hid];
    const HostId id = IdOf(hid);
    const bool last_domain = kDomainBranch * id.domain + 1 >= domains_;
    const bool last_host = kHostBranch * id.host + 1 >= Hosts(id.domain);
    const bool may_fail = hid > 0 && last_host && (id.host > 0 || last_domain);

    const uint64_t tongue = Draw(seed_, Salt::kDomainLanguage, id.domain);
    const size_t languages = Languages().size();
    facts.language = static_cast<uint8_t>((tongue & 1) != 0 ? 0 : Below(tongue, languages));
    uint64_t row = Draw(seed_, Salt::kHostStyle, hid);
    facts.style = static_cast<uint8_t>(NextDraw(row) & 0xff);
    if (Unit(NextDraw(row)) < params.legacy_charset) {
      facts.charset = static_cast<uint8_t>(1 + Below(NextDraw(row), Languages()[facts.language].charsets.size() - 1));
    }
    facts.charset_in_header = Unit(NextDraw(row)) < 0.7;
    facts.validators = Unit(NextDraw(row)) < params.validators;
    facts.http10 = Unit(NextDraw(row)) < params.http10;
    facts.soft404 = Unit(NextDraw(row)) < params.soft404;
    if (Unit(NextDraw(row)) < params.compressed) facts.coding = static_cast<ContentCoding>(1 + Below(NextDraw(row), 4));

    row = Draw(seed_, Salt::kHostTls, hid);
    facts.tls = Unit(NextDraw(row)) < params.https;
    if (facts.tls && may_fail && Unit(NextDraw(row)) < params.bad_certificate) {
      facts.certificate = static_cast<Certificate>(1 + Below(NextDraw(row), 3));
    }
    if (may_fail) {
      constexpr HostDns kTroubles[] = {HostDns::kNotFound, HostDns::kServFail, HostDns::kSilent, HostDns::kPrivate,
                                       HostDns::kFine};
      facts.dns = kTroubles[Choose(Unit(Draw(seed_, Salt::kHostDns, hid)),
                                   {params.dns_not_found, params.dns_servfail, params.dns_silent, params.dns_private})];
    }
    if (facts.dns == HostDns::kFine && Unit(Draw(seed_, Salt::kHostDns, hid, 1)) < params.dns_slow) {
      facts.dns = HostDns::kSlow;
    }

    row = Draw(seed_, Salt::kHostRobots, hid);
    facts.groups = Unit(NextDraw(row)) < params.robots_groups;
    facts.robots_change = Unit(NextDraw(row)) < params.robots_changing;
    facts.sitemap = Unit(NextDraw(row)) < params.sitemaps;
    facts.sitemap_gz = Unit(NextDraw(row)) < 0.3;
    const uint64_t which = NextDraw(row);
    const RobotsKind error = (which & 1) != 0 ? RobotsKind::kError : RobotsKind::kNoAnswer;
    const RobotsKind missing = (which & 6) != 0 ? RobotsKind::kMissing : RobotsKind::kEmpty;
    const RobotsKind kinds[] = {
        RobotsKind::kForbidAll, error,  RobotsKind::kRedirect, RobotsKind::kHuge, RobotsKind::kGarbage,
        RobotsKind::kRules,     missing};
    const double fails = may_fail ? 1 : 0;
    facts.robots = kinds[Choose(Unit(which),
                                {params.robots_forbid_all * fails, params.robots_error * fails, params.robots_redirect,
                                 params.robots_huge, params.robots_garbage, params.robots_rules})];

    row = Draw(seed_, Salt::kHostTraps, hid);
    if (Unit(NextDraw(row)) < params.trap_calendar) facts.traps |= kTrapCalendar;
    if (Unit(NextDraw(row)) < params.trap_session) facts.traps |= kTrapSession;
    if (Unit(NextDraw(row)) < params.trap_loop) facts.traps |= kTrapLoop;
    if (Unit(NextDraw(row)) < params.trap_query) facts.traps |= kTrapQuery;
    facts.forbids_traps = facts.traps != 0 && Unit(NextDraw(row)) < params.trap_forbidden;
    // To forbid takes a file.
    if (facts.robots == RobotsKind::kMissing || facts.robots == RobotsKind::kEmpty) {
      if (facts.forbids_traps) facts.robots = RobotsKind::kRules;
    }
    if (facts.robots == RobotsKind::kGarbage) facts.forbids_traps = false;

    row = Draw(seed_, Salt::kMaze, hid);
    const double mazes[] = {params.maze_repeat,        params.maze_calendar, params.maze_session_path,
                            params.maze_session_query, params.maze_growing,  params.maze_facets,
                            params.maze_soft404,       params.maze_redirect};
    for (size_t kind = 0; kind < std::size(mazes); ++kind) {
      if (Unit(NextDraw(row)) < mazes[kind]) facts.mazes |= static_cast<uint8_t>(1U << kind);
    }
  }
}

void Atlas::DrawMirrors(const WorldParams& params) {
  if (params.mirrors <= 0) return;
  std::vector<uint64_t> first_page = {0};
  for (uint32_t hid = 0; hid < facts_.size(); ++hid) {
    uint64_t pages = Pages(hid);
    HostFacts& facts = facts_[hid];
    const HostId id = IdOf(hid);
    const bool childless =
        kHostBranch * id.host + 1 >= Hosts(id.domain) && (id.host > 0 || kDomainBranch * id.domain + 1 >= domains_);
    uint64_t row = Draw(seed_, Salt::kHostMirror, hid);
    if (hid > 0 && childless && !facts.mirrored && Unit(NextDraw(row)) < params.mirrors) {
      for (int attempt = 0; attempt < 8; ++attempt) {
        const uint32_t other = static_cast<uint32_t>(Below(NextDraw(row), hid));
        const uint64_t other_pages = first_page[other + 1] - first_page[other];
        if (facts_[other].content != other || other_pages > params.mirror_pages || other_pages < 2) continue;
        facts_[other].mirrored = true;
        facts.mirrored = true;
        facts.content = other;
        facts.language = facts_[other].language;
        facts.charset = facts_[other].charset;
        facts.charset_in_header = facts_[other].charset_in_header;
        facts.style = facts_[other].style;
        facts.traps = facts_[other].traps;
        facts.mazes = facts_[other].mazes;
        facts.forbids_traps = facts.forbids_traps && facts.traps != 0;
        pages = other_pages;
        break;
      }
    }
    first_page.push_back(first_page.back() + pages);
  }
  first_page_ = std::move(first_page);
}

std::string Atlas::DomainLabel(uint32_t domain) const {
  const uint64_t draw = Draw(seed_, Salt::kDomainName, domain);
  const auto words = domain < domains_ ? PathWords() : SpamWords();
  const std::string_view first = Word(words, draw >> 8);
  const std::string_view second = Word(words, draw >> 16);
  switch (draw & 3) {
    case 0:
      return fmt::format("{}-{}", first, domain);
    case 1:
      return fmt::format("{}-{}-{}", first, second, domain);
    case 2:
      return fmt::format("the{}{}", first, domain);
    default:
      return fmt::format("{}{}{}", first, second, domain);
  }
}

std::string Atlas::HostLabel(HostId host) const {
  const uint64_t draw = Draw(seed_, Salt::kHostName, host.domain, host.host);
  if (host.host == 0) return draw % 5 == 0 ? "" : "www.";
  const std::string_view word = (draw & 1) != 0 ? Word(HostWords(), draw >> 8) : Word(PathWords(), draw >> 8);
  return fmt::format("{}{}{}.", word, (draw & 2) != 0 ? "-" : "", host.host);
}

void Atlas::MakeNames(const WorldParams& params) {
  const std::string plain = Port(params.http_port, 80);
  const std::string secure = Port(params.https_port, 443);
  plain_tail_ = plain.size();
  tls_tail_ = secure.size();
  tail_text_ = plain;
  for (uint32_t d = 0; d < domains_; ++d) {
    const std::string label = DomainLabel(d);
    for (uint32_t hid = first_host_[d]; hid < first_host_[d + 1]; ++hid) {
      origin_begin_.push_back(static_cast<uint32_t>(origins_.size()));
      origins_ += facts_[hid].tls ? "https://" : "http://";
      origins_ += HostLabel(IdOf(hid));
      origins_ += label;
      origins_ += kTop;
      origins_ += facts_[hid].tls ? secure : plain;
    }
  }
  origin_begin_.push_back(static_cast<uint32_t>(origins_.size()));
}

void Atlas::DrawPopularity(const WorldParams& params) {
  std::vector<double> sums(domains_);
  double sum = 0;
  for (uint32_t d = 0; d < domains_; ++d) sums[d] = sum += Pow(d + 1, -params.zipf_exponent);
  popular_.resize(65537);
  uint32_t d = 0;
  for (uint32_t k = 0; k <= 65536; ++k) {
    while (d + 1 < domains_ && sums[d] <= sum * k / 65536) ++d;
    popular_[k] = d;
  }
  friends_.resize(domains_);
  for (d = 0; d < domains_; ++d) {
    const double pages = static_cast<double>(first_page_[first_host_[d + 1]] - first_page_[first_host_[d]]);
    // Heaps' law for links: the number of domains met grows with a power of the pages.
    const double count =
        params.friends_mean * Pow((pages + 1) / 100, 0.5) * Lognormal(Draw(seed_, Salt::kFriendCount, d), 1, 0.5);
    friends_[d] = static_cast<uint32_t>(std::clamp(count, 2.0, std::max(2.0, domains_ / 4.0)));
  }
}

uint32_t Atlas::HidOfPage(uint64_t dense) const {
  const auto after = std::upper_bound(first_page_.begin(), first_page_.end(), dense);
  return static_cast<uint32_t>(after - first_page_.begin() - 1);
}

std::optional<HostId> Atlas::Find(std::string_view name) const {
  if (!name.ends_with(kTop)) return std::nullopt;
  const std::string_view rest = name.substr(0, name.size() - kTop.size());
  const size_t dot = rest.rfind('.');
  const std::string_view label = dot == std::string_view::npos ? rest : rest.substr(dot + 1);
  const std::string_view sub = dot == std::string_view::npos ? "" : rest.substr(0, dot);
  const auto domain = NumberAtEnd(label);
  if (!domain || *domain >= all_domains_) return std::nullopt;
  const uint32_t d = static_cast<uint32_t>(*domain);
  if (d >= domains_) {
    if (label != DomainLabel(d)) return std::nullopt;
    if (!IsWildcard(d)) return sub == "www" ? std::optional<HostId>({d, 0}) : std::nullopt;
    // Our own spelling holds the number; any other name has one, too.
    if (sub.size() > 8) {
      uint32_t number = 0;
      const char* const end = sub.data() + sub.size();
      const auto [stop, error] = std::from_chars(end - 8, end, number, 16);
      if (error == std::errc() && stop == end && SpamHostName({d, number}) == name) return HostId{d, number};
    }
    return HostId{d, static_cast<uint32_t>(Hash64(sub, seed_))};
  }
  uint32_t h = 0;
  if (!sub.empty() && sub != "www") {
    const auto number = NumberAtEnd(sub);
    if (!number || *number >= Hosts(d)) return std::nullopt;
    h = static_cast<uint32_t>(*number);
  }
  const HostId host{d, h};
  if (Name(Hid(host)) != name) return std::nullopt;
  return host;
}

bool Atlas::IsWildcard(uint32_t domain) const {
  return domain >= domains_ && Unit(Draw(seed_, Salt::kSpamHost, domain)) < wildcard_;
}

std::string Atlas::SpamHostName(HostId host) const {
  if (!IsWildcard(host.domain)) return fmt::format("www.{}{}", DomainLabel(host.domain), kTop);
  return fmt::format("{}-{:08x}.{}{}", Word(SpamWords(), host.host), host.host, DomainLabel(host.domain), kTop);
}

void Atlas::AppendSpamOrigin(std::string& out, HostId host) const {
  out += "http://";
  out += SpamHostName(host);
  out += tail_text_;
}

}  // namespace portolan::sim
