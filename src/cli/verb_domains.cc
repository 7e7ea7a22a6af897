// portolan domains: the pay-level domains of a crawl with budgets, ranked, from its last checkpoint.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/crawl_dir.h"
#include "cli/shard_dirs.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "crawl/locate_url.h"
#include "crawl/partition.h"
#include "crawl/shard.h"
#include "frontier/frontier.h"
#include "io/env.h"
#include "reputation/domain_list.h"
#include "reputation/star.h"

namespace portolan {
namespace {

// What stands behind in-degrees that are all 0. Of several shards the least holds for all.
enum class Reputation : uint8_t {
  kCounted,
  kWaiting,  // links between domains wait for the first round
  kNone,     // no page linked to another domain
};

struct Listing {
  int64_t checkpoint_unix_ns = 0;
  Reputation reputation = Reputation::kNone;
  DomainTotals totals;
  std::vector<DomainLine> lines;
};

Result<Reputation> ReputationOf(const Manifest& manifest, const DomainListOptions& options) {
  ASSIGN_OR_RETURN(const ManifestSection* star, manifest.Find(options.star, Star::kKind));
  if (star == nullptr) return Reputation::kWaiting;
  ASSIGN_OR_RETURN(const uint64_t known, star->Number("edges_known"));
  ASSIGN_OR_RETURN(const uint64_t fresh, star->Number("edges_new"));
  ASSIGN_OR_RETURN(const uint64_t unvouched, star->Number("edges_unvouched"));
  ASSIGN_OR_RETURN(const uint64_t offered, star->Number("edges_offered"));
  ASSIGN_OR_RETURN(const uint64_t within, star->Number("edges_within"));
  if (known + fresh + unvouched > 0) return Reputation::kCounted;
  return offered > within ? Reputation::kWaiting : Reputation::kNone;
}

std::string_view NameOf(Reputation reputation) {
  switch (reputation) {
    case Reputation::kCounted:
      return "counted";
    case Reputation::kWaiting:
      return "waiting";
    case Reputation::kNone:
      return "none";
  }
  return "?";
}

bool ComesFirst(const DomainLine& a, const DomainLine& b, DomainOrder order) {
  const auto key = [order](const DomainLine& line) {
    const uint64_t in_degree = line.record.in_degree;
    const uint64_t passed = line.record.passed;
    return order == DomainOrder::kInDegree ? std::pair(in_degree, passed) : std::pair(passed, in_degree);
  };
  return key(a) != key(b) ? key(a) > key(b) : a.pld < b.pld;
}

// A domain is in one shard: the first of all are among the first of each.
Status AddShard(const Manifest& manifest, const DomainListOptions& options, Listing& listing) {
  ASSIGN_OR_RETURN(const Reputation reputation, ReputationOf(manifest, options));
  listing.reputation = std::min(listing.reputation, reputation);
  ASSIGN_OR_RETURN(
      const DomainTotals totals,
      ForEachDomain(Env::Posix(), manifest, options, [&](const DomainLine& line) { listing.lines.push_back(line); }));
  listing.totals += totals;
  return {};
}

Result<Listing> List(const std::string& dir, const DomainListOptions& options) {
  Listing listing;
  const Status read = WithCommitted(Env::Posix(), StateDirOf(dir), [&](const Manifest& manifest) -> Status {
    listing = {};
    ASSIGN_OR_RETURN(const ManifestSection* frontier, manifest.Find(FrontierOptions().name, Frontier::kKind));
    if (frontier != nullptr) {
      ASSIGN_OR_RETURN(const uint64_t unix_ns, frontier->Number("unix_ns"));
      listing.checkpoint_unix_ns = static_cast<int64_t>(unix_ns);
    }
    ASSIGN_OR_RETURN(const uint32_t shards, Shard::CountIn(manifest));
    for (uint32_t shard = 0; shard < std::max(1U, shards); ++shard) {
      DomainListOptions own = options;
      own.star = ShardName(shard, options.star);
      RETURN_IF_ERROR(AddShard(manifest, own, listing));
    }
    std::ranges::sort(listing.lines,
                      [&](const DomainLine& a, const DomainLine& b) { return ComesFirst(a, b, options.order); });
    if (listing.lines.size() > options.count) listing.lines.resize(options.count);
    return {};
  });
  if (!read) return std::unexpected(read.error());
  return listing;
}

// A domain is in one shard, so the first of all directories are among the first of each.
Result<Listing> ListAll(const std::vector<std::string>& dirs, const DomainListOptions& options) {
  Listing all;
  for (const std::string& dir : dirs) {
    ASSIGN_OR_RETURN(Listing one, List(dir, options));
    all.reputation = std::min(all.reputation, one.reputation);
    all.checkpoint_unix_ns =
        all.checkpoint_unix_ns == 0 ? one.checkpoint_unix_ns : std::min(all.checkpoint_unix_ns, one.checkpoint_unix_ns);
    all.totals += one.totals;
    all.lines.insert(all.lines.end(), one.lines.begin(), one.lines.end());
  }
  std::ranges::sort(all.lines,
                    [&](const DomainLine& a, const DomainLine& b) { return ComesFirst(a, b, options.order); });
  if (all.lines.size() > options.count) all.lines.resize(options.count);
  return all;
}

std::string HashOf(const DomainLine& line) { return fmt::format("{:016x}", line.pld); }

void PrintJson(const Listing& listing) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const DomainLine& line : listing.lines) {
    nlohmann::ordered_json row;
    row["domain"] = line.name.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(line.name);
    row["hash"] = HashOf(line);
    row["in_degree"] = line.record.in_degree;
    row["budget"] = line.budget;
    row["urls"] = line.record.passed;
    row["fetched"] = line.record.fetched;
    row["waiting"] = line.record.waiting();
    row["failed"] = line.record.failed;
    rows.push_back(std::move(row));
  }
  const DomainTotals& totals = listing.totals;
  const nlohmann::ordered_json json = {{"checkpoint", TimeOfCheckpoint(listing.checkpoint_unix_ns)},
                                       {"reputation", NameOf(listing.reputation)},
                                       {"domains", std::move(rows)},
                                       {"totals",
                                        {{"domains", totals.domains},
                                         {"linked", totals.linked},
                                         {"in_degrees", totals.in_degrees},
                                         {"urls", totals.passed},
                                         {"fetched", totals.fetched},
                                         {"waiting", totals.waiting},
                                         {"failed", totals.failed},
                                         {"complete", totals.complete}}}};
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void PrintTable(const Listing& listing, const std::string& filter) {
  size_t width = 20;
  std::vector<std::string> names;
  for (const DomainLine& line : listing.lines) {
    names.push_back(line.name.empty() ? "(not visited yet) " + HashOf(line) : line.name);
    width = std::min<size_t>(60, std::max(width, names.back().size()));
  }
  fmt::print("{:<{}}  {:>9} {:>7} {:>10} {:>10} {:>10} {:>10}\n", "domain", width, "in-degree", "budget", "URLs",
             "fetched", "waiting", "failed");
  for (size_t i = 0; i < names.size(); ++i) {
    const DomainLine& line = listing.lines[i];
    fmt::print("{:<{}}  {:>9} {:>7} {:>10} {:>10} {:>10} {:>10}\n", names[i], width, line.record.in_degree, line.budget,
               line.record.passed, line.record.fetched, line.record.waiting(), line.record.failed);
  }
  const DomainTotals& totals = listing.totals;
  fmt::print("{:<{}}  {:>9} {:>7} {:>10} {:>10} {:>10} {:>10}\n", fmt::format("all {} domains", totals.domains), width,
             totals.in_degrees, "", totals.passed, totals.fetched, totals.waiting, totals.failed);
  if (!filter.empty()) {
    fmt::print("{} of {} domains with '{}' in their name\n", names.size(), totals.matches, filter);
  }
  if (listing.reputation == Reputation::kWaiting) {
    fmt::print(
        "Reputation has not been counted yet: links between domains wait for their first round. Until then every\n"
        "in-degree is 0 and every budget the least.\n");
  } else if (listing.reputation == Reputation::kNone) {
    fmt::print("There is no reputation to count: no page that was fetched links to another domain.\n");
  }
  if (!totals.complete) fmt::print("There are more than fit into memory: the numbers are not complete.\n");
  fmt::print("As of the checkpoint of {}. Failed are URLs that ended without a page: errors, redirects, robots.txt.\n",
             TimeOfCheckpoint(listing.checkpoint_unix_ns));
}

}  // namespace

int RunDomains(int argc, char** argv) {
  VerbApp app("domains",
              "Lists the domains of a crawl with budgets: how many others link to each, what budget that\n"
              "gives it, and what became of its URLs. Reads the last checkpoint, whether the crawl runs or not.");
  std::string dir;
  std::string by = "in-degree";
  DomainListOptions options;
  options.count = 50;
  options.rows = true;
  bool json = false;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  app->add_option("--top", options.count, "How many to list")->capture_default_str()->check(CLI::Range(1, 1'000'000));
  app->add_option("--by", by, "Which are first")->capture_default_str()->check(CLI::IsMember({"in-degree", "urls"}));
  app->add_option("--filter", options.filter, "Only domains with this in their name")->type_name("TEXT");
  app->add_flag("--json", json, "As one JSON object");
  app.Footer(
      "Examples:\n"
      "  portolan domains crawl --top 20\n"
      "  portolan domains crawl --by urls --filter .edu");
  if (const auto code = app.Parse(argc, argv)) return *code;
  options.order = by == "urls" ? DomainOrder::kPassed : DomainOrder::kInDegree;
  std::vector<std::string> dirs = ShardDirsIn(dir);
  if (dirs.empty()) dirs.push_back(dir);
  const auto config = LoadCrawlConfig(dirs.front());
  if (!config) return Complain(config.error());
  if (!config->budget.enabled) {
    PrintError(
        fmt::format("{}: this crawl has no budgets, so its domains are not ranked (a crawl begun with --profile web or "
                    "--set budget.enabled=true has)",
                    dir));
    return kExitBadInput;
  }
  const auto listing = ListAll(dirs, options);
  if (!listing) return Complain(listing.error());
  if (json) {
    PrintJson(*listing);
  } else {
    PrintTable(*listing, options.filter);
  }
  return kExitOk;
}

}  // namespace portolan
