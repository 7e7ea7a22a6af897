#include "cli/graph_parts.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/log.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/limits.h"
#include "follow/graph_names.h"
#include "graph/hyper_ball.h"
#include "graph/hyper_log_log.h"

namespace portolan {

GraphLevelFlags::GraphLevelFlags(VerbApp& app) {
  app->add_flag("--host", host_, "The graph of hosts");
  app->add_flag("--domain", domain_, "The graph of pay-level domains")->excludes("--host");
}

Status RequireGraphLevel(const GraphFiles& files, const std::string& dir, GraphLevel level) {
  if (files.Has(level)) return {};
  return Fail(ErrorCode::kNotFound, fmt::format("{}: this graph was imported: it has nodes with numbers, but no {}",
                                                dir, GraphLevelName(level)));
}

Result<GraphNodeNames> GraphNodeNames::Open(const GraphFiles& files, GraphLevel level) {
  GraphNodeNames names(level);
  if (files.HasNames(level)) {
    ASSIGN_OR_RETURN(names.names_, files.Names(level));
  }
  return names;
}

Result<std::string> GraphNodeNames::Of(uint64_t node) const {
  if (!names_) return fmt::format("{}", node);
  std::string key;
  RETURN_IF_ERROR(names_->Get(node, key));
  return NodeNameOfKey(level_, key);
}

Result<std::string> GraphNodeNames::JsonOf(uint64_t node) const {
  ASSIGN_OR_RETURN(std::string name, Of(node));
  return names_ ? JsonQuote(name) : name;
}

GraphWork::GraphWork(bool quiet, Stop stop) : quiet_(quiet) {
  if (stop == Stop::kIsAnError) signals_.emplace([this](int /*request*/) { stop_ = true; });
}

Status GraphWork::Tell(std::string_view step, uint64_t done) {
  if (stop_) return Fail(ErrorCode::kClosed, "stopped");
  const auto now = std::chrono::steady_clock::now();
  if (quiet_ || now - told_ < std::chrono::seconds(2)) return {};
  told_ = now;
  fmt::print(stderr, "{}: {} …\n", step, FormatCount(static_cast<double>(done)));
  return {};
}

int GraphWork::Complain(const Error& error, std::string_view kept) const {
  if (error.code() != ErrorCode::kClosed) return portolan::Complain(error);
  PrintError(fmt::format("stopped by a signal; {}", kept));
  return kExitSystem;
}

uint64_t DefaultGraphMemory() {
  const uint64_t limit = MemoryLimit("");
  return limit == 0 ? uint64_t{1} << 30 : SafeMemory(limit);
}

void AddGraphMemoryFlag(VerbApp& app, std::string& memory) {
  app->add_option("--memory", memory, "The most that it may take; by default three quarters of the machine's")
      ->type_name("SIZE")
      ->check(Checked(&ParseBytes, "SIZE"));
}

void AddPrecisionFlag(VerbApp& app, unsigned& log2m) {
  app->add_option("--precision", log2m,
                  "Of distances: 2^BITS registers of a byte per node. By default what fits into 256 MiB, 6 to 14")
      ->type_name("BITS")
      ->check(CLI::Range(graph::kMinLog2m, graph::kMaxLog2m));
}

unsigned ChooseLog2m(uint64_t nodes, uint64_t room) {
  constexpr uint64_t kQuick = uint64_t{256} << 20;  // so that small graphs are measured well, and no graph slowly
  constexpr unsigned kUsual = 6;
  constexpr unsigned kBest = 14;
  unsigned log2m = kUsual;
  while (log2m < kBest && graph::HyperBallBytes(nodes, log2m + 1) <= std::min(kQuick, room)) ++log2m;
  while (log2m > graph::kMinLog2m && graph::HyperBallBytes(nodes, log2m) > room) --log2m;
  return log2m;
}

Status RequireGraphMemory(std::string_view what, uint64_t need, uint64_t memory, std::string_view advice) {
  if (need <= memory) return {};
  return Fail(ErrorCode::kBusy,
              fmt::format("{} takes {} of memory, and --memory allows {}{}{}", what, FormatBytes(need),
                          FormatBytes(memory), advice.empty() ? "" : "; ", advice));
}

}  // namespace portolan
