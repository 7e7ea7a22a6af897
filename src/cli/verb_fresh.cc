// portolan fresh: how up to date the copies of a crawl are, by what it believes, and what is due.

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_dir.h"
#include "cli/crawl_session.h"
#include "cli/crawl_sources.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "crawl/fresh_look.h"
#include "crawl/locate_url.h"
#include "crawl/wiring.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/local_socket.h"

namespace portolan {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kAskNs = 5'000'000'000;  // for a checkpoint of a crawl that runs
constexpr double kDayS = 86'400;

double Part(double sum, double of) { return of > 0 ? sum / of : 0; }

Json JsonOf(const FreshSums& sums) {
  const auto pages = static_cast<double>(sums.pages);
  return {{"pages", sums.pages},
          {"never_had", sums.never_had},
          {"due", sums.due},
          {"under_way", sums.under_way},
          {"gone", sums.gone},
          {"fresh", Part(sums.fresh, pages)},
          {"fresh_by_importance", Part(sums.fresh_importance, sums.importance)},
          {"age_s", Part(sums.age_days, pages) * kDayS},
          {"changes_per_day", Part(sums.changes_per_day, pages)},
          {"new_links_per_day", sums.links_per_day},
          {"next_due", sums.next_due_unix_ns == 0 ? Json() : Json(TimeOfCheckpoint(sums.next_due_unix_ns))}};
}

void PrintJson(const FreshLook& look, bool now) {
  Json json;
  json["checkpoint"] = TimeOfCheckpoint(look.checkpoint_unix_ns);
  json["now"] = now;
  json["visits_per_day"] = look.visits_per_day;
  json["price_hours"] = look.price_hours;
  json["visits"] = {{"changed", look.changed}, {"same", look.same}, {"failed", look.failed}, {"ended", look.ended}};
  json["all"] = JsonOf(look.all);
  json["domains"] = Json::array();
  for (const FreshDomain& domain : look.domains) {
    Json row = JsonOf(domain.sums);
    row["domain"] = domain.name;
    json["domains"].push_back(std::move(row));
  }
  json["more_domains"] = look.more_domains;
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

// Whether it runs and has made one.
bool AskForCheckpoint(const std::string& dir) {
  if (!IsRunning(dir)) return false;
  const auto answer = AskLocal(ControlPathOf(dir), "checkpoint", kAskNs);
  return answer && *answer == "ok";
}

std::string Percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string In(int64_t due_unix_ns, int64_t now_unix_ns) {
  if (due_unix_ns == 0) return "-";
  return "in " + FormatDuration(std::max(0.0, static_cast<double>(due_unix_ns - now_unix_ns) * 1e-9));
}

void PrintText(const FreshLook& look, const std::string& dir, bool now, int64_t unix_ns) {
  const FreshSums& all = look.all;
  const auto pages = static_cast<double>(all.pages);
  fmt::print("{}: {}, of which {} are believed to be up to date ({} weighted by importance)\n", dir,
             Counted(all.pages, "page"), Percent(Part(all.fresh, pages)),
             Percent(Part(all.fresh_importance, all.importance)));
  fmt::print("  age        {} out of date on average\n", FormatDuration(Part(all.age_days, pages) * kDayS));
  fmt::print("  due        {} now, {} of them under way; the next {}\n", all.due, all.under_way,
             In(all.next_due_unix_ns, unix_ns));
  fmt::print("  pace       at most {:.0f} visits per day; one must be worth {} of a page of importance 1\n",
             look.visits_per_day, FormatDuration(look.price_hours * 3600));
  fmt::print("  found      {} changes, {} times none, {} failures; {} ended{}{}\n", look.changed, look.same,
             look.failed, Counted(look.ended, "page"),
             all.gone > 0 ? fmt::format("; {} may be gone and are asked for again", all.gone) : "",
             all.never_had > 0 ? fmt::format("; {} never came and are tried again", all.never_had) : "");
  size_t width = 20;
  for (const FreshDomain& domain : look.domains) width = std::clamp(domain.name.size(), width, size_t{60});
  fmt::print("{:<{}}  {:>9} {:>8} {:>12} {:>11} {:>9} {:>8}  {}\n", "domain", width, "pages", "fresh", "age",
             "changes/day", "links/day", "due", "next");
  for (const FreshDomain& domain : look.domains) {
    const FreshSums& sums = domain.sums;
    const auto count = static_cast<double>(sums.pages);
    fmt::print("{:<{}}  {:>9} {:>8} {:>12} {:>11.3g} {:>9.3g} {:>8}  {}\n", domain.name, width, sums.pages,
               Percent(Part(sums.fresh, count)), FormatDuration(Part(sums.age_days, count) * kDayS),
               Part(sums.changes_per_day, count), sums.links_per_day, sums.due, In(sums.next_due_unix_ns, unix_ns));
  }
  if (look.more_domains > 0) fmt::print("… and {}\n", Counted(look.more_domains, "more domain"));
  fmt::print("{} of {}. Beliefs, learnt from what visits found: 'portolan why' says them for one page.\n",
             now ? "A checkpoint that the crawl made for this question," : "As of the checkpoint",
             TimeOfCheckpoint(look.checkpoint_unix_ns));
}

}  // namespace

int RunFresh(int argc, char** argv) {
  VerbApp app("fresh",
              "Says how up to date the copies of a crawl that comes back (--continuous) are, by what it believes\n"
              "about the rates at which pages change, by domain; how many pages are due for a visit, and when the\n"
              "next one is. Reads the last checkpoint; a crawl that runs is asked for one first.");
  std::string dir;
  size_t top = 50;
  bool json = false;
  app->add_option("dir", dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_option("--top", top, "How many domains to list, those with the most pages first")
      ->capture_default_str()
      ->check(CLI::Range(1, 100'000));
  app->add_flag("--json", json, "As one JSON object");
  app.Footer(
      "Examples:\n"
      "  portolan fresh crawl\n"
      "  portolan fresh crawl --top 5 --json");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto crawl = OpenCrawlSources(dir);
  if (!crawl) return Complain(crawl.error());
  bool now = true;  // the checkpoints of all shards were made for this question
  for (const CrawlSource& shard : crawl->shards) now = AskForCheckpoint(shard.dir) && now;
  const int64_t unix_ns = Clock::Real().UnixNs();
  FreshLook look;
  for (size_t i = 0; i < crawl->shards.size(); ++i) {
    const CrawlSource& shard = crawl->shards[i];
    FreshLook one;
    const Status read = WithCommitted(Env::Posix(), StateDirOf(shard.dir), [&](const Manifest& manifest) -> Status {
      ASSIGN_OR_RETURN(one, LookAtFreshness(Env::Posix(), manifest, RefreshOf(shard.config), unix_ns, top));
      return {};
    });
    if (!read) return Complain(read.error());
    AddLook(look, i, std::move(one), top);
  }
  if (json) {
    PrintJson(look, now);
  } else {
    PrintText(look, dir, now, unix_ns);
  }
  return kExitOk;
}

}  // namespace portolan
