// portolan disk: reads any file of the disk structures and prints its contents, or what is wrong and where.

#include <fmt/core.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "crawl/engine.h"
#include "disk/inspect.h"
#include "disk/manifest.h"
#include "io/env.h"

namespace portolan {
namespace {

// The files of a crawl's state that the newest manifest names; none: the folder has no manifest.
std::optional<std::set<std::string>> CommittedFiles(const std::string& dir) {
  const auto manifest = Manifest::Read(Env::Posix(), dir);
  if (!manifest || manifest->sequence() == 0) return std::nullopt;
  std::set<std::string> files;
  for (const ManifestSection& section : manifest->sections()) {
    for (const ManifestSection::FileEntry& file : section.files) files.insert(JoinPath(dir, file.name));
  }
  for (const std::string& name : Env::Posix().List(dir).value_or(std::vector<std::string>())) {
    if (IsManifestName(name)) files.insert(JoinPath(dir, name));
  }
  return files;
}

int Check(const std::vector<std::string>& paths, bool json) {
  bool sound = true;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::string& path : paths) {
    // A folder stands for the files in it, except a crawl's lock file, which is empty.
    std::vector<std::string> files = {path};
    if (const auto names = Env::Posix().List(path)) {
      files.clear();
      for (const std::string& name : *names) {
        if (name != kStateLock) files.push_back(JoinPath(path, name));
      }
    }
    const std::optional<std::set<std::string>> committed = CommittedFiles(path);
    for (const std::string& file : files) {
      const auto report = CheckFile(Env::Posix(), file);
      if (!report && committed && !committed->contains(file)) {
        // Recovery removes it.
        if (json) {
          rows.push_back({{"file", file}, {"ok", true}, {"kind", "not part of the checkpoint"}});
        } else {
          fmt::print("{}: not part of the checkpoint: an interrupted crawl left it\n", file);
        }
        continue;
      }
      sound = sound && report.has_value();
      if (json) {
        nlohmann::ordered_json row = {{"file", file}, {"ok", report.has_value()}};
        if (report) {
          row.update({{"kind", report->kind},
                      {"bytes", report->bytes},
                      {"blocks", report->blocks},
                      {"records", report->records}});
        } else {
          row["error"] = report.error().message();
        }
        rows.push_back(std::move(row));
      } else if (report) {
        fmt::print("{}: ok, {}, {}, {} blocks, {} records\n", file, report->kind, FormatBytes(report->bytes),
                   report->blocks, report->records);
      } else {
        PrintError(report.error().message());
      }
    }
  }
  if (json) fmt::print("{}\n", rows.dump());
  return sound ? kExitOk : kExitVerdict;
}

}  // namespace

int RunDisk(int argc, char** argv) {
  VerbApp app("disk", "Inspects the files of DRUM, the disk queues and the manifest.");
  app->require_subcommand(1);
  std::vector<std::string> paths;
  std::string dump_path;
  uint64_t limit = 20;
  bool json = false;
  CLI::App* check = app->add_subcommand("check", "read whole files, verify all checksums and orders");
  check->add_option("FILE", paths, "files, or folders of them")->required();
  check->add_flag("--json", json, "one JSON array of results");
  CLI::App* dump = app->add_subcommand("dump", "print blocks and records");
  dump->add_option("FILE", dump_path, "the file")->required();
  dump->add_option("--limit", limit, "records to print")->capture_default_str();
  app.Footer(
      "Exit code 1 when check finds a fault.\n\n"
      "Examples:\n"
      "  portolan disk check crawl/state/\n"
      "  portolan disk dump crawl/state/urlseen-000012.z --limit 5");
  if (const auto code = app.Parse(argc, argv)) return *code;
  if (check->parsed()) return Check(paths, json);
  const Status status =
      DumpFile(Env::Posix(), dump_path, limit, [](const std::string& line) { fmt::print("{}\n", line); });
  return status ? kExitOk : Complain(status.error());
}

}  // namespace portolan
