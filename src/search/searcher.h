// Searcher: the search of a crawl: its index, whose generation may change while it is asked, parts on other machines,
// and the text logs, out of which snippets are made.
//
// CURRENT of the index is read at most once per kCheckNs, by the question that comes next. Questions that are at work
// keep the parts with which they began; the databases of an old generation stay readable until they are closed.
//
// Pages of remote parts have no snippet: their text is in the text log of the machine that crawled them.
//
// Thread: any number. Memory bound: SearchParts', and per hit a block of the text log and a page's text.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "follow/output_sources.h"
#include "io/env.h"
#include "search/search_parts.h"
#include "search/snippet.h"

namespace portolan {

struct SearcherOptions {
  std::string index_dir;  // DIR/index; need not be there if there are remote parts
  OutputSources texts;    // of each shard; of those that are not here no snippets
  SearchOptions search;   // its dirs are those of the index
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
  // Never changed once it is made.
  struct Index {
    std::unique_ptr<SearchParts> parts;
    std::map<std::string, std::string> shards;  // by the directories of local parts
  };
  Result<std::shared_ptr<const Index>> Open();
  Result<CachedPage> Read(const Index& index, const std::string& part, PartDocument document) const;

  Env& env_;
  const Clock& clock_;
  const SearcherOptions options_;
  std::mutex mutex_;  // guards what follows
  bool checked_ = false;
  int64_t checked_at_ = 0;
  Result<std::shared_ptr<const Index>> index_ = std::shared_ptr<const Index>();
};

// The page as one JSON object; docs/serve.md has its fields.
std::string SearchJson(const SearchPage& page);
// "2024-05-01", "2024-05-01T12:00:00Z" of a value of kFetchedSlot or kPublishedSlot.
std::string DateOfValue(std::string_view value);

}  // namespace portolan
