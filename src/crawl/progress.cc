#include "crawl/progress.h"

#include <algorithm>
#include <nlohmann/json.hpp>

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
  if (after.max_pages > 0) {
    until(static_cast<double>(after.max_pages) - static_cast<double>(after.counts.pages()), rates.pages_per_s);
  }
  if (after.max_bytes > 0) {
    until(static_cast<double>(after.max_bytes) - static_cast<double>(after.counts.wire_bytes), rates.bytes_per_s);
  }
  if (after.max_seconds > 0) until(after.max_seconds - after.seconds, 1);
  return rates;
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
  json["hosts"] = progress.hosts;
  json["robots_denied"] = counts.denied;
  json["robots_unreachable"] = counts.unreachable;
  json["out_of_scope"] = counts.out_of_scope;
  json["too_deep"] = counts.too_deep;
  json["outages"] = counts.outages;
  json["shortages"] = counts.shortages;
  json["rss_bytes"] = progress.rss_bytes;
  json["checkpoints"] = progress.checkpoints;
  json["checkpoint_longest_ms"] = progress.checkpoint_longest_ms;
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
  return json.dump(2);
}

}  // namespace portolan
