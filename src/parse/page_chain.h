// The handlers and stages of a crawl, in their order. A new one is one line in page_chain.cc.

#pragma once

#include "base/result.h"
#include "parse/content_handler.h"
#include "parse/page_options.h"

namespace portolan {

// kInvalidArgument for options that a part does not accept.
Result<PageChain> MakePageChain(const PageMakerOptions& options);

}  // namespace portolan
