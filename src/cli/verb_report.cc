// portolan report: what a crawl found and how it went, for a terminal, as JSON, CSV or one HTML page.

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "base/units.h"
#include "cli/build_info.h"
#include "cli/cli.h"
#include "cli/crawl_dir.h"
#include "cli/crawl_sources.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "io/env.h"
#include "outputs/append_file.h"
#include "report/report_builder.h"
#include "report/report_table.h"

namespace portolan {
namespace {

struct ReportFlags {
  std::string dir;
  std::string html;
  std::string csv;
  std::string memory = "128M";
  size_t rows = 20;
  size_t shown = 10;  // on a terminal
  bool json = false;
};

// A file that appears only when it is complete.
Status WriteWhole(const std::string& path, std::string_view text) {
  Env& env = Env::Posix();
  {
    ASSIGN_OR_RETURN(AppendFile file, AppendFile::Make(env, path + ".tmp"));
    file.Add(text);
    RETURN_IF_ERROR(file.Flush());
    RETURN_IF_ERROR(file.Sync());
  }
  RETURN_IF_ERROR(env.Rename(path + ".tmp", path));
  return SyncDirOnce(env, DirName(path));
}

// "crawl" of "shelf/crawl/".
std::string NameOfDir(std::string dir) {
  while (dir.size() > 1 && dir.ends_with('/')) dir.pop_back();
  return dir.substr(dir.rfind('/') + 1);
}

Result<CrawlReport> MakeReport(const ReportFlags& flags, bool quiet) {
  ASSIGN_OR_RETURN(const CrawlSources crawl, OpenCrawlSources(flags.dir));
  Env& env = Env::Posix();
  ReportBuilder::Options build;
  ASSIGN_OR_RETURN(const uint64_t memory, ParseBytes(flags.memory));
  build.memory = memory / 2;
  build.scratch = TempDirectory();
  build.rows = flags.rows;
  auto told = std::chrono::steady_clock::now();
  build.progress = [&told, quiet](std::string_view step, uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (quiet || now - told < std::chrono::seconds(2)) return;
    told = now;
    fmt::print(stderr, "{}: {} …\n", step, FormatCount(static_cast<double>(done)));
  };
  ASSIGN_OR_RETURN(ReportBuilder builder, ReportBuilder::Create(env, build));
  RETURN_IF_ERROR(builder.ReadCrawlLog(crawl.CrawlLogs()));

  CrawlReport report;
  ASSIGN_OR_RETURN(const auto links, FindCommitted(env, crawl.LinkLogs()));
  if (!links.empty()) {
    RETURN_IF_ERROR(builder.ReadLinkLog(crawl.LinkLogs(), crawl.CrawlLogs()));
  } else {
    report.missing.emplace_back(
        "Links between domains, and every page that has a broken link, are known where the crawl was started with "
        "--set outputs.links=true.");
  }
  ASSIGN_OR_RETURN(const auto texts, FindCommitted(env, crawl.TextLogs()));
  if (!texts.empty()) {
    RETURN_IF_ERROR(builder.ReadTextLog(crawl.TextLogs()));
  } else {
    report.missing.emplace_back("Languages are known where the crawl was started with --set outputs.text=true.");
  }
  ASSIGN_OR_RETURN(report.tables, builder.Finish());
  report.name = NameOfDir(flags.dir);
  report.made = TimeOfCheckpoint(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
  report.generator = fmt::format("portolan {}", PORTOLAN_VERSION);
  return report;
}

Status WriteReport(const ReportFlags& flags, const CrawlReport& report) {
  if (!flags.html.empty()) {
    RETURN_IF_ERROR(WriteWhole(flags.html, ReportToHtml(report)));
    fmt::print(stderr, "{}: written; a browser shows it\n", flags.html);
  }
  if (!flags.csv.empty()) {
    RETURN_IF_ERROR(Env::Posix().CreateDirs(flags.csv));
    for (const ReportTable& table : report.tables) {
      RETURN_IF_ERROR(WriteWhole(JoinPath(flags.csv, table.id + ".csv"), TableToCsv(table)));
    }
    fmt::print(stderr, "{}: {} tables written\n", flags.csv, report.tables.size());
  }
  if (!flags.json && (!flags.html.empty() || !flags.csv.empty())) return {};
  const std::string text = flags.json ? ReportToJson(report) : ReportToText(report, flags.shown);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return Fail(ErrorCode::kIo, "standard output cannot be written");
  }
  return {};
}

}  // namespace

int RunReport(int argc, char** argv) {
  VerbApp app("report",
              "Prints what a crawl found and how it went: totals, statuses, server software, domains, links, types,\n"
              "duplicates, sizes, times, robots.txt, redirects, broken links with the pages that have them.\n"
              "Reads what the last checkpoint holds, whether the crawl runs or not.");
  ReportFlags flags;
  app->add_option("dir", flags.dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_flag("--json", flags.json, "As one JSON object on standard output");
  app->add_option("--html", flags.html, "Write one HTML page with plots, which loads nothing else")->type_name("FILE");
  app->add_option("--csv", flags.csv, "Write each table as TABLE.csv into this directory")->type_name("DIR");
  app->add_option("--rows", flags.rows,
                  "Rows of a table by name, such as domains or broken links; without this flag a terminal shows 10")
      ->type_name("N")
      ->check(CLI::Range(size_t{1}, size_t{1'000'000}))
      ->capture_default_str();
  app->add_option("--memory", flags.memory, "How much memory it may take; more than that is sorted in TMPDIR (or /tmp)")
      ->type_name("SIZE")
      ->capture_default_str()
      ->check(Checked(&ParseBytes, "SIZE"));
  app.Footer(
      "Links between domains need a crawl with outputs.links, languages one with outputs.text; without a link log a\n"
      "broken link is listed with the page on which it was found first.\n\n"
      "Examples:\n"
      "  portolan report crawl-example.org\n"
      "  portolan report crawl-example.org --html report.html\n"
      "  portolan report crawl-example.org --csv tables --rows 1000");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (app->count("--rows") > 0) flags.shown = flags.rows;
  const auto report = MakeReport(flags, app.quiet());
  if (!report) return Complain(report.error());
  const Status written = WriteReport(flags, *report);
  return written ? kExitOk : Complain(written.error());
}

}  // namespace portolan
