#include "crawl/progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/units.h"

namespace portolan {

CrawlRates RatesBetween(const CrawlProgress& before, const CrawlProgress& after) {
  CrawlRates rates;
  const double seconds = after.session_seconds - before.session_seconds;
  if (seconds <= 0) return rates;
  const auto rate = [&](uint64_t from, uint64_t to) { return static_cast<double>(to - from) / seconds; };
  rates.pages_per_s = rate(before.counts.pages(), after.counts.pages());
  rates.bytes_per_s = rate(before.counts.wire_bytes, after.counts.wire_bytes);
  rates.fetches_per_s = rate(before.counts.fetches, after.counts.fetches);
  const auto until = [&](double left, double per_s) {
    if (per_s <= 0) return;
    const double eta = std::max(0.0, left) / per_s;
    rates.eta_s = rates.eta_s < 0 ? eta : std::min(rates.eta_s, eta);
  };
  if (after.goal_pages > 0) {
    until(static_cast<double>(after.goal_pages) - static_cast<double>(after.counts.pages()), rates.pages_per_s);
  }
  if (after.max_bytes > 0) {
    until(static_cast<double>(after.max_bytes) - static_cast<double>(after.counts.wire_bytes), rates.bytes_per_s);
  }
  if (after.max_seconds > 0) until(after.max_seconds - after.seconds, 1);
  return rates;
}

std::vector<LeftOut> LeftOutOf(const CrawlCounts& counts, const LeftOutLimits& limits) {
  std::vector<LeftOut> all;
  const auto add = [&](uint64_t count, std::string one, std::string many, std::string setting) {
    if (count > 0) all.push_back({count, count == 1 ? std::move(one) : std::move(many), std::move(setting)});
  };
  const auto links = [&](uint64_t count, const std::string& which, std::string setting) {
    add(count, "link " + which, "links " + which, std::move(setting));
  };
  links(counts.too_deep, fmt::format("deeper than {}", limits.max_depth), "crawl.max_depth");
  links(counts.nofollow, "that says nofollow", "scope.follow_nofollow");
  if (!all.empty() && all.back().setting == "scope.follow_nofollow" && counts.nofollow > 1) {
    all.back().what = "links that say nofollow";
  }
  links(counts.too_many_hops, fmt::format("behind more than {}", Counted(limits.max_redirects, "redirect")),
        "crawl.max_redirects");
  links(counts.url_too_long, fmt::format("of more than {}", Counted(limits.max_url_length, "byte")),
        "scope.max_url_length");
  links(counts.too_many_links, fmt::format("beyond {} of a page", Counted(limits.max_links, "link")), "page.max_links");
  add(counts.by_rule, "URL that a rule excludes", "URLs that rules exclude", "rules");
  add(counts.blocked, "URL of a host on a block list", "URLs of hosts on block lists", "rules.block_lists");
  add(counts.over_limit, "URL beyond the page limit of a rule", "URLs beyond the page limits of rules", "rules");
  add(counts.dropped, "answer that a rule excludes by size or type", "answers that rules exclude by size or type",
      "rules");
  add(counts.sitemaps_off, "sitemap", "sitemaps", "scope.sitemaps");
  const auto cut = [&](FetchOutcome outcome) { return counts.outcomes[static_cast<size_t>(outcome)]; };
  const std::string at = fmt::format(" cut at {}", FormatBytes(limits.max_body));
  add(cut(FetchOutcome::kBodyCut), "body" + at, "bodies" + at, "fetch.max_body");
  add(cut(FetchOutcome::kTimeCut), "body cut because it was slow", "bodies cut because they were slow",
      "fetch.total_timeout");
  add(cut(FetchOutcome::kSlowCut), "slow body cut because memory was short", "slow bodies cut because memory was short",
      "memory.total");
  return all;
}

std::string ParkedWords(const ParkedForm& form) {
  return fmt::format("{} {}: {}, {}", form.host, form.form, Counted(form.urls, "URL"),
                     form.form == "its hosts" && form.seen == 0
                         ? std::string("more new hosts than its pages have earned so far")
                         : YieldWords(form.seen, form.points));
}

std::string LeftOutWords(const LeftOut& left_out) {
  return fmt::format("{} {} ({})", left_out.count, left_out.what, left_out.setting);
}

std::string AwaitedWords(const AwaitedUrl& awaited) {
  const int64_t seconds = awaited.until_unix_ns / 1'000'000'000;
  std::string why = awaited.why;
  if (awaited.attempt > 0) {
    why += fmt::format("{}attempt {}", why.empty() ? "" : ", ", awaited.attempt);
    if (awaited.attempts > 0) why += fmt::format(" of {}", awaited.attempts);
  }
  if (awaited.urls > 1) why += fmt::format("{}{} behind it", why.empty() ? "" : ", ", Counted(awaited.urls - 1, "URL"));
  return fmt::format("{}{} until {:02}:{:02}:{:02}", awaited.url, why.empty() ? "" : fmt::format(" ({})", why),
                     seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
}

std::string Counted(uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

nlohmann::ordered_json PhasesToJson(const PhaseState& phases) {
  if (phases.number == 0) return nullptr;
  return {{"number", phases.number},
          {"clock_good", phases.clock_good},
          {"groups", phases.groups},
          {"next_s", phases.next_s},
          {"error_ms", phases.error_ms}};
}

std::string ProgressToJson(const CrawlProgress& progress) {
  const CrawlCounts& counts = progress.counts;
  nlohmann::ordered_json json;
  json["state"] = progress.state;
  json["seconds"] = progress.seconds;
  json["pages"] = counts.pages();
  const double session = progress.session_seconds;
  json["pages_per_s"] =
      session > 0 ? static_cast<double>(counts.pages() - progress.session_start.pages()) / session : 0;
  json["fetches"] = counts.fetches;
  json["robots_fetches"] = counts.robots;
  json["retries"] = counts.retries;
  json["wire_bytes"] = counts.wire_bytes;
  json["body_bytes"] = counts.body_bytes;
  json["archived"] = counts.archived;
  json["links"] = counts.links;
  json["urls_seen"] = progress.urls_seen;
  json["waiting"] = progress.waiting;
  json["at_gate"] = progress.at_gate;
  json["unanswered"] = progress.unanswered;
  json["in_flight"] = progress.in_flight;
  json["parked"] = progress.parked;
  json["parked_forms"] = nlohmann::ordered_json::array();
  for (const ParkedForm& form : progress.parked_forms) {
    json["parked_forms"].push_back(
        {{"host", form.host}, {"form", form.form}, {"urls", form.urls}, {"words", ParkedWords(form)}});
  }
  json["renamed"] = counts.renamed;
  json["shortened"] = counts.shortened;
  json["hosts"] = progress.hosts;
  json["robots_denied"] = counts.denied;
  json["robots_unreachable"] = counts.unreachable;
  json["out_of_scope"] = counts.out_of_scope;
  json["excluded"] = counts.excluded;
  json["excluded_by_rule"] = counts.by_rule;
  json["blocked"] = counts.blocked;
  json["over_limit"] = counts.over_limit;
  json["dropped"] = counts.dropped;
  json["block_names"] = progress.block_names;
  json["block_list_trouble"] = progress.block_list_trouble;
  json["limits_forgotten"] = progress.limits_forgotten;
  json["mirrored"] = counts.mirrored;
  json["duplicates"] = counts.duplicates;
  json["late_duplicates"] = counts.late_duplicates;
  json["near_duplicates"] = counts.near_duplicates;
  json["revisits"] = counts.revisits;
  json["conditional"] = counts.conditional;
  json["not_modified"] = counts.not_modified;
  json["unchanged"] = counts.unchanged;
  json["gone"] = counts.gone;
  json["continuous"] = progress.continuous;
  json["scheduled"] = progress.scheduled;
  json["visiting"] = progress.visiting;
  json["due"] = progress.due;
  json["visits_per_day"] = progress.visits_per_day;
  json["visits"] = {{"changed", progress.refresh.changed}, {"same", progress.refresh.same},
                    {"failed", progress.refresh.failed},   {"ended", progress.refresh.ended},
                    {"held", progress.refresh.held},       {"signals", progress.refresh.signals}};
  json["links_of_copies"] = counts.copied_links;
  json["too_deep"] = counts.too_deep;
  json["nofollow"] = counts.nofollow;
  json["too_many_redirects"] = counts.too_many_hops;
  json["url_too_long"] = counts.url_too_long;
  json["too_many_links"] = counts.too_many_links;
  json["bodies_cut"] = counts.bodies_cut();
  json["offered"] = counts.offered;
  json["seeds"] = counts.seeds;
  json["outages"] = counts.outages;
  json["shortages"] = counts.shortages;
  json["rss_bytes"] = progress.rss_bytes;
  json["checkpoints"] = progress.checkpoints;
  json["checkpoint_longest_ms"] = progress.checkpoint_longest_ms;
  json["turns"] = progress.turns;
  json["shards"] = progress.shards;
  json["phases"] = PhasesToJson(progress.phases);
  json["turn_p50_us"] = progress.turn_p50_us;
  json["turn_p99_us"] = progress.turn_p99_us;
  json["turn_max_ms"] = progress.turn_max_ms;
  json["longest_turn_in"] = progress.longest_turn_in;
  // How many turns took le_us or less and more than half of it; empty steps are left out.
  json["turn_histogram"] = nlohmann::ordered_json::array();
  for (const TurnTimes::Step& step : progress.turn_histogram) {
    json["turn_histogram"].push_back({{"le_us", step.le_us}, {"count", step.count}});
  }
  json["rules_reads"] = progress.rules_reads;
  json["rules_reads_at_fetch"] = progress.rules_reads_at_fetch;
  for (int i = 0; i < kCountAs; ++i) {
    json["done"][std::string(CountAsName(static_cast<CountAs>(i)))] = counts.done[static_cast<size_t>(i)];
  }
  json["outcomes"] = nlohmann::ordered_json::object();
  for (int i = 0; i < kFetchOutcomes; ++i) {
    const uint64_t count = counts.outcomes[static_cast<size_t>(i)];
    if (count > 0) json["outcomes"][std::string(FetchOutcomeName(static_cast<FetchOutcome>(i)))] = count;
  }
  json["statuses"] = nlohmann::ordered_json::object();
  for (size_t i = 0; i < counts.statuses.size(); ++i) {
    if (counts.statuses[i] > 0) json["statuses"][std::to_string(i)] = counts.statuses[i];
  }
  json["hosts_crawled"] = progress.hosts_crawled;
  json["hosts_counted"] = progress.hosts_counted;
  json["top_hosts"] = nlohmann::ordered_json::array();
  for (const HostShare& share : progress.top_hosts) {
    json["top_hosts"].push_back({{"host", share.host},
                                 {"pages", share.pages},
                                 {"answers", share.answers},
                                 {"bytes", share.bytes},
                                 {"pages_per_s", session > 0 ? static_cast<double>(share.pages) / session : 0}});
  }
  json["slowest_host"] = nullptr;
  if (!progress.slowest_host.empty()) {
    json["slowest_host"] = {
        {"host", progress.slowest_host}, {"waiting", progress.slowest_waiting}, {"gap_s", progress.slowest_gap_s}};
  }
  json["fetching"] = nlohmann::ordered_json::array();
  for (const FlyingUrl& url : progress.flying) json["fetching"].push_back({{"url", url.url}, {"seconds", url.seconds}});
  json["waiting_for"] = nlohmann::ordered_json::array();
  for (const AwaitedUrl& url : progress.awaited) {
    json["waiting_for"].push_back({{"url", url.url},
                                   {"why", url.why},
                                   {"attempt", url.attempt},
                                   {"attempts", url.attempts},
                                   {"urls", url.urls},
                                   {"seconds", url.seconds},
                                   {"until_unix", url.until_unix_ns / 1'000'000'000},
                                   {"words", AwaitedWords(url)}});
  }
  json["unreachable_hosts"] = nlohmann::ordered_json::array();
  for (const HostTrouble& trouble : progress.unreachable_hosts) {
    json["unreachable_hosts"].push_back({{"what", trouble.what}, {"why", trouble.why}, {"attempts", trouble.attempt}});
  }
  json["left_out"] = nlohmann::ordered_json::array();
  for (const LeftOut& left : progress.left_out) {
    json["left_out"].push_back(
        {{"count", left.count}, {"what", left.what}, {"setting", left.setting}, {"words", LeftOutWords(left)}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace portolan
