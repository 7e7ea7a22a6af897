// portolan index check and stats.

#include <fmt/core.h>

#include <chrono>
#include <string>

#include "base/log.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/index_parts.h"
#include "cli/verb_app.h"
#include "index/index_check.h"
#include "io/env.h"

namespace portolan {
namespace {

constexpr size_t kMostLanguages = 12;

std::string IndexStatsJson(const IndexStats& stats) {
  std::string out = fmt::format(R"({{"generation":{},"building":{},"documents":{},"bytes":{},"parts":[)",
                                stats.generation, stats.building, stats.documents(), stats.bytes());
  for (const IndexPartStats& part : stats.parts) {
    out += fmt::format(
        R"({}{{"path":{},{}"documents":{},"terms":{},"mean_length":{:.1f},"bytes":{},"text_serial":{},"text_offset":{},)"
        R"("log_serial":{},"log_offset":{},"inlinks":{}}})",
        &part == &stats.parts[0] ? "" : ",", JsonQuote(part.path),
        part.shard.empty() ? "" : fmt::format(R"("shard":{},)", JsonQuote(part.shard)), part.documents, part.terms,
        part.mean_length, part.bytes, part.state.text.serial, part.state.text.offset, part.state.log.serial,
        part.state.log.offset, JsonQuote(part.state.inlinks));
  }
  out += R"(],"languages":{)";
  for (size_t i = 0; i < stats.languages.size(); ++i) {
    out += fmt::format("{}{}:{}", i == 0 ? "" : ",", JsonQuote(stats.languages[i].first), stats.languages[i].second);
  }
  return out + "}}\n";
}

std::string IndexStatsText(const std::string& dir, const IndexStats& stats) {
  std::string out = fmt::format("{}: generation {}: {} documents, {}\n", dir, stats.generation, stats.documents(),
                                FormatBytes(stats.bytes()));
  if (stats.building != 0) {
    out += fmt::format("  generation {} is being built: 'portolan index build {}' goes on\n", stats.building, dir);
  }
  for (size_t i = 0; i < stats.parts.size(); ++i) {
    const IndexPartStats& part = stats.parts[i];
    out += fmt::format(
        "  {} {:>10} documents of {:.0f} words, {} different terms, {}; text log up to file {}, "
        "byte {}\n",
        part.shard.empty() ? fmt::format("part {:<4}", i) : fmt::format("part {:<4} {}", i, part.shard), part.documents,
        part.mean_length, part.terms, FormatBytes(part.bytes), part.state.text.serial, part.state.text.offset);
  }
  for (const auto& [language, documents] : stats.languages) {
    out += fmt::format("  {:<9} {:>10} documents\n", language, documents);
  }
  return out;
}

}  // namespace

int RunIndexCheck(int argc, char** argv) {
  VerbApp app("index check",
              "Reads every block and every document of a crawl's search index. Xapian's blocks have no checksums: a\n"
              "changed byte that leaves the structure whole is not found.");
  std::string dir;
  bool json = false;
  bool deep = false;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  app->add_flag("--deep", deep, "Also the places of all words, one by one: some 10 ms per document");
  app->add_flag("--json", json, "As one JSON object");
  app.Footer(
      "The sum of the contents is equal for indexes that hold the same documents, whatever their order and parts.\n"
      "An index is made from the crawl's logs, and can always be made again: portolan index build --rebuild DIR\n\n"
      "Example:\n"
      "  portolan index check crawl-example.org");
  if (const auto code = app.Parse(argc, argv)) return *code;
  auto told = std::chrono::steady_clock::now();
  const auto checked = CheckIndex(Env::Posix(), IndexDirOf(dir), deep, [&](std::string_view step, uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (app.quiet() || now - told < std::chrono::seconds(2)) return;
    told = now;
    fmt::print(stderr, "{}: {} …\n", step, FormatCount(static_cast<double>(done)));
  });
  if (!checked) {
    const int code = Complain(checked.error());
    return checked.error().code() == ErrorCode::kCorrupt ? kExitVerdict : code;
  }
  if (json) {
    fmt::print("{{\"documents\":{},\"contents\":\"{:016x}\"}}\n", checked->documents, checked->sum);
  } else {
    fmt::print("{}: {} documents are intact; sum of their contents {:016x}\n", dir, checked->documents, checked->sum);
  }
  return kExitOk;
}

int RunIndexStats(int argc, char** argv) {
  VerbApp app("index stats", "What a crawl's search index holds, and up to where the text log is in it.");
  std::string dir;
  bool json = false;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  app->add_flag("--json", json, "As one JSON object");
  app.Footer("Example:\n  portolan index stats crawl-example.org --json");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto stats = ReadIndexStats(Env::Posix(), IndexDirOf(dir), kMostLanguages);
  if (!stats) return Complain(stats.error());
  fmt::print("{}", json ? IndexStatsJson(*stats) : IndexStatsText(dir, *stats));
  return kExitOk;
}

}  // namespace portolan
