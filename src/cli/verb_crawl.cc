// portolan crawl: from seeds to an archive.

#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_dir.h"
#include "cli/crawl_flags.h"
#include "cli/crawl_session.h"
#include "cli/seeds.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "flow/url_record.h"

namespace portolan {

int RunCrawl(int argc, char** argv) {
  VerbApp app("crawl",
              "Crawls from seeds into a directory: WARC files with their index, a log, and a state that\n"
              "survives a crash. Polite by default: one connection a host, a second between pages,\n"
              "robots.txt obeyed, only the seeds' own domains.");
  CrawlFlags flags;
  AddCrawlFlags(app, flags);
  SessionOptions session;
  SeedSource source;
  app->add_option("urls", source.urls, "Where to start")->type_name("URL");
  app->add_option("--seeds", source.file, "A file of seeds, one URL per line; # begins a comment; -: standard input")
      ->type_name("FILE");
  app->add_flag("--strict", source.strict, "End where a line of that file is no URL, instead of leaving it out");
  app->add_option("--dir", session.dir, "Where everything goes (default crawl-HOST)")->type_name("DIR");
  app->add_flag("--json", session.json, "The summary as one JSON object on standard output");
  app.Footer(
      "Examples:\n"
      "  portolan crawl https://example.org/\n"
      "  portolan crawl --scope prefix --max-pages 500 --delay 2s https://example.org/docs/\n"
      "  portolan crawl --profile web --contact https://you.example/bot --seeds seeds.txt --dir big --memory 8G\n"
      "Ctrl-C stops cleanly; 'portolan resume DIR' goes on.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  auto config = ApplyCrawlFlags(flags, app.config(), app.config_path());
  if (!config) return Complain(config.error());
  session.config = *std::move(config);
  session.quiet = app.quiet();
  source.urls.insert(source.urls.end(), session.config.crawl.seeds.begin(), session.config.crawl.seeds.end());
  auto seeds = ReadSeeds(source, session.config);
  if (!seeds) return Complain(seeds.error());
  session.seeds = *std::move(seeds);
  if (session.dir.empty() && !session.seeds.empty()) {
    session.dir = "crawl-" + std::string(HostOf(session.seeds.front()));
  }
  const auto end = RunCrawlSession(session);
  return end ? kExitOk : Complain(end.error());
}

int RunResume(int argc, char** argv) {
  VerbApp app("resume",
              "Goes on with a crawl that was stopped or broke off. Limits may be raised by flags; everything\n"
              "else is as it was when the crawl began.");
  SessionOptions session;
  CrawlFlags flags;
  app->add_option("dir", session.dir, "The crawl's directory")->required()->type_name("DIR");
  AddLimitFlags(app, flags);
  app->add_flag("--json", session.json, "The summary as one JSON object on standard output");
  app.Footer("Example:\n  portolan resume crawl-example.org --max-pages 10000");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const std::string path = JoinPath(session.dir, kConfigFile);
  if (!app.config_path().empty()) {
    PrintError(fmt::format("a crawl keeps the settings that it began with ({}): --config has no place here", path));
    return kExitUsage;
  }
  session.quiet = app.quiet();
  auto stored = LoadCrawlConfig(session.dir);
  if (!stored) return Complain(stored.error());
  auto config = ApplyCrawlFlags(flags, *stored);
  if (!config) return Complain(config.error());
  session.config = *std::move(config);
  session.seeds = session.config.crawl.seeds;
  session.resume = true;
  const auto end = RunCrawlSession(session);
  return end ? kExitOk : Complain(end.error());
}

}  // namespace portolan
