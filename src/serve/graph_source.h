// GraphSource: the newest generation of a link graph, while new ones are built.
//
// CURRENT is read at most once per kCheckNs, by the request that comes next; it and the lengths of the files are
// compared with what is open. When they differ the graph is opened again. Requests that are at work keep the generation
// with which they began, and its files stay mapped until the last of them ends. A graph that cannot be opened is an
// error of every request, until a check finds it intact: the old generation is not used in its place, since what is
// damaged should be noticed.
//
// Thread: any number. Memory bound: per level and direction that was asked for, 8 bits per node; per thread a GraphLook
// (follow/graph_look.h). Lists of more than kLongList links are decoded one at a time (OpenGraph::long_list), and what
// decoded one is not kept: so the memory is 8 bytes times four times kLongList per thread, and four times the longest
// list once. Twice that while a generation is replaced.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "follow/graph_files.h"
#include "follow/graph_look.h"
#include "io/clock.h"
#include "io/env.h"

namespace portolan {

// One generation, opened.
class OpenGraph {
 public:
  static constexpr uint64_t kLongList = 1 << 20;

  explicit OpenGraph(std::unique_ptr<GraphFiles> files) : files_(std::move(files)) {}

  const GraphFiles& files() const { return *files_; }

  // A look at a level in a direction; only for the calling thread, and not longer than the OpenGraph.
  Result<std::unique_ptr<GraphLook>> Take(GraphLevel level, GraphDirection direction);
  // Gives it back for the next request.
  void Return(GraphLevel level, GraphDirection direction, std::unique_ptr<GraphLook> look);

  std::mutex& long_list() { return long_list_; }

 private:
  struct Slot {
    std::mutex mutex;
    std::unique_ptr<const LinkView> view;
    std::vector<std::unique_ptr<GraphLook>> idle;  // as many as there were requests at once
  };
  Slot& SlotOf(GraphLevel level, GraphDirection direction) {
    return slots_[2 * static_cast<size_t>(level) + static_cast<size_t>(direction)];
  }

  const std::unique_ptr<GraphFiles> files_;
  std::array<Slot, 6> slots_;
  std::mutex long_list_;
};

class GraphSource {
 public:
  static constexpr int64_t kCheckNs = kSecond;

  // `graph_dir` is DIR/graph; it need not be there yet.
  GraphSource(Env& env, const Clock& clock, std::string graph_dir)
      : env_(env), clock_(clock), dir_(std::move(graph_dir)) {}

  // kNotFound: there is no graph (yet). kCorrupt: a file is damaged; it is named.
  Result<std::shared_ptr<OpenGraph>> Current();
  // The next call of Current opens the files again: what is mapped is no longer what they hold.
  void Reopen();

 private:
  Result<std::shared_ptr<OpenGraph>> Look(const Result<std::shared_ptr<OpenGraph>>& last);

  Env& env_;
  const Clock& clock_;
  const std::string dir_;
  std::mutex mutex_;  // guards what follows
  bool checked_ = false;
  int64_t checked_at_ = 0;
  Result<std::shared_ptr<OpenGraph>> last_ = std::shared_ptr<OpenGraph>();
};

}  // namespace portolan
