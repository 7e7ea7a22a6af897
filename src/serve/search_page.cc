// The page for people of serve/search_room.h.

#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "serve/search_room.h"

namespace portolan {
namespace {

constexpr std::string_view kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>)";
constexpr std::string_view kStyle = R"(</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
form { display: flex; gap: .5rem; }
input[type=search] { flex: 1; font: inherit; padding: .4rem .7rem; min-width: 0; }
button { font: inherit; padding: .4rem 1rem; }
ol { list-style: none; padding: 0; }
li { margin: 1.3rem 0; }
h2 { font-size: 1.1rem; font-weight: 500; margin: 0; }
.url { font-size: .85rem; opacity: .75; }
p { margin: .15rem 0; }
mark { background: none; color: inherit; font-weight: 700; }
.note { font-size: .85rem; opacity: .75; }
.wrong { border-left: .25rem solid #c33; padding-left: .7rem; }
table { font-size: .85rem; border-collapse: collapse; }
td { padding: 0 1rem 0 0; } td:last-child { text-align: right; font-variant-numeric: tabular-nums; }
nav { display: flex; gap: 1.5rem; margin: 2rem 0; }
pre { white-space: pre-wrap; font: inherit; }
</style></head><body>
)";

std::string PiecesHtml(const MarkedText& pieces) {
  std::string out;
  for (size_t i = 0; i < pieces.size(); ++i) {
    out += i % 2 == 0 ? EscapeHtml(pieces[i]) : "<mark>" + EscapeHtml(pieces[i]) + "</mark>";
  }
  return out;
}

std::string PercentEncode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string SearchTarget(const SearchQuestion& question, size_t offset) {
  std::string target = fmt::format("/search?q={}&limit={}", PercentEncode(question.words), question.limit);
  if (offset > 0) target += fmt::format("&offset={}", offset);
  if (question.explain) target += "&explain";
  return EscapeHtml(target);
}

std::string HitHtml(const SearchHit& hit, const SearchPage::Shown& shown) {
  const std::string& url = hit.document.data.url;
  const bool link = url.starts_with("http://") || url.starts_with("https://");
  const std::string title = hit.document.data.title.empty() ? EscapeHtml(url) : PiecesHtml(shown.title);
  std::string out = "<li><h2>";
  out += link ? fmt::format("<a href=\"{}\" rel=\"noreferrer noopener\">{}</a>", EscapeHtml(url), title) : title;
  out += fmt::format("</h2>\n<p class=\"url\">{}</p>\n", EscapeHtml(url));
  if (!shown.snippet.empty()) out += "<p>" + PiecesHtml(shown.snippet) + "</p>\n";
  out += "<p class=\"note\">";
  const std::string published = DateOfValue(hit.document.published);
  out += published.empty() ? "fetched " + DateOfValue(hit.document.fetched).substr(0, 10)
                           : "published " + published.substr(0, 10);
  if (hit.similar > 0) out += fmt::format(" · {} similar {}", hit.similar, hit.similar == 1 ? "page" : "pages");
  if (hit.local) {
    out += fmt::format(" · <a href=\"{}\">cached text</a>", EscapeHtml("/cached?url=" + PercentEncode(url)));
  } else {
    out += " · from " + EscapeHtml(hit.part);
  }
  out += "</p>\n";
  if (!hit.reasons.empty()) {
    out += fmt::format("<details><summary class=\"note\">score {:.3f}</summary><table>\n", hit.score);
    for (const auto& reason : hit.reasons) {
      out += fmt::format("<tr><td>{}<td>{}<td>{:.3f}\n", EscapeHtml(reason.word), reason.field, reason.score);
    }
    out += "</table></details>\n";
  }
  return out + "</li>\n";
}

std::string CountHtml(const SearchPage& page) {
  const SearchAnswer& answer = page.answer;
  std::string out = "<p class=\"note\">";
  if (answer.matches == 0) {
    out += fmt::format("Nothing found in {} pages.", FormatCount(static_cast<double>(answer.pages)));
  } else {
    out += fmt::format("{}{} of {} pages, {:.0f} ms", answer.exact ? "" : "about ",
                       FormatCount(static_cast<double>(answer.matches)), FormatCount(static_cast<double>(answer.pages)),
                       std::max(page.ms, 1.0));
  }
  out += "</p>\n";
  if (!answer.all_words) out += "<p class=\"note\">No page has all of these words; these have some of them.</p>\n";
  for (const auto& left_out : answer.left_out) {
    out += fmt::format("<p class=\"wrong\">A part of the index did not answer: {}: {}</p>\n", EscapeHtml(left_out.part),
                       EscapeHtml(left_out.why));
  }
  return out;
}

}  // namespace

std::string SearchHtml(const SearchPage& page, const Error* error) {
  const SearchQuestion& question = page.question;
  std::string out(kHead);
  out += question.words.empty() ? "Search" : EscapeHtml(question.words) + " – Search";
  out += kStyle;
  out += fmt::format(
      "<form action=\"/search\" role=\"search\"><input type=\"search\" name=\"q\" value=\"{}\" aria-label=\"Words\" "
      "autofocus>\n{}<button>Search</button></form>\n",
      EscapeHtml(question.words), question.explain ? "<input type=\"hidden\" name=\"explain\" value=\"1\">" : "");
  if (error != nullptr) {
    out += fmt::format("<p class=\"wrong\">{}</p>\n</body></html>\n", EscapeHtml(error->message()));
    return out;
  }
  if (question.words.empty()) {
    out +=
        "<p class=\"note\">“some words in this order”, site:example.org, lang:de, type:application/pdf, "
        "after:2024-05, -without, this OR that</p>\n</body></html>\n";
    return out;
  }
  out += CountHtml(page);
  out += "<ol>\n";
  for (size_t i = 0; i < page.answer.hits.size(); ++i) out += HitHtml(page.answer.hits[i], page.shown[i]);
  out += "</ol>\n<nav>";
  if (question.offset > 0) {
    const size_t before = question.offset > question.limit ? question.offset - question.limit : 0;
    out += fmt::format("<a href=\"{}\" rel=\"prev\">← before</a>", SearchTarget(question, before));
  }
  const size_t next = question.offset + page.answer.hits.size();
  if (page.answer.more && next + question.limit <= kMaxDepth) {
    out += fmt::format("<a href=\"{}\" rel=\"next\">more →</a>", SearchTarget(question, next));
  }
  out += "</nav>\n</body></html>\n";
  return out;
}

std::string CachedHtml(const CachedPage& page) {
  const std::string& url = page.document.data.url;
  std::string out(kHead);
  out += EscapeHtml(page.document.data.title);
  out += kStyle;
  out += fmt::format("<p class=\"note\">What {} said when it was fetched, {}.</p>\n", EscapeHtml(url),
                     EscapeHtml(DateOfValue(page.document.fetched)));
  out += fmt::format("<h1>{}</h1>\n<pre>", EscapeHtml(page.document.data.title));
  std::string_view rest = std::string_view(page.text).substr(0, SearchRoom::kMaxCached);
  while (!rest.empty()) {  // EscapeHtml shows a line end as \x0a
    const size_t end = std::min(rest.find('\n'), rest.size());
    out += EscapeHtml(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out + "</pre>\n</body></html>\n";
}

}  // namespace portolan
