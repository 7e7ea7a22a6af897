// The parts of `portolan graph`, one line each: the functions behind the table in verb_graph.cc; and what several of
// them share. A file graph_NAME.cc has one part or a few that belong together.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/verb_app.h"
#include "follow/graph_files.h"
#include "io/stop_signals.h"

namespace portolan {

int RunGraphBuild(int argc, char** argv);
int RunGraphCheck(int argc, char** argv);
int RunGraphOut(int argc, char** argv);
int RunGraphIn(int argc, char** argv);
int RunGraphStats(int argc, char** argv);
int RunGraphRank(int argc, char** argv);
int RunGraphExport(int argc, char** argv);
int RunGraphImport(int argc, char** argv);

// The folder of the graph in a crawl's directory.
std::string GraphDirOf(const std::string& dir);
// The newest generation of the graph of the crawl in `dir`, or of an imported graph.
Result<std::unique_ptr<GraphFiles>> OpenGraphOf(const std::string& dir);

// --host and --domain.
class GraphLevelFlags {
 public:
  explicit GraphLevelFlags(VerbApp& app);
  GraphLevel level() const { return domain_ ? GraphLevel::kDomains : host_ ? GraphLevel::kHosts : GraphLevel::kPages; }

 private:
  bool host_ = false;
  bool domain_ = false;
};

// kNotFound: the graph, which was imported, has no hosts and no domains.
Status RequireGraphLevel(const GraphFiles& files, const std::string& dir, GraphLevel level);

// Names of nodes, in graphs that have some; else their numbers.
class GraphNodeNames {
 public:
  // `files` must outlive it.
  static Result<GraphNodeNames> Open(const GraphFiles& files, GraphLevel level);

  bool named() const { return names_.has_value(); }
  Result<std::string> Of(uint64_t node) const;
  // A value of JSON: the name in quotes, or the number.
  Result<std::string> JsonOf(uint64_t node) const;

 private:
  explicit GraphNodeNames(GraphLevel level) : level_(level) {}

  GraphLevel level_;
  std::optional<graph::UrlDictionary> names_;
};

// What long work says on standard error, at most once in two seconds. For work that leaves files behind also a request
// to stop (Ctrl-C), which it hands over as an error, so that they are removed.
class GraphWork {
 public:
  enum class Stop : uint8_t { kEndsTheProgram, kIsAnError };

  // `quiet`: says nothing.
  GraphWork(bool quiet, Stop stop);

  // kClosed: stop was asked for.
  Status Tell(std::string_view step, uint64_t done);
  // The exit code of an error, and what is said of it.
  int Complain(const Error& error, std::string_view kept) const;

 private:
  const bool quiet_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
  std::atomic<bool> stop_ = false;
  std::optional<StopSignals> signals_;
};

// --memory of parts whose work must fit: by default what this machine leaves to a program.
uint64_t DefaultGraphMemory();
void AddGraphMemoryFlag(VerbApp& app, std::string& memory);
// --precision of HyperBall's counters.
void AddPrecisionFlag(VerbApp& app, unsigned& log2m);
// The precision for a graph of so many nodes: as high as fits into 256 MiB and `room`, at most 14; at least 6 if that
// fits into `room`; else what does, 4 at the least.
unsigned ChooseLog2m(uint64_t nodes, uint64_t room);
// kBusy: `need` is more than `memory`; `advice` says what takes less.
Status RequireGraphMemory(std::string_view what, uint64_t need, uint64_t memory, std::string_view advice);

}  // namespace portolan
