// A link log with the given pages, and its graph: for tests of what reads a graph.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "flow/output_records.h"
#include "follow/graph_build.h"
#include "follow/output_reader.h"
#include "io/clock.h"
#include "io/env.h"
#include "outputs/outputs.h"

namespace portolan {

struct SmallLink {
  std::string target;
  std::string anchor;
  uint8_t flags = 0;
};

// A crawl that writes only links, with its state in "state" and its graph in `graph_dir`.
class SmallGraph {
 public:
  SmallGraph(Env& env, std::string graph_dir)
      : env_(env), graph_dir_(std::move(graph_dir)), manifest_(Manifest::Open(env, "state").value()) {
    OutputsOptions options;
    options.log.files = {.dir = "log", .names = {}, .file_size = 1 << 20};
    options.links.files = {.dir = "links", .names = {}, .file_size = 20'000};
    options.links.enabled = true;
    options.threads = false;
    outputs_ = Outputs::Open(env, Clock::Real(), manifest_, options).value();
  }

  void Add(const std::string& page, const std::vector<SmallLink>& links) {
    PageResult result;
    result.outcome = FetchOutcome::kAnswered;
    result.status = 200;
    OutputItem item{.output = OutputId::kLinks, .records = {}};
    AppendLinkPage(item.records, page, 1);
    for (const SmallLink& link : links) AppendLink(item.records, link.target, link.flags, link.anchor);
    result.outputs.push_back(std::move(item));
    outputs_->Write(result, {.url = page});
  }

  // The next generation, with what was added.
  void Build() {
    ASSERT_TRUE(manifest_.Commit(outputs_->Checkpointables()));
    const auto built = BuildGraph(env_, LinkLogSource("state", "links"), graph_dir_, {});
    ASSERT_TRUE(built) << built.error().message();
  }

 private:
  Env& env_;
  const std::string graph_dir_;
  Manifest manifest_;
  std::unique_ptr<Outputs> outputs_;
};

}  // namespace portolan
