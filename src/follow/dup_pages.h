// DupPages: the pages of a crawl with the hashes of their text and their bytes, in a file beside the crawl that grows
// with its log: what the search for duplicates reads instead of the log.
//
// One page per line of the crawl log with an answer of class 2xx and one of the two hashes, in the order of the log, of
// several shards one after the other; a page's number is its place. A URL that was fetched twice is there twice. The
// file is DIR/pages.blocks (docs/formats/dups.md), how far the log was read is in DIR/position; both can be removed and
// are made again.
//
// Thread: one owner; another process is kept out by DIR/LOCK. Memory bound: Follower's, and a block.
// Durability: what Follow has read when it returns. After a crash it goes on from the last step of kStep batches.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "follow/output_sources.h"
#include "io/env.h"

namespace portolan {

struct DupPage {
  std::string_view url;
  uint64_t similarity = 0;   // of the main text; 0: none
  uint64_t fingerprint = 0;  // of the decoded bytes; 0: none

  bool operator==(const DupPage&) const = default;
};

void EncodeDupPage(const DupPage& page, std::string& out);  // replaces `out`
// nullopt: it is not a record. The URL is a view of `bytes`.
std::optional<DupPage> DecodeDupPage(std::string_view bytes);

// What a line of the crawl log says of a page. nullopt: it is not the fetch of a page, or has no hash. `url` takes its
// URL.
std::optional<DupPage> DupPageOfLine(std::string_view line, std::string& url);

class DupPages {
 public:
  using Progress = std::function<void(std::string_view step, uint64_t done)>;

  // Reads what is new in the crawl log. kNotFound: the crawl has no log. kBusy: another process is at it.
  // REQUIRES: env outlives this.
  static Result<DupPages> Follow(Env& env, const OutputSources& logs, const std::string& dir, const Progress& progress);

  // In the order of their numbers, which begin at 0.
  Status ForEach(const std::function<Status(uint64_t number, const DupPage& page)>& each) const;

  const std::string& dir() const { return dir_; }
  uint64_t length() const { return length_; }  // of the file
  uint64_t added() const { return added_; }    // pages that Follow read

 private:
  static constexpr uint64_t kStep = 1024;  // batches of the log

  DupPages(Env& env, std::string dir) : env_(&env), dir_(std::move(dir)) {}
  Status Read(const OutputSources& logs, const Progress& progress);
  std::string path() const { return JoinPath(dir_, "pages.blocks"); }

  Env* env_;
  std::string dir_;
  std::unique_ptr<FileLock> lock_;
  uint64_t length_ = 0;
  uint64_t added_ = 0;
};

}  // namespace portolan
