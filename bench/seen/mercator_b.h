// MercatorB: the URL check of Mercator's second version (2001), as the IRLbot thesis describes it (chapter IV).
//
// Hashes of arriving URLs and a number each stay in RAM, 12 bytes per URL; their text goes to a file. When RAM is full
// the hashes are sorted and merged with URLseen, one sorted file of 8-byte hashes that is read and written anew; then
// the text is read back and what is new is delivered in arrival order.
//
// Half of RAM takes arriving URLs. The other half is the second buffer of the description, into which URLs arrive
// while the first is checked; here, on one thread, it is the sort's scratch. The model (Theorem 1) has the same split.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/seen/file_stream.h"
#include "bench/seen/key_sort.h"
#include "bench/seen/url_seen.h"
#include "io/env.h"

namespace portolan::bench {

class MercatorB : public UrlSeen {
 public:
  // REQUIRES: env outlives it; options.dir exists.
  static Result<std::unique_ptr<MercatorB>> Create(Env& env, const UrlSeenOptions& options);

  Status Add(uint64_t key, std::string_view text) override;
  Status Finish() override;

  uint64_t rounds() const { return rounds_; }

 private:
  MercatorB(Env& env, const UrlSeenOptions& options);

  Status Merge();
  // Marks new keys of the sorted batch in is_new_ and writes the next URLseen.
  Status MergeKeys();
  Status DeliverText();
  Status OpenText();

  Env& env_;
  const UrlSeenOptions options_;
  const std::string seen_path_;
  const std::string next_path_;
  const std::string text_path_;
  const size_t capacity_;  // URLs of a batch
  std::vector<KeyEntry> batch_;
  std::vector<KeyEntry> scratch_;
  std::vector<uint64_t> is_new_;  // a bit a URL of the batch, in arrival order
  std::unique_ptr<File> text_;
  std::unique_ptr<FileWriter> text_writer_;
  uint64_t rounds_ = 0;
};

}  // namespace portolan::bench
