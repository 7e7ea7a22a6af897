#include "sim/oracle/account.h"

#include <fmt/core.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/units.h"

namespace portolan::sim {
namespace {

using Json = nlohmann::ordered_json;

double InSeconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

// URLs of a client may be any bytes; JSON wants UTF-8.
std::string DumpJson(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json GapJson(const SmallestGap& gap) { return gap.ns < 0 ? Json() : Json(InSeconds(gap.ns)); }

std::string GapText(const SmallestGap& gap) {
  return gap.ns < 0 ? "none" : fmt::format("{:.3f} s ({})", InSeconds(gap.ns), gap.where);
}

double Share(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

uint64_t Account::TotalViolations() const { return std::accumulate(violations.begin(), violations.end(), uint64_t{0}); }

std::string AccountJson(const Account& account) {
  Json json = {{"fetches", account.fetches}, {"violations", account.TotalViolations()}};
  for (int kind = 0; kind < kViolations; ++kind) {
    const auto violation = static_cast<Violation>(kind);
    json[std::string(InfoOf(violation).key) + "_violations"] = account.Of(violation);
  }
  json["bytes"] = account.bytes;
  json["first_ns"] = account.first_ns;
  json["last_ns"] = account.last_ns;
  json["hosts"] = account.hosts;
  json["addresses"] = account.addresses;
  json["unjudged"] = account.unjudged;
  Json classes = Json::object();
  for (int index = 0; index < kPlaceClasses; ++index) {
    classes[std::string(PlaceClassName(static_cast<PlaceClass>(index)))] = account.by_class[static_cast<size_t>(index)];
  }
  json["classes"] = std::move(classes);
  json["statuses"] = Json::object();
  for (size_t index = 0; index < account.by_status.size(); ++index) {
    json["statuses"][index == 0 ? "none" : fmt::format("{}xx", index)] = account.by_status[index];
  }
  json["traps"] = account.traps;
  json["spam"] = account.spam;
  json["detours"] = account.detours;
  json["retries"] = account.retries;
  json["browser_requests"] = account.browser_requests;
  json["page_answers"] = account.page_answers;
  json["page_answers_https"] = account.page_answers_https;
  json["page_answers_http2"] = account.page_answers_http2;
  json["conditional"] = account.conditional;
  json["not_modified"] = account.not_modified;
  json["unlike_world"] = account.unlike_world;
  json["min_host_gap_s"] = GapJson(account.host_gap);
  json["min_host_end_gap_s"] = GapJson(account.host_end_gap);
  json["min_ip_gap_s"] = GapJson(account.ip_gap);
  json["min_ip_end_gap_s"] = GapJson(account.ip_end_gap);
  json["max_in_progress"] = account.max_in_progress;
  json["open_connections_max"] = account.open_connections_max;
  json["open_connections_host"] = account.open_connections_host;
  json["max_sockets"] = account.max_sockets;
  json["robots_fetches"] = account.robots_fetches;
  json["max_robots_fetches"] = account.max_robots_fetches;
  json["dns_questions"] = account.dns_questions;
  json["dns_names"] = account.dns_names;
  json["max_dns_questions"] = account.max_dns_questions;
  json["pages_fetched"] = account.pages_fetched;
  if (account.reach_known) {
    json["reachable"] = account.reachable;
    json["reachable_https"] = account.reachable_https;
    json["fetched_of_reachable"] = account.fetched_of_reachable;
    json["missed"] = account.missed;
    json["unfinished"] = account.unfinished;
    json["missed_urls"] = account.missed_urls;
  }
  Json freshness = Json::array();
  for (const Freshness& sample : account.freshness) {
    freshness.push_back({{"unix_ns", sample.unix_ns},
                         {"copies", sample.copies},
                         {"fresh", sample.fresh},
                         {"share", Share(sample.fresh, sample.copies)},
                         {"mean_age_s", sample.mean_age_s},
                         {"weighted_share", sample.WeightedShare()}});
  }
  json["freshness"] = std::move(freshness);
  json["mean_weighted_freshness"] = MeanWeightedFreshness(account, account.first_ns);
  const Discovery& discovery = account.discovery;
  json["discovery"] = {{"born", discovery.born},
                       {"found", discovery.found},
                       {"median_s", discovery.median_s},
                       {"p90_s", discovery.p90_s}};
  Json offences = Json::array();
  for (const Offence& offence : account.offences) {
    offences.push_back({{"kind", InfoOf(offence.kind).key},
                        {"unix_ns", offence.unix_ns},
                        {"url", offence.url},
                        {"detail", offence.detail}});
  }
  json["offences"] = std::move(offences);
  return DumpJson(json);
}

double MeanWeightedFreshness(const Account& account, int64_t from_ns) {
  double sum = 0;
  uint64_t count = 0;
  for (const Freshness& sample : account.freshness) {
    if (sample.unix_ns < from_ns) continue;
    sum += sample.WeightedShare();
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

std::string AccountTable(const Account& account) {
  std::string text;
  const auto line = [&text](std::string_view name, const std::string& value) {
    fmt::format_to(std::back_inserter(text), "{:<40} {}\n", name, value);
  };
  line("requests",
       fmt::format("{} in {}, {}", account.fetches, FormatDuration(InSeconds(account.last_ns - account.first_ns)),
                   FormatBytes(account.bytes)));
  line("hosts, addresses", fmt::format("{}, {}", account.hosts, account.addresses));
  if (account.unjudged > 0) line("not judged (too many hosts)", fmt::format("{}", account.unjudged));
  for (int index = 0; index < kPlaceClasses; ++index) {
    const uint64_t count = account.by_class[static_cast<size_t>(index)];
    if (count > 0)
      line(fmt::format("  of class {}", PlaceClassName(static_cast<PlaceClass>(index))), fmt::format("{}", count));
  }
  for (size_t index = 0; index < account.by_status.size(); ++index) {
    if (account.by_status[index] == 0) continue;
    line(index == 0 ? "  without a status" : fmt::format("  answered {}xx", index),
         fmt::format("{}", account.by_status[index]));
  }
  line("traps, spam", fmt::format("{}, {}", account.traps, account.spam));
  if (account.detours > 0) line("sent to the other scheme", fmt::format("{}", account.detours));
  if (account.browser_requests > 0) {
    line("what browsers ask by themselves", fmt::format("{}", account.browser_requests));
  }
  if (account.page_answers > 0) {
    line("pages by HTTPS, by HTTP/2",
         fmt::format("{:.2f} %, {:.2f} %", 100 * Share(account.page_answers_https, account.page_answers),
                     100 * Share(account.page_answers_http2, account.page_answers)));
  }
  if (account.conditional > 0) {
    line("conditional requests, answered 304",
         fmt::format("{} ({:.2f} %), {}", account.conditional, 100 * Share(account.conditional, account.fetches),
                     account.not_modified));
  }
  line("tries after failures", fmt::format("{}", account.retries));
  if (account.unlike_world > 0) line("answers that this world does not give", fmt::format("{}", account.unlike_world));
  line("smallest gap at a host, start to start", GapText(account.host_gap));
  line("  end to start", GapText(account.host_end_gap));
  line("smallest gap at an address", GapText(account.ip_gap));
  line("  end to start", GapText(account.ip_end_gap));
  line("requests at a host at once, at most", fmt::format("{}", account.max_in_progress));
  line("connections open to a host, at most",
       account.open_connections_max == 0
           ? "0"
           : fmt::format("{} ({})", account.open_connections_max, account.open_connections_host));
  line("connections to an address, at most", fmt::format("{}", account.max_sockets));
  line("requests for robots.txt",
       fmt::format("{}, at most {} of a host", account.robots_fetches, account.max_robots_fetches));
  line("DNS questions",
       fmt::format("{} about {} names, at most {}{}", account.dns_questions, account.dns_names,
                   account.max_dns_questions, account.max_dns_name.empty() ? "" : " (" + account.max_dns_name + ")"));
  line("different pages", fmt::format("{}", account.pages_fetched));
  if (account.reach_known) {
    line("reachable and allowed", fmt::format("{}", account.reachable));
    line("  fetched", fmt::format("{} ({:.2f} %), {} of them only with failures", account.fetched_of_reachable,
                                  100 * Share(account.fetched_of_reachable, account.reachable), account.unfinished));
    // Of a crawl that does not claim to be complete they are what it had not come to.
    const bool complete = account.Of(Violation::kMissed) > 0;
    line(complete ? "  never asked for" : "  not asked for yet", fmt::format("{}", account.missed));
    if (complete) {
      for (const std::string& url : account.missed_urls) fmt::format_to(std::back_inserter(text), "    {}\n", url);
    }
  }
  if (!account.freshness.empty()) {
    const Freshness& last = account.freshness.back();
    line("copies up to date at the end",
         fmt::format("{} of {} ({:.2f} %), mean age {}", last.fresh, last.copies, 100 * Share(last.fresh, last.copies),
                     FormatDuration(last.mean_age_s)));
    line("  weighted by importance", fmt::format("{:.2f} %", 100 * last.WeightedShare()));
  }
  if (const Discovery& discovery = account.discovery; discovery.born > 0) {
    const auto delay = [](double s) { return s < 0 ? std::string("not found") : FormatDuration(s); };
    line("born since, found", fmt::format("{}, {}; after {} (median), {} (nine in ten)", discovery.born,
                                          discovery.found, delay(discovery.median_s), delay(discovery.p90_s)));
  }
  fmt::format_to(std::back_inserter(text), "\n");
  line("violations", fmt::format("{}", account.TotalViolations()));
  for (int kind = 0; kind < kViolations; ++kind) {
    const auto violation = static_cast<Violation>(kind);
    if (account.Of(violation) == 0) continue;
    line(fmt::format("  {}", InfoOf(violation).text), fmt::format("{}", account.Of(violation)));
    for (const Offence& offence : account.offences) {
      if (offence.kind != violation) continue;
      fmt::format_to(std::back_inserter(text), "    {:.6f} {}: {}\n", InSeconds(offence.unix_ns), offence.url,
                     offence.detail);
    }
  }
  return text;
}

}  // namespace portolan::sim
