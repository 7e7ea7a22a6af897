// portolan crawl, resume, run: from seeds to an archive.

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/cli.h"
#include "cli/crawl_dir.h"
#include "cli/crawl_flags.h"
#include "cli/crawl_session.h"
#include "cli/local_cluster.h"
#include "cli/resume_settings.h"
#include "cli/seeds.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "crawl/seed_list.h"
#include "flow/url_record.h"

namespace portolan {
namespace {

// The flags that crawl and run share.
struct StartFlags {
  CrawlFlags crawl;
  SeedSource seeds;
};

void AddReportFlags(VerbApp& app, SessionOptions& session) {
  app->add_flag("--json", session.json, "The summary as one JSON object on standard output");
}

void AddStartFlags(VerbApp& app, StartFlags& flags) {
  app->add_option("urls", flags.seeds.urls, "Where to start")->type_name("URL");
  app->add_option("--seeds", flags.seeds.file,
                  "A file of seeds, one URL per line; # begins a comment; -: standard input")
      ->type_name("FILE");
  app->add_flag("--strict", flags.seeds.strict,
                "Stop at a line of that file that is not a URL, instead of leaving it out");
  AddCrawlFlags(app, flags.crawl);
}

// The settings and seeds given by the flags, as for a new crawl.
Status ReadStart(const VerbApp& app, const StartFlags& flags, SessionOptions& session) {
  ASSIGN_OR_RETURN(session.config, ApplyCrawlFlags(flags.crawl, app.config(), app.config_path()));
  session.quiet = app.quiet();
  SeedSource source = flags.seeds;
  const std::vector<std::string>& more = session.config.crawl.seeds;
  source.urls.insert(source.urls.end(), more.begin(), more.end());
  if (!session.config.crawl.seed_list.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "crawl.seed_list: is set by the crawl; name a file with --seeds");
  }
  ASSIGN_OR_RETURN(session.given, ReadSeeds(source, session.config));
  return {};
}

// Continues the crawl in session.dir with the settings in `wanted`, as far as they may change, and with the given seeds
// besides those of wanted.
Status ReadOn(const Config& stored, Config wanted, GivenSeeds given, SessionOptions& session) {
  Config::Words& seeds = wanted.crawl.seeds;
  seeds.insert(seeds.end(), given.first.begin(), given.first.end());
  std::ranges::sort(seeds);
  seeds.erase(std::ranges::unique(seeds).begin(), seeds.end());
  const bool listed = !stored.crawl.seed_list.empty();
  if (!listed && !given.more) {
    const auto known = [&stored](const std::string& seed) {
      return std::ranges::find(stored.crawl.seeds, seed) != stored.crawl.seeds.end();
    };
    std::erase_if(given.first, known);
  }
  if (listed || given.more || seeds.size() > kSeedsInSettings) {
    seeds.clear();
    if (!listed) session.listed_before = stored.crawl.seeds;
  }
  session.seed_list = seeds.empty();
  // A pattern that is given again is already there.
  Config::Words& exclude = wanted.scope.exclude;
  for (auto pattern = exclude.begin(); pattern != exclude.end();) {
    pattern = std::find(exclude.begin(), pattern, *pattern) == pattern ? std::next(pattern) : exclude.erase(pattern);
  }
  RETURN_IF_ERROR(CheckChanges(stored, wanted, session.settings_changed));
  session.given = std::move(given);
  session.config = std::move(wanted);
  session.resume = true;
  return {};
}

}  // namespace

int RunCrawl(int argc, char** argv) {
  VerbApp app("crawl",
              "Crawls from seeds into a directory: WARC files with their index, a log, and a state that\n"
              "survives a crash. Polite by default: one connection per host, a second between pages,\n"
              "robots.txt obeyed, only the seeds' own domains.");
  StartFlags flags;
  SessionOptions session;
  uint32_t nodes = 0;
  AddStartFlags(app, flags);
  app->add_option("--dir", session.dir, "Directory of the crawl (default crawl-HOST)")->type_name("DIR");
  app->add_option("--nodes", nodes,
                  "Divide the crawl among so many processes on this machine, as several machines would do it\n"
                  "(docs/cluster.md); needs nats-server")
      ->type_name("N")
      ->check(CLI::Range(1U, kMostLocalNodes));
  AddReportFlags(app, session);
  app.Footer(
      "Examples:\n"
      "  portolan crawl https://example.org/\n"
      "  portolan crawl --scope prefix --max-pages 500 --delay 2s https://example.org/docs/\n"
      "  portolan crawl --profile web --contact https://you.example/bot --seeds seeds.txt --dir big --memory 8G\n"
      "If the directory holds a crawl without any page, it is started again; one that has pages is refused.\n"
      "Ctrl-C (or SIGTERM, SIGHUP) stops cleanly; again after two seconds cancels what is in flight; a third\n"
      "time ends at once. 'portolan resume DIR' continues.\n"
      "Exit code 1: the crawl is done and has no page.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (const Status status = ReadStart(app, flags, session); !status) return Complain(status.error());
  if (session.dir.empty() && !session.given.first.empty()) {
    session.dir = "crawl-" + std::string(HostOf(session.given.first.front()));
  }
  if (nodes > 0) {
    return RunLocalCluster({.dir = session.dir,
                            .nodes = nodes,
                            .config = std::move(session.config),
                            .given = std::move(session.given),
                            .quiet = session.quiet,
                            .json = session.json});
  }
  return RunCrawlVerb(session);
}

int RunResume(int argc, char** argv) {
  VerbApp app("resume",
              "Continues a crawl that was stopped or that crashed. Settings given by flags are changed for good:\n"
              "they are stored in its crawl.toml. All others stay as they were.");
  SessionOptions session;
  CrawlFlags flags;
  app->add_option("dir", session.dir, "The crawl's directory")->required()->type_name("DIR");
  AddCrawlFlags(app, flags);
  AddReportFlags(app, session);
  app.Footer(fmt::format(
      "What may not change: {}\n"
      "(directories may be added at the end). Everything else may. URLs that the scope leaves out from now\n"
      "on (--exclude) are not fetched any more, whether they already wait or are found later.\n"
      "Examples:\n"
      "  portolan resume crawl-example.org --max-pages 10000\n"
      "  portolan resume crawl-example.org --delay 5s --exclude '*/calendar/*'",
      FixedSettings()));
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (!app.config_path().empty()) {
    PrintError(fmt::format("a crawl keeps its settings in {}: change them with flags; --config cannot be used here",
                           JoinPath(session.dir, kConfigFile)));
    return kExitUsage;
  }
  session.quiet = app.quiet();
  if (HoldsLocalCluster(session.dir)) {
    const auto same = ApplyCrawlFlags(flags, Config{});
    if (!same) return Complain(same.error());
    if (ConfigToToml(*same) != ConfigToToml(Config{})) {
      PrintError(session.dir + ": a crawl with --nodes keeps its settings");
      return kExitUsage;
    }
    return RunLocalCluster({.dir = session.dir, .resume = true, .quiet = session.quiet, .json = session.json});
  }
  const auto stored = LoadCrawlConfig(session.dir);
  if (!stored) return Complain(stored.error());
  auto wanted = ApplyCrawlFlags(flags, *stored);
  if (!wanted) return Complain(wanted.error());
  auto given = ReadSeeds({.urls = wanted->crawl.seeds}, *wanted);
  if (!given) return Complain(given.error());
  wanted->crawl.seeds.clear();
  if (const Status status = ReadOn(*stored, *std::move(wanted), *std::move(given), session); !status) {
    return Complain(status.error());
  }
  return RunCrawlVerb(session);
}

int RunRun(int argc, char** argv) {
  VerbApp app("run",
              "Crawls into a directory, or continues the crawl that is there: the same command line starts a\n"
              "crawl, and after a stop, a crash or a restart of the machine continues it. For service units.");
  StartFlags flags;
  SessionOptions session;
  app->add_option("dir", session.dir, "The crawl's directory")->required()->type_name("DIR");
  AddStartFlags(app, flags);
  AddReportFlags(app, session);
  app.Footer(
      fmt::format("A continued crawl takes over settings and seeds that are new on the command line.\n"
                  "What may not change: {}\n"
                  "(directories may be added at the end).\n"
                  "Example:\n"
                  "  portolan run /srv/crawl --contact https://you.example/bot --seeds seeds.txt",
                  FixedSettings()));
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (const Status status = ReadStart(app, flags, session); !status) return Complain(status.error());
  if (!HoldsCrawl(session.dir)) return RunCrawlVerb(session);
  const auto stored = LoadCrawlConfig(session.dir);
  if (!stored) return Complain(stored.error());
  // Existing seeds stay, whether they are named again or not.
  Config wanted = session.config;
  wanted.crawl.seeds = stored->crawl.seeds;
  wanted.crawl.seed_list = stored->crawl.seed_list;
  GivenSeeds given = std::exchange(session.given, {});
  if (const Status status = ReadOn(*stored, std::move(wanted), std::move(given), session); !status) {
    return Complain(status.error());
  }
  return RunCrawlVerb(session);
}

}  // namespace portolan
