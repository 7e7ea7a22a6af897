// Searcher: the search of a crawl: its index, whose generation may change while it is asked, parts on other machines,
// and the text log, out of which snippets are made.
//
// CURRENT of the index is read at most once per kCheckNs, by the question that comes next. Questions that are at work
// keep the parts with which they began; the databases of an old generation stay readable until they are closed.
//
// Pages of remote parts have no snippet: their text is in the text log of the machine that crawled them.
//
// Thread: any number. Memory bound: SearchParts', and per hit a block of the text log and a page's text.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "follow/output_reader.h"
#include "io/env.h"
#include "search/search_parts.h"
#include "search/snippet.h"

namespace portolan {

struct SearcherOptions {
  std::string index_dir;             // DIR/index; need not be there if there are remote parts
  std::optional<OutputSource> text;  // none: no snippets
  SearchOptions search;              // its dirs are those of the index
};

struct SearchPage {
  struct Shown {
    MarkedText title;
    MarkedText snippet;  // empty: the text cannot be read here
  };
  SearchQuestion question;
  SearchAnswer answer;
  std::vector<Shown> shown;  // of each hit
  double ms = 0;
};

struct CachedPage {
  PartDocument document;
  std::string text;  // the main text, or all visible text
};

class Searcher {
 public:
  static constexpr int64_t kCheckNs = kSecond;

  Searcher(Env& env, const Clock& clock, const SearcherOptions& options)
      : env_(env), clock_(clock), options_(options) {}

  // kNotFound, kCorrupt, kUnsupported: of the index; else as SearchParts::Ask.
  Result<SearchPage> Ask(const SearchQuestion& question);
  // What a page of a local part said when it was fetched. kNotFound: it is not in the index.
  Result<CachedPage> Cached(const std::string& url);
  // "5 parts, 2 remote".
  Result<std::string> Health();

 private:
  Result<std::shared_ptr<const SearchParts>> Parts();
  Result<CachedPage> Read(PartDocument document) const;

  Env& env_;
  const Clock& clock_;
  const SearcherOptions options_;
  std::mutex mutex_;  // guards what follows
  bool checked_ = false;
  int64_t checked_at_ = 0;
  std::vector<std::string> dirs_;
  Result<std::shared_ptr<const SearchParts>> parts_ = std::shared_ptr<const SearchParts>();
};

// The page as one JSON object; docs/serve.md has its fields.
std::string SearchJson(const SearchPage& page);
// "2024-05-01", "2024-05-01T12:00:00Z" of a value of kFetchedSlot or kPublishedSlot.
std::string DateOfValue(std::string_view value);

}  // namespace portolan
