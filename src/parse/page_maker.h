// PageMaker: a FetchResponse becomes a PageResult, on the thread that fetched it.
//
//   head → content coding removed within limits → type sniffed: the PageView
//   → the handler of its type (content_handler.h): charset, links, robots rules, text → stages, one after the other:
//   facts for the shard, records for the logs, WARC records
//
// page_chain.cc lists the handlers and stages.
//
// The web's behaviour is data: any bytes give a PageResult, and its outcome says what they were. Outcomes without an
// answer are passed through; an answer may become kNotHttp, kHeadTooLarge, kDecodeFailed, kBomb or kUnaskedNotModified
// here. If a content
// coding was cut short by us or by the server, its first part is used, as in a browser.
//
// Thread: one owner; one PageMaker per fetch loop. With a seed, the same options and the same responses in the same
// order give the same results.
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
#include "parse/visit_reader.h"
#include "parse/whole_gzip.h"
#include "url/url.h"

namespace portolan {

class PageMaker {
 public:
  static constexpr size_t kKeepBuffer = size_t{4} << 20;

  // kInvalidArgument for an agent that is not a product token, or a gzip level that does not exist.
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
  VisitReader visits_;
  std::string decoded_;
  ResponseHead head_;
  Url url_;
};

}  // namespace portolan
