// SearchParts: a question to all parts of an index, and the answer as if they were one.
//
// Parts are directories of this machine and servers of others. All are asked side by side, with the statistics of all
// (search_part.h), and their best pages are merged by score and tie key: order and scores do not depend on how many
// parts there are and where. Near duplicates, whose similarity hashes differ in at most kNearBits bits, are folded into
// the best of them. If no page has all words, pages with any of them are given, and the answer says so.
//
// A part that cannot answer is left out, and the answer says which and why. Remote parts have a time limit per step,
// local ones one per question: a question takes at most about limit + 4 × remote_step.
//
// Thread: any number of questions at once. Memory bound per question: kMaxDepth × 2 hits per part, and their documents.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/clock.h"
#include "search/query_plan.h"
#include "search/search_part.h"

namespace portolan {

inline constexpr int kNearBits = 3;
inline constexpr size_t kMaxDepth = 1000;  // offset + limit

struct SearchOptions {
  std::vector<std::string> dirs;     // databases of this machine
  std::vector<std::string> remotes;  // "host:port"
  ScoreOptions score;
  int64_t limit_ns = 10 * kSecond;
  int64_t remote_step_ns = kSecond;
  size_t threads = 0;     // local parts that are searched side by side; 0: as many as the machine has cores
  uint32_t count = 1000;  // matches are counted up to here; beyond it they are estimated
};

struct SearchQuestion {
  std::string words;
  size_t offset = 0;
  size_t limit = 10;
  bool explain = false;
  bool fold = true;
};

struct SearchHit {
  struct Reason {
    std::string word;
    std::string field;
    double score = 0;
  };
  double score = 0;
  std::string part;
  bool local = false;
  PartDocument document;
  uint32_t similar = 0;         // pages that were folded into this one
  std::vector<Reason> reasons;  // only with `explain`; their scores add up to `score`
};

struct SearchAnswer {
  struct LeftOut {
    std::string part;
    std::string why;
  };
  uint64_t pages = 0;    // in the parts that answered
  uint64_t matches = 0;  // in them
  bool exact = false;
  bool all_words = true;  // false: no page has them all; these have some
  bool more = false;      // behind the last hit
  std::vector<SearchHit> hits;
  std::vector<LeftOut> left_out;
  QueryPlan::Marks marks;
};

struct FoundDocument {
  std::string part;
  PartDocument document;
};

class SearchParts {
 public:
  // kInvalidArgument, kNotFound: an address of a remote part. Directories are opened when they are asked.
  static Result<std::unique_ptr<SearchParts>> Make(const Clock& clock, const SearchOptions& options);
  // Instead of it, with parts of the caller's.
  SearchParts(const Clock& clock, const SearchOptions& options, std::vector<std::unique_ptr<SearchPart>> parts);

  // kInvalidArgument, kBusy: the question is refused. Another error: that of the first part, if none answers.
  Result<SearchAnswer> Ask(const SearchQuestion& question) const;
  // The page of this URL in a local part; kNotFound.
  Result<FoundDocument> Find(const std::string& url) const;

  size_t size() const { return parts_.size(); }
  const SearchOptions& options() const { return options_; }

 private:
  const Clock& clock_;
  const SearchOptions options_;
  std::vector<std::unique_ptr<SearchPart>> parts_;
};

}  // namespace portolan
