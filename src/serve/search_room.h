// SearchRoom: the search of a crawl over HTTP: /search and /cached (docs/serve.md).
//
//   GET /search?q=whale                 a page for people, which works without scripts and loads nothing from elsewhere
//   GET /search?q=whale&json            the same for programs
//   GET /cached?url=https://example.org/   what the page said when it was fetched
//
// Everything that a crawled page said is escaped; addresses of pages are links only if they are http or https.
//
// Bounds: those of a question (search/user_query.h), kMaxLimit results per answer, kMaxDepth in all; kMaxCached bytes
// of text. Thread: any number.

#pragma once

#include <string>
#include <vector>

#include "search/searcher.h"
#include "serve/router.h"

namespace portolan {

class SearchRoom : public Room {
 public:
  static constexpr uint64_t kMaxLimit = 100;
  static constexpr size_t kMaxCached = size_t{1} << 20;

  SearchRoom(Env& env, const Clock& clock, const SearcherOptions& options) : searcher_(env, clock, options) {}

  std::string name() const override { return "search"; }
  std::string summary() const override;
  std::vector<Route> Routes() override;
  Result<std::string> Health() override;

 private:
  Answer Search(const Request& request);
  Answer Cached(const Request& request);

  Searcher searcher_;
};

// The page for people; `error`: why there is no answer, in place of one.
std::string SearchHtml(const SearchPage& page, const Error* error);
// The stored text, for /cached.
std::string CachedHtml(const CachedPage& page);

}  // namespace portolan
