#include "parse/page_stages.h"

#include "text/language.h"
#include "text/page_facts.h"

namespace portolan {

void MainTextStage::Look(PageView& view, PageResult& /*result*/) {
  if (view.page == nullptr && view.text.empty()) return;
  view.main_text = view.text;
  if (view.page != nullptr) {
    if (large_) finder_ = MainTextFinder();
    large_ = view.page->outline.size() > kKeepOutline;
    view.main = finder_.Find(*view.page);
    if (!view.main.empty()) {
      JoinRanges(view.text, view.main, main_text_);
      view.main_text = main_text_;
    }
  }
  if (!describe_) return;
  LanguageHints hints{.content_language = view.head.fields.Find("content-language").value_or(std::string_view()),
                      .host = view.url.hostname()};
  if (view.page != nullptr) {
    view.facts = FindPageFacts(*view.page, view.response.task.url);
    hints.html_lang = view.page->View(view.page->lang);
  }
  view.language = DetectLanguage(view.main_text, hints);
}

}  // namespace portolan
