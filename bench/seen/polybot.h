// Polybot: the URL check of Polybot (2001), as the IRLbot thesis describes it (chapter IV).
//
// Whole URLs stay in RAM in a balanced search tree; when it is full it is merged with URLseen, one sorted file of
// compressed URLs that is read and written anew. Nothing else touches the disk.
//
// Here the tree is a red-black tree of views into an arena (48 bytes per URL and its text), and the file is front-coded
// (length shared with the URL before, length of the rest, the rest) in lz4 blocks of 64 KiB. Half of RAM takes the
// tree: the other half is the second tree that arriving URLs need while the first is merged, as in Theorem 1.

#pragma once

#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>

#include "bench/seen/url_seen.h"
#include "io/env.h"

namespace portolan::bench {

class Polybot : public UrlSeen {
 public:
  // REQUIRES: env outlives it; options.dir exists.
  static Result<std::unique_ptr<Polybot>> Create(Env& env, const UrlSeenOptions& options);

  Status Add(uint64_t key, std::string_view text) override;
  Status Finish() override;

  uint64_t rounds() const { return rounds_; }

 private:
  using Tree = std::pmr::set<std::string_view>;

  Polybot(Env& env, const UrlSeenOptions& options);
  Status Merge();
  void Clear();

  Env& env_;
  const UrlSeenOptions options_;
  const std::string seen_path_;
  const std::string next_path_;
  const size_t arena_bytes_;
  std::unique_ptr<std::byte[]> arena_;
  size_t text_bytes_ = 0;
  std::optional<std::pmr::monotonic_buffer_resource> pool_;
  std::optional<Tree> tree_;
  uint64_t rounds_ = 0;
};

}  // namespace portolan::bench
