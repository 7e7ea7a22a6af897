#include "parse/page_chain.h"

#include "parse/archive_stage.h"
#include "parse/content_stage.h"
#include "parse/html_handler.h"
#include "parse/log_stages.h"
#include "parse/page_stages.h"
#include "parse/pdf_handler.h"
#include "parse/plain_text_handler.h"
#include "parse/redirect_handler.h"
#include "parse/robots_handler.h"
#include "parse/sitemap_handler.h"
#include "parse/style_handler.h"

namespace portolan {

Result<PageChain> MakePageChain(const PageMakerOptions& options) {
  PageChain chain;
  // The first that takes an answer reads it.
  chain.handlers.push_back(std::make_unique<RobotsHandler>(options));
  chain.handlers.push_back(std::make_unique<RedirectHandler>(options));
  chain.handlers.push_back(std::make_unique<HtmlHandler>(options));
  chain.handlers.push_back(std::make_unique<StyleHandler>(options));
  chain.handlers.push_back(std::make_unique<SitemapHandler>(options));
  chain.handlers.push_back(std::make_unique<PlainTextHandler>(options));
  if (options.pdf.enabled) chain.handlers.push_back(std::make_unique<PdfHandler>(options));

  // All of them see every answer, in this order.
  chain.stages.push_back(std::make_unique<RobotsFlagsStage>(options));
  if (options.similarity || options.text_log) chain.stages.push_back(std::make_unique<MainTextStage>(options));
  if (options.similarity) chain.stages.push_back(std::make_unique<SimilarityStage>());
  if (options.link_log) chain.stages.push_back(std::make_unique<LinkLogStage>());
  if (options.text_log) chain.stages.push_back(std::make_unique<TextLogStage>());
  if (options.content_seen && !options.archive) chain.stages.push_back(std::make_unique<ContentStage>(options));
  if (options.archive) {
    ASSIGN_OR_RETURN(auto archive, ArchiveStage::Create(options));  // the last: any other may keep an answer out
    chain.stages.push_back(std::move(archive));
  }
  return chain;
}

}  // namespace portolan
