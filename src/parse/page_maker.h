// PageMaker: a FetchResponse becomes a PageResult, on the thread that fetched it.
//
//   head → content coding removed within limits → type sniffed: the PageView
//   → the handler of its type (content_handler.h): charset, links, robots rules, what the page says
//   → stages, one after the other: facts for the shard, records for the logs, WARC records
//
// Which handlers and stages there are is page_chain.cc's business.
//
// The web's behaviour stays data: whatever the bytes are, a PageResult comes out, and its outcome says what they were.
// Outcomes that come in without an answer pass through; an answer may turn into kNotHttp, kHeadTooLarge, kDecodeFailed
// or kBomb here. A coding that was cut short by us or by the server gives its first part, as in a browser.
//
// Thread: one owner, one a fetch loop. Same options with a seed, same responses in the same order: same results.
// Memory bound: the decoded body (options.decode.max_output), the page (html/page.h) and its links; buffers over
// kKeepBuffer are given back after the page that needed them.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/fetch.h"
#include "flow/page_result.h"
#include "http/content_decoder.h"
#include "http/headers.h"
#include "parse/content_handler.h"
#include "parse/page_options.h"
#include "parse/whole_gzip.h"
#include "url/url.h"

namespace portolan {

class PageMaker {
 public:
  static constexpr size_t kKeepBuffer = size_t{4} << 20;

  // kInvalidArgument for an agent that is no product token, or a gzip level that does not exist.
  static Result<PageMaker> Create(const PageMakerOptions& options);

  PageResult Make(FetchResponse&& response);

  // Asked before all others; seen after all but the archive's stage.
  void AddHandler(std::unique_ptr<ContentHandler> handler);
  void AddStage(std::unique_ptr<PageStage> stage);

 private:
  PageMaker(const PageMakerOptions& options, PageChain chain);

  // The body without its content codings; `readable` becomes false where that failed.
  std::string_view Decode(const FetchResponse& response, PageResult& result, bool& readable);

  PageMakerOptions options_;
  PageChain chain_;
  ContentDecoder decoder_;
  WholeGunzip gunzip_;
  std::string decoded_;
  ResponseHead head_;
  Url url_;
};

}  // namespace portolan
