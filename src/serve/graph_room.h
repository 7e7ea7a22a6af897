// GraphRoom: the link graph of a crawl over HTTP: /graph/out and /graph/in (docs/serve.md).
//
//   GET  /graph/in?url=https://example.org/&limit=10      the links to one page
//   GET  /graph/out?url=…&url=…                           of several
//   POST /graph/out?level=host   ["example.org", …]       of up to kMaxBatch
//
// Bounds: kMaxBatch URLs per request (more: 413); kMaxLimit links per URL and answer (more: 400; `next` says where the
// next request goes on); kMaxAnswer bytes per answer: it ends with the link that reaches it, and `next` or `rest` say
// where to go on.
//
// Thread: any number.

#pragma once

#include <string>
#include <vector>

#include "serve/graph_source.h"
#include "serve/router.h"

namespace portolan {

class GraphRoom : public Room {
 public:
  static constexpr size_t kMaxBatch = 10'000;
  static constexpr uint64_t kDefaultLimit = 100;
  static constexpr uint64_t kMaxLimit = 100'000;
  static constexpr size_t kMaxAnswer = size_t{16} << 20;

  GraphRoom(Env& env, const Clock& clock, std::string graph_dir) : source_(env, clock, std::move(graph_dir)) {}

  std::string name() const override { return "graph"; }
  std::string summary() const override;
  std::vector<Route> Routes() override;
  Result<std::string> Health() override;

 private:
  Answer Links(const Request& request, GraphDirection direction);

  GraphSource source_;
};

}  // namespace portolan
