// ContentHandler and PageStage: the two ways to take part in parsing (docs/extending.md has an example of each).
//
// A handler reads one type of content. The first whose Takes returns true gets the answer: robots.txt, redirects, HTML,
// style sheets, sitemaps and feeds, plain text. A stage sees every answer, after its handler and in the order of the
// chain: it adds typed facts to the PageResult, adds records to an output, or keeps the answer out of the archive
// (PageView::keep). The archive's own records are made by the last stage.
//
// page_chain.cc lists both: a new one is one file and one line there.
//
// Thread: one owner; each fetch loop has its own set. Any input must give a result, in linear time.

#pragma once

#include <memory>
#include <vector>

#include "flow/page_result.h"
#include "parse/page_view.h"

namespace portolan {

class ContentHandler {
 public:
  virtual ~ContentHandler() = default;
  virtual bool Takes(const PageView& view, const PageResult& result) const = 0;
  virtual void Read(PageView& view, PageResult& result) = 0;
};

class PageStage {
 public:
  virtual ~PageStage() = default;
  virtual void Look(PageView& view, PageResult& result) = 0;
};

struct PageChain {
  std::vector<std::unique_ptr<ContentHandler>> handlers;
  std::vector<std::unique_ptr<PageStage>> stages;
};

}  // namespace portolan
