// portolan why: where a URL of a crawl is now, and what it waits for.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/hash_key.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_dir.h"
#include "cli/crawl_session.h"
#include "cli/shard_dirs.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "crawl/locate_url.h"
#include "crawl/rule_files.h"
#include "crawl/scope.h"
#include "crawl/seed_list.h"
#include "crawl/wiring.h"
#include "flow/url_record.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/local_socket.h"
#include "outputs/log_search.h"

namespace portolan {
namespace {

using Json = nlohmann::ordered_json;

struct Finding {
  std::string url;
  bool seed = false;
  bool in_scope = false;
  bool requisite = false;  // not in scope, and known: a page needs it to be shown
  UrlWhereabouts at;
  std::vector<Json> log;  // its lines, the last kMaxLines
  uint64_t log_lines = 0;
  Json robots_log;  // the last line of its origin's robots.txt; null: none
  // Of what the state is: of the last checkpoint, of one that the running crawl made for this question, or the running
  // crawl did not make one in time.
  enum class Fresh : uint8_t { kNotRunning, kNow, kNoAnswer } fresh = Fresh::kNotRunning;
  std::string no_answer;                  // why not
  std::vector<std::string> switched_off;  // settings that keep URLs out, in words

  std::string excluded;            // "excluded by rule 3 at rules.toml:17"; empty: no rule and no block list does that
  std::vector<std::string> rules;  // what else rules say about it
  std::string rules_trouble;       // why they could not be read

  std::string where;
  std::string verdict;
};

constexpr size_t kMaxLines = 100;
constexpr int64_t kAskNs = 5'000'000'000;  // for a checkpoint of a crawl that runs

// Says what is read when it takes long.
class Progress {
 public:
  void operator()(std::string_view part, uint64_t bytes) const {
    constexpr uint64_t kMuch = uint64_t{256} << 20;
    if (bytes < kMuch && std::chrono::steady_clock::now() - begin_ < std::chrono::seconds(2)) return;
    fmt::print(stderr, "reading {} ({}) …\n", part, FormatBytes(bytes));
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string Times(uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string WordsOf(const Json& line) {
  const std::string outcome = line.value("outcome", "?");
  return line.contains("status") && outcome == "answered" ? line["status"].dump() : outcome;
}

// An end that is in the log is newer than any checkpoint.
bool JudgeByLog(Finding& finding) {
  // What was found out about a fetch later is no end.
  const auto is_end = [](const Json& line) { return line.value("outcome", "") != "late_duplicate"; };
  const auto end = std::find_if(finding.log.rbegin(), finding.log.rend(), is_end);
  if (end == finding.log.rend() || end->value("again", false)) return false;
  const Json& last = *end;
  const std::string outcome = last.value("outcome", "?");
  const std::string time = last.value("time", "?");
  const std::string rule = last.value("rule", "");
  if (outcome == "excluded_by_rule" || outcome == "blocked" || outcome == "over_limit") {
    finding.where = "denied";
    const std::string what = outcome == "excluded_by_rule" ? fmt::format("{} excluded it", rule)
                             : outcome == "blocked"
                                 ? std::string("its host was on a block list")
                                 : fmt::format("the pages that {} allows for its host or domain were fetched", rule);
    finding.verdict = fmt::format("left out: it was waiting to be fetched, and on {} {}", time, what);
    return true;
  }
  if (outcome == "robots_denied" || outcome == "robots_unreachable" || outcome == "out_of_scope" ||
      outcome == "renamed") {
    finding.where = "denied";
    if (outcome == "robots_denied") {
      finding.verdict = fmt::format("denied: robots.txt of its origin forbade it on {}", time);
    } else if (outcome == "robots_unreachable") {
      finding.verdict =
          fmt::format("denied: robots.txt of its origin could not be had{}, given up on {}",
                      finding.robots_log.is_object() ? fmt::format(" ({})", WordsOf(finding.robots_log)) : "", time);
    } else if (outcome == "renamed") {
      finding.verdict = fmt::format(
          "left out on {}: a part of it never changes the page on this host, so the URL without that part is in the "
          "crawl",
          time);
    } else {
      finding.verdict =
          fmt::format("out of scope: it was waiting to be fetched, and on {} the settings left it out", time);
    }
    return true;
  }
  if (outcome == "mirror") {
    finding.where = "mirror";
    finding.verdict = fmt::format("not fetched: its host repeats another one, so on {} {} was taken instead", time,
                                  last.value("duplicate_of", "the page there"));
    return true;
  }
  finding.where = "done";
  const uint64_t attempt = last.value("attempt", uint64_t{1});
  finding.verdict = fmt::format("done: {} on {}{}", WordsOf(last), time,
                                attempt > 1 ? fmt::format(", at attempt {}", attempt) : std::string());
  if (const std::string visit = last.value("visit", ""); !visit.empty()) {
    finding.verdict += last.value("gone", false) ? "; it was there before, and is gone"
                       : visit == "other"        ? "; its bytes are others than at the visit before"
                       : visit == "unknown"
                           ? ""
                           : fmt::format("; it is as it was fetched on {}", last.value("unchanged_since", "?"));
  }
  if (last.value("dropped", false)) {
    finding.verdict += fmt::format("; not kept, and its links were not followed: {} excludes it", rule);
  } else if (last.contains("duplicate_of")) {
    finding.verdict += fmt::format("; its bytes are those of {}, fetched on {}", last.value("duplicate_of", "?"),
                                   last.value("duplicate_time", "?"));
  } else if (last.contains("near_duplicate_of")) {
    finding.verdict += fmt::format("; its text is nearly that of {} ({} of 64 bits differ)",
                                   last.value("near_duplicate_of", "?"), last.value("near_bits", 0));
  } else if (!is_end(finding.log.back())) {
    const Json& late = finding.log.back();
    finding.verdict += fmt::format("; found later: its bytes are those of {}, fetched on {}",
                                   late.value("duplicate_of", "another page"), late.value("duplicate_time", "?"));
  }
  return true;
}

std::string WaitingInBudget(const UrlWhereabouts& at) {
  if (!at.queues_ahead) return "waiting: " + at.detail;
  if (*at.queues_ahead == 0) return "waiting: its turn has come, it is in the budget queue that is being read";
  if (*at.queues_ahead == 1) return "waiting: within its domain's budget, in the next queue";
  return fmt::format("waiting: its domain is over its budget, {} queues ahead", *at.queues_ahead);
}

std::string NeverFound(const Finding& finding) {
  if (finding.seed) return "never found: it is a seed, and the last checkpoint is from before the seeds were taken";
  if (!finding.excluded.empty()) return finding.excluded;
  if (!finding.in_scope) return "out of scope: the crawl's settings leave it out";
  std::string verdict = "never found: no page that was read has a link to it that is followed";
  for (size_t i = 0; i < finding.switched_off.size(); ++i) {
    verdict += fmt::format("{}{}", i == 0 ? " (" : "; ", finding.switched_off[i]);
  }
  return finding.switched_off.empty() ? verdict : verdict + ")";
}

void Judge(Finding& finding) {
  if (JudgeByLog(finding)) return;
  const UrlWhereabouts& at = finding.at;
  finding.where = UrlPlaceName(at.place);
  const std::string again =
      finding.log.empty() ? std::string() : fmt::format("; the last try brought {}", WordsOf(finding.log.back()));
  switch (at.place) {
    case UrlPlace::kUnknown:
      if (at.seen) {
        finding.where = "done";
        finding.verdict = "done: it was seen and waits nowhere, but the log has no line of its end";
      } else {
        finding.verdict = NeverFound(finding);
      }
      return;
    case UrlPlace::kUnchecked:
      finding.verdict = "waiting: " + at.detail;
      return;
    case UrlPlace::kBudgetQueue:
      finding.verdict = WaitingInBudget(at);
      return;
    case UrlPlace::kBudgetFailed:
      finding.verdict =
          "waiting: its domain is over its budget by more than all queues hold; it is judged again when these are read";
      return;
    case UrlPlace::kRobots:
      finding.verdict = "waiting at robots.txt: " + at.detail;
      if (finding.robots_log.is_object() && finding.robots_log.value("again", false)) {
        finding.verdict += fmt::format("; the last try brought {}", WordsOf(finding.robots_log));
      }
      return;
    case UrlPlace::kFront:
      finding.verdict = "waiting for its host's turn: " + at.detail + again;
      return;
    case UrlPlace::kParked:
      finding.verdict = fmt::format(
          "parked, not fetched: a trap by {}{}; it is looked at again when URLs of this form "
          "give something new (docs/traps.md)",
          at.form.empty() ? "the new hosts of its domain" : "the form " + at.form, again);
      return;
    case UrlPlace::kBack:
      finding.verdict = "waiting for its host, which is fetched from one page at a time: " + at.detail + again;
      return;
  }
}

// Where it was found first: its record says so while it waits, the log once it was fetched.
std::string ViaOf(const Finding& finding) {
  return finding.log.empty() ? finding.at.via : finding.log.back().value("via", finding.at.via);
}

double SecondsOf(double days, const RefreshSchedule::Outlook& outlook) { return days * outlook.day_ns * 1e-9; }

Json JsonOf(const PageSchedule& page) {
  const RefreshSchedule::Outlook& outlook = page.outlook;
  const double per_day = 86'400e9 / outlook.day_ns;
  return {{"due", TimeOfCheckpoint(outlook.due_unix_ns)},
          {"under_way", page.at == ScheduledAt::kOut},
          {"visited", TimeOfCheckpoint(outlook.visited_unix_ns)},
          {"visits", page.visits},
          {"changes", page.changes},
          {"failures", page.strikes},
          {"gone", page.gone},
          {"hub", page.hub},
          {"importance", page.importance},
          {"conditional", page.validators},
          {"fresh", outlook.fresh},
          {"age_s", SecondsOf(outlook.age, outlook)},
          {"changes_per_day", outlook.change.mean() * per_day},
          {"prior_changes_per_day", outlook.prior.mean() * per_day},
          {"new_links_per_day", outlook.links * per_day},
          {"signal", outlook.signalled},
          {"worth_s", SecondsOf(outlook.worth, outlook)},
          {"price_s", SecondsOf(outlook.price, outlook)}};
}

// When it is due, and from which observations.
void PrintSchedule(const PageSchedule& page) {
  const RefreshSchedule::Outlook& outlook = page.outlook;
  const double per_day = 86'400e9 / outlook.day_ns;
  const std::string due = page.at == ScheduledAt::kOut ? "its next visit is under way"
                          : outlook.due_unix_ns <= Clock::Real().UnixNs()
                              ? "due now"
                              : "due on " + TimeOfCheckpoint(outlook.due_unix_ns);
  fmt::print("  visits   {}; {} so far after the first, {} with another text{}{}{}\n", due, page.visits, page.changes,
             page.strikes > 0
                 ? fmt::format("; the last {} {}", page.strikes, page.gone ? "said that it is gone" : "failed")
                 : "",
             page.hub ? "; a hub" : "", page.validators ? "; asks conditionally" : "");
  if (outlook.visited_unix_ns == 0) return;
  fmt::print("  fresh    {:.1f} % as it was on {}; out of date for {} on average\n", 100 * outlook.fresh,
             TimeOfCheckpoint(outlook.visited_unix_ns), FormatDuration(SecondsOf(outlook.age, outlook)));
  fmt::print("  rate     {:.3g} changes per day; its neighbours alone say {:.3g}; {:.3g} new links per day{}\n",
             outlook.change.mean() * per_day, outlook.prior.mean() * per_day, outlook.links * per_day,
             outlook.signalled > 1
                 ? fmt::format("; a sitemap says that it has changed, which makes that {:.1f} times as "
                               "likely",
                               outlook.signalled)
                 : "");
  fmt::print("  worth    a visit now {}, with importance {:.3g}; the price is {}\n",
             FormatDuration(SecondsOf(outlook.worth, outlook)), page.importance,
             FormatDuration(SecondsOf(outlook.price, outlook)));
}

void PrintJson(const Finding& finding) {
  const UrlWhereabouts& at = finding.at;
  Json domain;
  if (at.domain) {
    domain = {{"domain", at.domain_name},
              {"in_degree", at.domain->record.in_degree},
              {"budget", at.domain->budget},
              {"urls", at.domain->record.passed},
              {"fetched", at.domain->record.fetched},
              {"waiting", at.domain->record.waiting()},
              {"failed", at.domain->record.failed}};
  }
  Json json;
  json["url"] = finding.url;
  json["in_scope"] = finding.in_scope;
  const std::string via = ViaOf(finding);
  json["excluded"] = finding.excluded.empty() ? Json() : Json(finding.excluded);
  json["rules"] = finding.rules;
  json["via"] = via.empty() ? Json() : Json(via);
  json["seen"] = at.seen || !finding.log.empty();
  json["domain"] = std::move(domain);
  json["shard"] = at.shard;
  json["where"] = finding.where;
  json["detail"] = at.detail;
  json["queues_ahead"] = at.queues_ahead && finding.where == "budget_queue" ? Json(*at.queues_ahead) : Json();
  json["robots_allowed"] = at.robots_allowed ? Json(*at.robots_allowed) : Json();
  json["robots"] = at.robots;
  json["form"] = at.form;
  json["idle"] = at.idle;
  json["shorter"] = at.shorter;
  json["schedule"] = at.schedule ? JsonOf(*at.schedule) : Json();
  json["log"] = finding.log;
  json["log_lines"] = finding.log_lines;
  json["checkpoint"] = TimeOfCheckpoint(at.checkpoint_unix_ns);
  json["running"] = finding.fresh != Finding::Fresh::kNotRunning;
  json["now"] = finding.fresh == Finding::Fresh::kNow;
  json["switched_off"] = finding.switched_off;
  json["verdict"] = finding.verdict;
  fmt::print("{}\n", json.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace));
}

void PrintText(const Finding& finding) {
  const UrlWhereabouts& at = finding.at;
  fmt::print("{}\n", finding.url);
  fmt::print("  scope    {}\n", finding.seed        ? "a seed"
                                : finding.in_scope  ? "belongs to the crawl"
                                : finding.requisite ? "out of scope, needed to show a page"
                                                    : "is left out");
  if (!finding.excluded.empty()) fmt::print("  rules    {}\n", finding.excluded);
  for (const std::string& rule : finding.rules) fmt::print("  rules    {}\n", rule);
  if (!finding.rules_trouble.empty()) {
    fmt::print("  beware   the rules cannot be read as they are now: {}\n", finding.rules_trouble);
  }
  if (const std::string via = ViaOf(finding); !via.empty()) fmt::print("  found    on {}\n", via);
  fmt::print("  seen     {}\n", at.seen || !finding.log.empty() ? "yes" : "no");
  if (at.domain) {
    const DomainRecord& record = at.domain->record;
    fmt::print("  domain   {}: in-degree {}, budget {}, {} known, {} fetched, {} waiting, {} failed\n", at.domain_name,
               record.in_degree, at.domain->budget, Times(record.passed, "URL"), record.fetched, record.waiting(),
               record.failed);
  } else {
    fmt::print("  domain   {}{}\n", at.domain_name,
               at.budgets ? ": nothing is known of it" : " (the crawl has no budgets)");
  }
  if (at.shards > 1) fmt::print("  shard    {} of {}\n", at.shard + 1, at.shards);
  fmt::print("  robots   {}\n", at.robots);
  if (!at.form.empty()) fmt::print("  form     {}\n", at.form);
  for (const std::string& part : at.idle) {
    fmt::print("  left out '{}' never changes the page on this host{}\n", part,
               at.shorter.empty() ? "" : fmt::format(": links to it lead to {}", at.shorter));
  }
  if (at.schedule) PrintSchedule(*at.schedule);
  if (finding.log_lines > finding.log.size()) fmt::print("  log      {}\n", Times(finding.log_lines, "line"));
  const size_t shown = std::min<size_t>(finding.log.size(), 5);
  for (size_t i = finding.log.size() - shown; i < finding.log.size(); ++i) {
    const Json& line = finding.log[i];
    fmt::print("  log      {} {}{}\n", line.value("time", "?"), WordsOf(line),
               line.value("again", false) ? ", to be tried again" : "");
  }
  const char* of_what = finding.fresh == Finding::Fresh::kNow ? "a checkpoint that the crawl made for this question"
                                                              : "last checkpoint; the log is newer";
  fmt::print("  as of    {} ({})\n", TimeOfCheckpoint(at.checkpoint_unix_ns), of_what);
  if (finding.fresh == Finding::Fresh::kNoAnswer) {
    fmt::print("  beware   the crawl runs and did not answer ({}): what follows may have changed\n", finding.no_answer);
  }
  fmt::print("{}\n", finding.verdict);
}

// Asks a crawl that runs to bring what is on disk up to now.
void Refresh(const std::string& dir, Finding& finding) {
  if (!IsRunning(dir)) return;
  const auto answer = AskLocal(ControlPathOf(dir), "checkpoint", kAskNs);
  finding.fresh = answer && *answer == "ok" ? Finding::Fresh::kNow : Finding::Fresh::kNoAnswer;
  if (!answer) {
    finding.no_answer = answer.error().message();
  } else if (*answer != "ok") {
    finding.no_answer = *answer;
  }
}

// What keeps links from being followed in this crawl. Limits only where they did so.
std::vector<std::string> SwitchedOff(const std::string& dir, const Config& config, const std::string& url) {
  std::vector<std::string> all;
  if (url.size() > config.scope.max_url_length) {
    all.push_back(fmt::format("it has {} bytes: scope.max_url_length = {}", url.size(), config.scope.max_url_length));
  }
  if (!config.scope.embeds && !config.scope.requisites)
    all.emplace_back("embeds are not fetched: scope.embeds = false");
  if (!config.scope.follow_nofollow) all.emplace_back("nofollow is obeyed: scope.follow_nofollow = false");
  if (!config.scope.sitemaps) all.emplace_back("sitemaps are not read: scope.sitemaps = false");
  const auto status = ReadWholeFile(Env::Posix(), JoinPath(dir, kStatusFile));
  const Json json = status ? Json::parse(*status, nullptr, false) : Json();
  if (!json.is_object() || !json.contains("left_out")) return all;
  for (const Json& left_out : json["left_out"]) all.push_back("left out: " + left_out.value("words", "?"));
  return all;
}

std::string LimitWords(const Rule& rule) {
  std::string words;
  const auto add = [&words](uint64_t pages, std::string_view what) {
    if (pages > 0) words += fmt::format("{}{} per {}", words.empty() ? "" : ", ", Counted(pages, "page"), what);
  };
  add(rule.pages_per_host, "host");
  add(rule.pages_per_domain, "domain");
  return words.empty() ? "no limit of pages" : "at most " + words;
}

// What the scope and the rules of now say about it. Its depth is known from the log; without, it is taken for 1.
void JudgeByRules(Scope& scope, const Config& config, Finding& finding) {
  UrlRecord record;
  record.url = finding.url;
  if (!finding.seed) record.depth = finding.log.empty() ? uint16_t{1} : finding.log.back().value("depth", uint16_t{1});
  const ScopeVerdict verdict = scope.Judge(record, HostKey(finding.url, HashKey::Known()), finding.seed);
  finding.in_scope = verdict.inside();
  const RuleVerdict& rules = verdict.rules;
  if (verdict.answer == ScopeAnswer::kRule) finding.excluded = "excluded by " + rules.access->Name();
  if (verdict.answer == ScopeAnswer::kBlocked) {
    const auto where = WhereBlocked(Env::Posix(), config.rules.block_lists, std::string(HostOf(finding.url)));
    finding.excluded = "excluded by a block list" + (where && !where->empty() ? ": " + *where : std::string());
  }
  if (rules.Includes()) finding.rules.push_back("included by " + rules.access->Name());
  if (rules.depends) {
    finding.rules.push_back(
        fmt::format("kept or not by its answer: {} excludes it, rules before it may include it", rules.access->Name()));
  }
  if (rules.limit != nullptr) {
    finding.rules.push_back(fmt::format("limited by {}: {}", rules.limit->Name(), LimitWords(*rules.limit)));
  }
  if (rules.rate != nullptr) {
    finding.rules.push_back(fmt::format("slowed down by {}: one request per {}", rules.rate->Name(),
                                        FormatDuration(static_cast<double>(rules.rate->delay_ns) * 1e-9)));
  }
  if (rules.priority != nullptr) {
    finding.rules.push_back(fmt::format("priority {} by {}", rules.priority->priority, rules.priority->Name()));
  }
}

Result<Finding> Look(const std::string& dir, const std::string& text) {
  ASSIGN_OR_RETURN(const Config config, LoadCrawlConfig(dir));
  Finding finding;
  Config any_length = config;  // one that is too long is answered, too
  any_length.scope.max_url_length = 1 << 20;
  ASSIGN_OR_RETURN(finding.url, CanonicalSeed(text, any_length));
  const std::vector<std::string>& seeds = config.crawl.seeds;
  finding.seed = std::find(seeds.begin(), seeds.end(), finding.url) != seeds.end();
  ScopeOptions scope_options = ScopeOf(config, seeds);
  if (!config.crawl.seed_list.empty()) {
    RETURN_IF_ERROR(WithCommitted(Env::Posix(), StateDirOf(dir), [&](const Manifest& manifest) -> Status {
      ASSIGN_OR_RETURN(SeedNames names,
                       ReadSeedNames(Env::Posix(), manifest, scope_options.mode, HashKey::Known(), uint64_t{1} << 40));
      scope_options.listed = std::make_shared<const SeedNames>(std::move(names));
      return ForEachListedSeed(Env::Posix(), manifest, [&](std::string_view seed) {
        finding.seed = seed == finding.url;
        return !finding.seed;
      });
    }));
  }
  if (auto rules = LoadRules(Env::Posix(), config)) {
    scope_options.rules = std::move(rules->rules);
    scope_options.blocked = std::move(rules->blocked.list);
  } else {
    finding.rules_trouble = rules.error().message();
  }
  ASSIGN_OR_RETURN(Scope scope, Scope::Create(scope_options));
  finding.switched_off = SwitchedOff(dir, config, finding.url);
  Refresh(dir, finding);
  const Progress progress;
  ASSIGN_OR_RETURN(finding.at, LocateUrl(Env::Posix(), finding.url,
                                         {.state_dir = StateDirOf(dir),
                                          .progress = progress,
                                          .refresh = RefreshOf(config),
                                          .unix_ns = Clock::Real().UnixNs()}));
  const std::string log = JoinPath(dir, "log");
  ASSIGN_OR_RETURN(const uint64_t bytes, LogBytes(Env::Posix(), log));
  progress("the crawl log", bytes);
  RETURN_IF_ERROR(ForEachLogLine(Env::Posix(), log, finding.url, [&](std::string_view line) {
    Json parsed = Json::parse(line, nullptr, false);
    // The crawler's own look at robots.txt is not an end of the URL.
    if (!parsed.is_object() || parsed.value("kind", "") == "robots") return;
    ++finding.log_lines;
    if (finding.log.size() == kMaxLines) finding.log.erase(finding.log.begin());
    finding.log.push_back(std::move(parsed));
  }));
  JudgeByRules(scope, config, finding);
  finding.requisite = config.scope.requisites && !finding.in_scope && !scope.Excludes(finding.url) &&
                      (finding.at.seen || finding.log_lines > 0);
  RETURN_IF_ERROR(
      ForEachLogLine(Env::Posix(), log, std::string(OriginOf(finding.url)) + "/robots.txt", [&](std::string_view line) {
        Json parsed = Json::parse(line, nullptr, false);
        if (parsed.is_object() && parsed.value("kind", "") == "robots") {
          finding.robots_log = std::move(parsed);
        }
      }));
  if (!finding.at.robots_allowed && finding.robots_log.is_object() && finding.robots_log.value("again", false)) {
    finding.at.robots =
        fmt::format("robots.txt of its origin did not come ({}); it is asked for again", WordsOf(finding.robots_log));
  }
  Judge(finding);
  return finding;
}

}  // namespace

int RunWhy(int argc, char** argv) {
  VerbApp app("why",
              "Says where a URL of a crawl is now and what it waits for: its domain's budget, robots.txt, its\n"
              "host's queue; or how it ended. A crawl that runs is asked for a checkpoint first, so the answer is\n"
              "of now; of one that does not, the last checkpoint and the log are read. In a large crawl that may\n"
              "take minutes.");
  std::string dir;
  std::string url;
  bool json = false;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  app->add_option("url", url, "The URL, as one would type it")->required()->type_name("URL");
  app->add_flag("--json", json, "As one JSON object");
  app.Footer(
      "Example:\n"
      "  portolan why crawl https://example.org/about\n"
      "The exit code is 0 whatever the answer is.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (const std::vector<std::string> shards = ShardDirsIn(dir); !shards.empty()) {
    const auto owner = ShardDirFor(shards, url);
    if (!owner) return Complain(owner.error());
    dir = *owner;
  }
  const auto finding = Look(dir, url);
  if (!finding) return Complain(finding.error());
  if (json) {
    PrintJson(*finding);
  } else {
    PrintText(*finding);
  }
  return kExitOk;
}

}  // namespace portolan
