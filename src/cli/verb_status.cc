// portolan status: how a crawl stands, from its directory, whether it runs or not.

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_session.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "crawl/engine.h"
#include "io/env.h"

namespace portolan {
namespace {

// Another process holds the state's lock: it runs.
bool IsRunning(const std::string& dir) {
  const std::string lock = JoinPath(JoinPath(dir, "state"), kStateLock);
  if (!Env::Posix().Exists(lock)) return false;
  const auto held = Env::Posix().Lock(lock);
  return !held && held.error().code() == ErrorCode::kBusy;
}

void PrintTable(const nlohmann::ordered_json& status, const std::string& dir, bool running) {
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
  std::string outcomes;
  if (status.contains("done")) {
    for (const auto& [name, count] : status["done"].items()) {
      if (count.get<uint64_t>() > 0)
        outcomes += fmt::format("{}{} {}", outcomes.empty() ? "" : ", ", count.dump(), name);
    }
  }
  fmt::print("  ended      {}{} robots_denied\n", outcomes,
             fmt::format("{}{}", outcomes.empty() ? "" : ", ", status.value("robots_denied", 0ULL)));
  const uint64_t left =
      status.value("waiting", 0ULL) + status.value("at_gate", 0ULL) + status.value("unanswered", 0ULL);
  if (!running && (left > 0 || state != "done")) fmt::print("  go on      portolan resume {}\n", dir);
}

}  // namespace

int RunStatus(int argc, char** argv) {
  VerbApp app("status", "Says how a crawl stands, running or not.");
  std::string dir;
  bool json = false;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  app->add_flag("--json", json, "As one JSON object");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (!Env::Posix().Exists(JoinPath(dir, kConfigFile))) {
    PrintError(fmt::format("{}: there is no crawl here (no {})", dir, kConfigFile));
    return kExitBadInput;
  }
  const std::string path = JoinPath(dir, kStatusFile);
  const auto text = ReadWholeFile(Env::Posix(), path);
  if (!text) return Complain(text.error());
  nlohmann::ordered_json status = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (!status.is_object()) {
    PrintError(path + ": is no status");
    return kExitBadInput;
  }
  const bool running = IsRunning(dir);
  if (json) {
    status["process_running"] = running;
    fmt::print("{}\n", status.dump(2));
  } else {
    PrintTable(status, dir, running);
  }
  return kExitOk;
}

}  // namespace portolan
