// Any bytes as a page: the same Page whole and in pieces, within its limits, slices inside their buffer; and the fast
// reader's links are those that a plain walk over every token finds.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "html/page_links.h"
#include "html/page_reader.h"
#include "html/token_recorder.h"

namespace {

using portolan::Page;
using portolan::PageLink;
using portolan::PageOptions;
using portolan::PageReader;
using portolan::Slice;

void CheckSlice(const Page& page, Slice slice) {
  CHECK(slice.begin <= page.strings.size());
  CHECK(slice.size <= page.strings.size() - slice.begin);
}

void CheckSame(const Page& a, const Page& b) {
  CHECK(a.strings == b.strings);
  CHECK(a.text == b.text);
  CHECK(a.links.size() == b.links.size());
  for (size_t i = 0; i < a.links.size(); ++i) {
    const PageLink& x = a.links[i];
    const PageLink& y = b.links[i];
    CHECK(x.element == y.element && x.attribute == y.attribute && x.kind == y.kind && x.rel == y.rel);
    CHECK(x.url.begin == y.url.begin && x.url.size == y.url.size && x.position == y.position);
    CHECK(x.text.begin == y.text.begin && x.text.size == y.text.size && x.in_template == y.in_template);
  }
  CHECK(a.metas.size() == b.metas.size() && a.has_base == b.has_base && a.canonical == b.canonical);
  CHECK(a.outline_names == b.outline_names && a.outline.size() == b.outline.size());
  for (size_t i = 0; i < a.outline.size(); ++i) CHECK(a.outline[i].text_at == b.outline[i].text_at);
  CHECK(a.links_dropped == b.links_dropped && a.values_dropped == b.values_dropped);
  CHECK(a.text_cut == b.text_cut && a.cut == b.cut && a.meta_encoding == b.meta_encoding);
}

// Without foreign content and framesets the tree does not matter to <a href> and <img src>: count them plainly.
void CheckAgainstTokens(std::string_view html, const Page& page) {
  portolan::TokenRecorder recorder(true);
  portolan::Tokenizer tokenizer(recorder);
  tokenizer.Read(html);
  size_t expected = 0;
  for (const portolan::RecordedToken& token : recorder.tokens()) {
    if (token.kind != portolan::RecordedToken::Kind::kStartTag) continue;
    if (token.text == "svg" || token.text == "math" || token.text == "frameset") return;
    for (const auto& [name, value] : token.attributes) {
      expected += (token.text == "a" && name == "href") || (token.text == "img" && name == "src") ? 1 : 0;
    }
  }
  size_t found = 0;
  for (const PageLink& link : page.links) {
    found += (link.element == portolan::Tag::kA && link.attribute == portolan::LinkAttribute::kHref) ||
                     (link.element == portolan::Tag::kImg && link.attribute == portolan::LinkAttribute::kSrc)
                 ? 1
                 : 0;
  }
  CHECK(found == expected, "{} links, {} tags", found, expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t setup = data[0];
  std::string_view html(reinterpret_cast<const char*>(data) + 1, size - 1);
  PageOptions options;
  options.text = (setup & 1) != 0;
  options.anchor_text = (setup & 2) != 0;
  options.citations = (setup & 4) != 0;
  options.styles = (setup & 16) != 0;
  options.outline = (setup & 32) != 0;
  options.facts = (setup & 64) != 0;
  const bool tight = (setup & 8) != 0;
  if (tight) {
    options.max_links = 5;
    options.max_value_bytes = 12;
    options.max_anchor_bytes = 7;
    options.max_title_bytes = 5;
    options.max_text_bytes = 20;
    options.max_metas = 1;
    options.max_outline = 9;
    options.max_outline_names = 600;
    options.max_script_bytes = 25;
    options.max_style_bytes = 30;
    options.max_kept_bytes = 60;
    options.tokenizer = {.max_construct_bytes = 100, .max_attributes = 3};
  }
  PageReader reader(options);
  const Page& whole = reader.Read(html);
  for (const PageLink& link : whole.links) {
    CheckSlice(whole, link.url);
    CheckSlice(whole, link.text);
    CHECK(link.text.size <= options.max_anchor_bytes && link.url.size <= options.max_value_bytes);
    CHECK(link.position < html.size() && html[link.position] == '<');
  }
  for (const Slice slice : {whole.base, whole.title, whole.description, whole.lang, whole.charset}) {
    CheckSlice(whole, slice);
  }
  CHECK(whole.links.size() <= options.max_links && whole.text.size() <= options.max_text_bytes);
  CHECK(whole.metas.size() <= 4 * options.max_metas && whole.title.size <= options.max_title_bytes);
  if (!tight) CheckAgainstTokens(html, whole);

  PageReader pieces(options);
  uint64_t seed = portolan::Hash64(html);
  for (std::string_view rest = html; !rest.empty();) {
    seed = portolan::Mix64(seed + 1);
    const std::string_view piece = rest.substr(0, 1 + seed % 40);
    const std::vector<char> exact(piece.begin(), piece.end());
    pieces.Feed({exact.data(), exact.size()});
    rest.remove_prefix(piece.size());
  }
  CheckSame(whole, pieces.Finish());

  static const portolan::Url url = *portolan::Url::Parse("http://a.test/b/c?d");
  portolan::PageLinks links;
  links.Resolve(whole, url, {.in_templates = true});
  CHECK(links.links.size() <= whole.links.size());
  for (const portolan::ResolvedLink& link : links.links) CHECK(link.hash == portolan::Hash64(links.UrlOf(link)));
  return 0;
}
