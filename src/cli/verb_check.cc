// portolan check: is a crawl's directory intact?

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "base/units.h"
#include "cli/build_info.h"
#include "cli/cli.h"
#include "cli/crawl_dir.h"
#include "cli/shard_dirs.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "crawl/crawl_check.h"
#include "crawl/progress.h"
#include "crawl/wiring.h"
#include "io/clock.h"
#include "io/env.h"

namespace portolan {
namespace {

// A progress line on standard error that is overwritten, for checks that take long.
class ProgressLine {
 public:
  ProgressLine() : on_(::isatty(STDERR_FILENO) == 1), shown_ns_(Clock::Real().NowNs()) {}
  ~ProgressLine() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(uint64_t read, uint64_t all) {
    if (!on_ || all == 0) return;
    const int64_t now = Clock::Real().NowNs();
    if (now - shown_ns_ < kEveryNs) return;
    shown_ns_ = now;
    shown_ = true;
    fmt::print(stderr, "\rchecked {} of {}, {:.0f} %\x1b[K", FormatBytes(read), FormatBytes(all),
               std::min(100.0, 100.0 * static_cast<double>(read) / static_cast<double>(all)));
  }

 private:
  static constexpr int64_t kEveryNs = 250'000'000;
  bool on_;
  bool shown_ = false;
  int64_t shown_ns_;
};

std::string ToJson(const CrawlCheck& check, bool repaired) {
  nlohmann::ordered_json json;
  json["ok"] = check.ok();
  json["error_count"] = check.error_count;
  json["errors"] = check.errors;
  json["checkpoint"] = check.sequence;
  json["state_files"] = check.state_files;
  json["urls_known"] = check.urls_known;
  json["urls_done"] = check.urls_done;
  json["urls_waiting"] = check.urls_waiting;
  json["warc_files"] = check.archive.warc_files;
  json["warc_records"] = check.archive.warc_records;
  json["captures"] = check.archive.captures;
  json["captures_repeated"] = check.archive.repeated;
  json["record_ids_repeated"] = check.archive.repeated_ids;
  json["cdxj_lines"] = check.archive.cdxj_lines;
  json["index_lines"] = check.archive.merged_lines;
  json["log_lines"] = check.archive.log_lines;
  json["link_log_pages"] = check.logs.link_pages;
  json["link_log_links"] = check.logs.links;
  json["text_log_pages"] = check.logs.text_pages;
  json["torn_bytes"] = check.torn_bytes;
  json["torn"] = nlohmann::ordered_json::array();
  for (const CrawlCheck::Torn& torn : check.torn) {
    json["torn"].push_back({{"file", torn.path}, {"bytes", torn.bytes}, {"removed", torn.whole}});
  }
  json["repaired"] = repaired;
  return json.dump(2);
}

void Print(const CrawlCheck& check, const std::string& dir, bool repaired) {
  for (const std::string& error : check.errors) fmt::print("{}\n", error);
  if (check.error_count > check.errors.size()) fmt::print("… and {} more\n", check.error_count - check.errors.size());
  fmt::print("{}: {}\n", dir, check.ok() ? "whole" : fmt::format("{} errors", check.error_count));
  fmt::print("  state      checkpoint {}, {} files\n", check.sequence, check.state_files);
  fmt::print("  known      {} URLs: {} done, {} waiting\n", check.urls_known, check.urls_done, check.urls_waiting);
  fmt::print("  archive    {} in {}, {}, {} in the index\n", Counted(check.archive.warc_records, "record"),
             Counted(check.archive.warc_files, "file"), Counted(check.archive.captures, "capture"),
             check.archive.cdxj_lines);
  if (check.archive.repeated > 0)
    fmt::print("  repeated   {} captures of a URL that was there\n", check.archive.repeated);
  fmt::print("  log        {} lines\n", check.archive.log_lines);
  if (check.logs.link_pages > 0) {
    fmt::print("  links      {} of {}\n", Counted(check.logs.links, "link"), Counted(check.logs.link_pages, "page"));
  }
  if (check.logs.text_pages > 0) fmt::print("  text       {}\n", Counted(check.logs.text_pages, "page"));
  if (check.torn.empty()) return;
  fmt::print("  torn       {} after the checkpoint, in {} files: {}\n", FormatBytes(check.torn_bytes),
             check.torn.size(), repaired ? "cut" : "'portolan resume' cuts it and fetches those pages again");
}

int CheckOne(const std::string& dir, CrawlCheckOptions how, bool json, bool more) {
  const auto config = LoadCrawlConfig(dir);
  if (!config) return Complain(config.error());
  const auto options = WireCrawl(*config, dir, config->crawl.seeds, PORTOLAN_VERSION);
  if (!options) return Complain(options.error());
  Result<CrawlCheck> check;
  {
    ProgressLine line;
    how.temp_dir = TempDirectory();
    how.progress = [&](uint64_t read, uint64_t all) { line.Show(read, all); };
    check = CheckCrawl(Env::Posix(), *options, how);
  }
  if (!check) return Complain(check.error());
  const bool repaired = how.repair && check->ok();
  if (json) {
    fmt::print("{}{}\n", ToJson(*check, repaired), more ? "," : "");
  } else {
    Print(*check, dir, repaired);
  }
  return check->ok() ? kExitOk : kExitVerdict;
}

// Each directory is checked alone; the worst answer is that of all. As JSON it is an array.
int CheckAll(const std::vector<std::string>& dirs, const CrawlCheckOptions& how, bool json) {
  int worst = kExitOk;
  if (json) fmt::print("[\n");
  for (size_t i = 0; i < dirs.size(); ++i) worst = std::max(worst, CheckOne(dirs[i], how, json, i + 1 < dirs.size()));
  if (json) fmt::print("]\n");
  return worst;
}

}  // namespace

int RunCheck(int argc, char** argv) {
  VerbApp app("check",
              "Reads everything that a crawl keeps and reports whether it is intact: checkpoint, queues, seen\n"
              "URLs, every WARC record with its digests and its id, every index line, the log. Changes nothing.\n"
              "Data that a crash left after the last checkpoint is reported and is not an error. Exit code 1 if\n"
              "anything is damaged.");
  std::string dir;
  bool json = false;
  CrawlCheckOptions how;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  app->add_flag("--json", json, "As one JSON object");
  app->add_flag("--repair", how.repair, "Cut what comes after the last checkpoint, as 'resume' would");
  app.Footer(
      "Example:\n"
      "  portolan check crawl-example.org\n"
      "Record ids and index lines are compared in 128 MiB of memory; for more than a million of them\n"
      "temporary files in TMPDIR (or /tmp) take 32 bytes each.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (const std::vector<std::string> shards = ShardDirsIn(dir); !shards.empty()) return CheckAll(shards, how, json);
  return CheckOne(dir, how, json, /*more=*/false);
}

}  // namespace portolan
