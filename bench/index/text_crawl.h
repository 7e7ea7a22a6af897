// TextCrawl: the logs of a crawl, written by the crawl's own outputs, of pages that were parsed by the crawl's own
// PageMaker: real ones from a folder, repeated with variation, or those of the simulated web.
//
// A real page is written as often as is needed. Each copy has a URL of its own, leaves out about a third of its lines
// (which, depends on the copy), and has words of its own, so that copies are neither equal nor share all their terms.
// Its links to the outside stay; eight more lead to other copies, with their titles as texts.
//
// Thread: one owner. Memory: the real pages' records.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "follow/output_reader.h"
#include "index/index_build.h"
#include "io/env.h"

namespace portolan::bench {

class TextCrawl {
 public:
  // `pages` and `articles` are the folders of real pages (../shared/data); those that exist are used.
  static Result<TextCrawl> OfRealPages(const std::string& pages, const std::string& articles);
  static Result<TextCrawl> OfSimulatedWeb(uint64_t pages);

  // Writes and commits the logs of `pages` pages in `dir`.
  Status Write(Env& env, const std::string& dir, uint64_t pages);
  static IndexSources SourcesIn(const std::string& dir);
  // Instead of it: the records for the text log of the next page, packed. False: there is none.
  Result<bool> NextText(std::string& records) {
    Page page;
    ASSIGN_OR_RETURN(const bool more, next_(page));
    records = std::move(page.text);
    return more;
  }

  size_t originals() const { return originals_; }

 private:
  struct Page {
    std::string url;
    std::string text;  // packed records
    std::string links;
  };
  using Next = std::function<Result<bool>(Page& page)>;
  TextCrawl(Next next, size_t originals) : next_(std::move(next)), originals_(originals) {}

  Next next_;
  size_t originals_;
};

}  // namespace portolan::bench
