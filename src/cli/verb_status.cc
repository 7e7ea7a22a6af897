// portolan status: how a crawl stands, from its directory, whether it runs or not.

#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_dir.h"
#include "cli/crawl_place.h"
#include "cli/phase_words.h"
#include "cli/shard_dirs.h"
#include "cli/status_file.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "crawl/progress.h"
#include "crawl/wiring.h"
#include "io/env.h"
#include "io/small_file.h"

namespace portolan {
namespace {

using Json = nlohmann::ordered_json;

Json ListOf(const Json& status, const char* key) {
  return status.contains(key) && status[key].is_array() ? status[key] : Json::array();
}

uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  return error ? 0 : size;
}

// What the crawl takes on disk, by part. Files that go while they are counted count for nothing.
Json DiskUsage(const std::string& dir) {
  const auto bytes_below = [](const std::string& path) {
    uint64_t bytes = 0;
    const auto names = Env::Posix().List(path);
    if (!names) return bytes;
    for (const std::string& name : *names) {
      bytes += SizeOf(JoinPath(path, name));
    }
    return bytes;
  };
  uint64_t archive = 0;
  if (const auto config = LoadCrawlConfig(dir)) {
    for (const std::string& directory : config->archive.directories) {
      archive += bytes_below(ArchiveDirectory(dir, directory));
    }
  }
  return {{"archive", archive},
          {"log", bytes_below(JoinPath(dir, "log"))},
          {"links", bytes_below(JoinPath(dir, "links"))},
          {"text", bytes_below(JoinPath(dir, "text"))},
          {"state", bytes_below(StateDirOf(dir))},
          {"index", SizeOf(JoinPath(dir, "index.cdxj"))}};
}

void PrintTable(const Json& status, const std::string& dir, bool running) {
  const std::string state = status.value("state", "?");
  fmt::print("{}: {}{}\n", dir, running && !state.starts_with("paused") ? "running" : state,
             !running && (state == "stopping" || state.starts_with("running") || state.starts_with("paused"))
                 ? ", but no process works on it: it broke off"
                 : "");
  fmt::print("  pages      {} in {} ({:.1f}/s in the last run)\n", status.value("pages", 0ULL),
             FormatDuration(status.value("seconds", 0.0)), status.value("pages_per_s", 0.0));
  fmt::print("  received   {}\n", FormatBytes(status.value("wire_bytes", 0ULL)));
  fmt::print("  known      {} URLs: {} waiting, {} at robots.txt, {} unchecked, {} in flight\n",
             status.value("urls_seen", 0ULL), status.value("waiting", 0ULL), status.value("at_gate", 0ULL),
             status.value("unanswered", 0ULL), status.value("in_flight", 0ULL));
  if (const uint64_t parked = status.value("parked", 0ULL); parked > 0) {
    fmt::print("  parked     {} of forms that gave nothing new (docs/traps.md)\n", Counted(parked, "URL"));
    for (const Json& form : ListOf(status, "parked_forms")) fmt::print("             {}\n", form.value("words", "?"));
  }
  if (const uint64_t scheduled = status.value("scheduled", 0ULL); scheduled > 0 || status.value("continuous", false)) {
    fmt::print("  scheduled  {} for another visit, {} due now, {} under way{} ('portolan fresh')\n",
               Counted(scheduled, "page"), status.value("due", 0ULL), status.value("visiting", 0ULL),
               status.value("continuous", false) ? "" : "; the crawl does not come back to them (crawl.continuous)");
  }
  std::string outcomes;
  if (status.contains("done")) {
    for (const auto& [name, count] : status["done"].items()) {
      if (count.get<uint64_t>() > 0)
        outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count.dump(), name);
    }
  }
  for (const char* name : {"robots_denied", "robots_unreachable", "excluded", "mirrored", "renamed"}) {
    const uint64_t count = status.value(name, 0ULL);
    if (count > 0 || std::string_view(name) == "robots_denied") {
      outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count, name);
    }
  }
  fmt::print("  ended      {}\n", outcomes);
  fmt::print("  fetches    {}: {} of robots.txt, {} tried again\n", status.value("fetches", 0ULL),
             status.value("robots_fetches", 0ULL), status.value("retries", 0ULL));
  if (const uint64_t copies = status.value("duplicates", 0ULL) + status.value("late_duplicates", 0ULL); copies > 0) {
    const uint64_t late = status.value("late_duplicates", 0ULL);
    fmt::print("  duplicates {} of pages that were fetched before{}\n", copies,
               late > 0 ? fmt::format(", {} of them found after they were stored", late) : "");
  }
  if (const uint64_t near = status.value("near_duplicates", 0ULL); near > 0) {
    fmt::print("  near       {} with nearly the text of another one ('portolan dups' lists them)\n",
               Counted(near, "page"));
  }
  if (const uint64_t revisits = status.value("revisits", 0ULL); revisits > 0) {
    fmt::print("  revisits   {}: {} not modified, {} with the same bytes, {} gone; {} were conditional\n", revisits,
               status.value("not_modified", 0ULL), status.value("unchanged", 0ULL), status.value("gone", 0ULL),
               status.value("conditional", 0ULL));
  }
  fmt::print("  links      {} found, {} out of scope\n", status.value("links", 0ULL),
             status.value("out_of_scope", 0ULL));
  fmt::print("  hosts      {}{} crawled in the last run, {} in memory\n", status.value("hosts_crawled", 0ULL),
             status.value("hosts_counted", true) ? "" : " or more", status.value("hosts", 0ULL));
  for (const Json& host : ListOf(status, "top_hosts")) {
    fmt::print("             {}: {} ({:.1f}/s), {}\n", host.value("host", "?"),
               Counted(host.value("pages", 0ULL), "page"), host.value("pages_per_s", 0.0),
               FormatBytes(host.value("bytes", 0ULL)));
  }
  if (const std::string trouble = status.value("block_list_trouble", ""); !trouble.empty()) {
    fmt::print("  beware     the last good block lists are in force: {}\n", trouble);
  }
  if (const uint64_t forgotten = status.value("limits_forgotten", 0ULL); forgotten > 0) {
    fmt::print("  beware     the page counts of {} were forgotten for lack of memory (memory.total)\n",
               Counted(forgotten, "host"));
  }
  if (const uint64_t shards = status.value("shards", 1ULL); shards > 1) fmt::print("  shards     {}\n", shards);
  if (status.contains("phases") && status["phases"].is_object()) {
    fmt::print("  phases     {}\n", PhaseWords(status["phases"], running));
  }
  if (status.value("turns", 0ULL) > 0) {
    const std::string part = status.value("longest_turn_in", "");
    fmt::print("  turns      p50 {:.0f} us, p99 {:.0f} us, longest {:.1f} ms{} in the last run\n",
               status.value("turn_p50_us", 0.0), status.value("turn_p99_us", 0.0), status.value("turn_max_ms", 0.0),
               part.empty() ? "" : fmt::format(" (most of it: {})", part));
  }
  const Json slowest = status.value("slowest_host", Json());
  if (running && slowest.is_object() && slowest.value("waiting", 0ULL) > 1) {
    fmt::print("  slowest    {}: {} waiting, one every {}\n", slowest.value("host", "?"),
               slowest.value("waiting", 0ULL), FormatDuration(slowest.value("gap_s", 0.0)));
  }
  if (running) {
    for (const Json& url : ListOf(status, "fetching")) fmt::print("  fetching   {}\n", url.value("url", "?"));
    for (const Json& url : ListOf(status, "waiting_for")) fmt::print("  waiting    for {}\n", url.value("words", "?"));
  }
  for (const Json& host : ListOf(status, "unreachable_hosts")) {
    fmt::print("  given up   {} ({})\n", host.value("what", "?"), host.value("why", "?"));
  }
  for (const Json& left_out : ListOf(status, "left_out")) fmt::print("  left out   {}\n", left_out.value("words", "?"));
  if (status.contains("disk")) {
    std::string parts;
    for (const auto& [name, bytes] : status["disk"].items()) {
      if (bytes.get<uint64_t>() == 0) continue;  // a log that is switched off
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", name, FormatBytes(bytes.get<uint64_t>()));
    }
    fmt::print("  disk       {}\n", parts);
  }
  const uint64_t left =
      status.value("waiting", 0ULL) + status.value("at_gate", 0ULL) + status.value("unanswered", 0ULL);
  if (!running && (left > 0 || state != "done")) fmt::print("  go on      portolan resume {}\n", dir);
}

// The shards that are in one directory, with their sum.
int StatusOfShards(const std::string& dir, const std::vector<std::string>& shards, bool json) {
  constexpr const char* kSummed[] = {"pages",   "wire_bytes", "fetches",    "urls_seen",
                                     "waiting", "at_gate",    "unanswered", "in_flight"};
  Json sum = {{"shards", Json::array()}};
  for (const char* const name : kSummed) sum[name] = uint64_t{0};
  for (const std::string& shard : shards) {
    const auto text = ReadWholeFile(Env::Posix(), JoinPath(shard, kStatusFile));
    Json status = text ? Json::parse(*text, nullptr, false) : Json::object();
    if (!status.is_object()) status = Json::object();
    status["directory"] = shard;
    status["process_running"] = IsRunning(shard);
    for (const char* const name : kSummed) sum[name] = sum[name].get<uint64_t>() + status.value(name, uint64_t{0});
    sum["shards"].push_back(std::move(status));
  }
  if (json) {
    fmt::print("{}\n", sum.dump(2));
    return kExitOk;
  }
  fmt::print("{}: {} shards\n", dir, shards.size());
  fmt::print("  pages      {}, {} received\n", sum["pages"].get<uint64_t>(),
             FormatBytes(sum["wire_bytes"].get<uint64_t>()));
  fmt::print("  known      {} URLs: {} waiting, {} at robots.txt, {} unchecked, {} in flight\n",
             sum["urls_seen"].get<uint64_t>(), sum["waiting"].get<uint64_t>(), sum["at_gate"].get<uint64_t>(),
             sum["unanswered"].get<uint64_t>(), sum["in_flight"].get<uint64_t>());
  for (const Json& status : sum["shards"]) {
    fmt::print("  {}: {}{}, {}, {} waiting\n", status.value("directory", "?"), status.value("state", "?"),
               status.value("process_running", false) ? "" : " (no process works on it)",
               Counted(status.value("pages", 0ULL), "page"), status.value("waiting", 0ULL));
    if (status.contains("phases") && status["phases"].is_object()) {
      fmt::print("    phases   {}\n", PhaseWords(status["phases"], status.value("process_running", false)));
    }
  }
  fmt::print("  more       portolan status {}\n", shards.front());
  return kExitOk;
}

}  // namespace

int RunStatus(int argc, char** argv) {
  VerbApp app("status", "Says how a crawl stands, running or not.");
  std::string dir;
  bool json = false;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  app->add_flag("--json", json, "As one JSON object");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (const std::vector<std::string> shards = ShardDirsIn(dir); !shards.empty())
    return StatusOfShards(dir, shards, json);
  if (!Env::Posix().Exists(JoinPath(dir, kConfigFile))) {
    PrintError(fmt::format("{}: there is no crawl here (no {})", dir, kConfigFile));
    return kExitBadInput;
  }
  if (const Status format = CheckFormat(dir); !format) return Complain(format.error());
  const std::string path = JoinPath(dir, kStatusFile);
  const auto text = ReadWholeFile(Env::Posix(), path);
  if (!text) return Complain(text.error());
  nlohmann::ordered_json status = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (!status.is_object()) {
    PrintError(path + ": is no status");
    return kExitBadInput;
  }
  const bool running = IsRunning(dir);
  status["disk"] = DiskUsage(dir);
  if (json) {
    status["process_running"] = running;
    fmt::print("{}\n", status.dump(2));
  } else {
    PrintTable(status, dir, running);
  }
  return kExitOk;
}

}  // namespace portolan
