// Links of 394 real pages beside those that lexbor finds in its tree of them: element, attribute, value, rel.
//
// What a tree does to links that tags alone do not tell is in kExplained, page by page, with who is right.

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "base/ascii.h"
#include "html/link_values.h"
#include "html/page_reader.h"
#include "io/rng.h"

namespace portolan {
namespace {

const std::filesystem::path kPages = "../shared/data/pages";

std::string ReadGzip(const std::filesystem::path& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string out;
  char block[65536];
  for (int n = 0; (n = gzread(file, block, sizeof block)) > 0;) out.append(block, static_cast<size_t>(n));
  gzclose(file);
  return out;
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
  }
  return out;
}

// The candidates of a srcset, by a regular expression instead of our reader's steps.
std::vector<std::string> SrcsetUrls(const std::string& value) {
  static const std::regex candidate(R"([\s,]*([^\s,]\S*[^\s,])(\s[^,]*)?(,|$))");
  std::vector<std::string> urls;
  for (auto it = std::sregex_iterator(value.begin(), value.end(), candidate); it != std::sregex_iterator(); ++it) {
    urls.push_back((*it)[1]);
  }
  return urls;
}

// One link as a line: "a href http://… rel=1".
std::string Line(std::string_view tag, std::string_view attribute, std::string_view value, uint16_t rel) {
  return std::string(tag) + '\t' + std::string(attribute) + '\t' + std::string(TrimHtmlSpace(value)) + '\t' +
         std::to_string(rel);
}

std::vector<std::string> LexborLines(const std::vector<std::string>& fields) {
  const std::string& tag = fields[0];
  const std::string& attribute = fields[1];
  const std::string value = Unescape(fields[2]);
  if (attribute == "srcset") {
    std::vector<std::string> lines;
    for (const std::string& url : SrcsetUrls(value)) lines.push_back(Line(tag, attribute, url, 0));
    return lines;
  }
  const bool has_rel = tag == "a" || tag == "area" || tag == "link";
  return {Line(tag, attribute, value, has_rel && fields.size() > 3 ? ParseRel(Unescape(fields[3])) : 0)};
}

std::map<std::string, std::vector<std::string>> LoadLexbor() {
  std::map<std::string, std::vector<std::string>> pages;
  const std::string all = ReadGzip(kPages / "links_lexbor.tsv.gz");
  std::vector<std::string>* current = nullptr;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    std::vector<std::string> fields;
    std::string row = all.substr(at, end - at);
    at = end + 1;
    for (size_t from = 0;;) {
      const size_t tab = row.find('\t', from);
      fields.push_back(row.substr(from, tab - from));
      if (tab == std::string::npos) break;
      from = tab + 1;
    }
    if (fields[0] == "#FILE") {
      current = &pages[fields[1]];
    } else {
      for (std::string& line : LexborLines(fields)) current->push_back(std::move(line));
    }
  }
  return pages;
}

std::vector<std::string> OurLines(const Page& page) {
  std::multimap<size_t, std::string> lines;  // by position; equal ones stay in order
  for (const PageLink& link : page.links) {
    if (link.attribute == LinkAttribute::kContent) continue;  // the refresh is compared as it is written
    const bool in_svg =
        link.element == Tag::kUse || (link.element == Tag::kImage && link.attribute == LinkAttribute::kHref);
    if (in_svg || link.attribute == LinkAttribute::kImagesrcset) continue;  // lexbor's list has none of them
    lines.emplace(link.position, Line(link.element == Tag::kImage ? "img" : TagName(link.element),
                                      LinkAttributeName(link.attribute), page.View(link.url), link.rel));
  }
  for (const PageMeta& meta : page.metas) {
    const bool robots = meta.kind == PageMeta::Kind::kRobots;
    if (robots && !EqualsIgnoringCase(page.View(meta.name), "robots")) continue;
    lines.emplace(meta.position, Line("meta", robots ? "robots" : "refresh", page.View(meta.content), 0));
  }
  if (page.has_base) lines.emplace(page.base_position, Line("base", "href", page.View(page.base), 0));
  std::vector<std::string> out;
  for (auto& [position, line] : lines) out.push_back(std::move(line));
  return out;
}

// Where the tree has more links than the page has tags. In each case an <a> is still open when a block begins or ends
// (a missing or misplaced </a>), and the tree builder, as the standard tells it to, reopens the element in the next
// block: "reconstruct the active formatting elements" and the "adoption agency algorithm" copy it, href and all. Both
// are right: lexbor has the elements of the tree, we have the links of the document, one a tag. A copy never has
// another URL.
const std::map<std::string, size_t> kCopiesInTheTree = {
    {"htmlparser-benchmark/0339f4fe0403110a66c7db27cb4b3cf4d3e995dfb84931aeb831da7186d3932b.html", 1},
    {"htmlparser-benchmark/44b21071ae6feede3c36d2ab032cd422eb0c6a0fdfe4da79531931ad93dd4940.html", 2},
    {"htmlparser-benchmark/56671acb60ba54b0c5c5bf3e428d1a679035a07c3721e71e871236ab6b9f08aa.html", 2},
    {"htmlparser-benchmark/c1b8e0918565b9744338c6fb092b545cf4d62b77456a7dd542929f01ee7a535e.html", 9},
};

// How many lines of `theirs` are left when `ours` is taken out of it in order, if each of them repeats one before it;
// otherwise nothing.
std::optional<size_t> CopiesOnly(const std::vector<std::string>& ours, const std::vector<std::string>& theirs) {
  size_t next = 0;
  size_t copies = 0;
  std::set<std::string> seen;
  for (const std::string& line : theirs) {
    if (next < ours.size() && ours[next] == line) {
      ++next;
    } else if (line.starts_with("a\t") && seen.contains(line)) {
      ++copies;
    } else {
      return std::nullopt;
    }
    seen.insert(line);
  }
  if (next < ours.size()) return std::nullopt;
  return copies;
}

TEST(PagesLexborTest, LinksOfRealPagesAreThoseOfTheTree) {
  if (!std::filesystem::exists(kPages)) GTEST_SKIP() << kPages << " is absent";
  const auto pages = LoadLexbor();
  PageReader reader({.anchor_text = false, .max_value_bytes = 1 << 30});
  size_t equal = 0;
  size_t explained = 0;
  for (const auto& [path, theirs] : pages) {
    const std::string html = ReadFile(kPages / path);
    const auto ours = OurLines(reader.Read(html));
    const auto known = kCopiesInTheTree.find(path);
    if (known == kCopiesInTheTree.end()) {
      EXPECT_EQ(ours, theirs) << path;
      equal += ours == theirs ? 1 : 0;
    } else {
      EXPECT_EQ(CopiesOnly(ours, theirs), known->second) << path;
      std::printf("%s: the tree has %zu copies of open <a> elements more\n", path.c_str(), known->second);
      ++explained;
    }
  }
  std::printf("conformance pages_lexbor %zu/%zu (%zu more differ only in copies that the tree builder makes)\n", equal,
              pages.size(), explained);
  EXPECT_EQ(pages.size(), 394U);
  EXPECT_EQ(equal + kCopiesInTheTree.size(), pages.size());
}

// The same pages cut into pieces, and with bytes changed: what comes out must not depend on the cutting.
TEST(PagesLexborTest, PiecesOfRealPagesGiveTheSamePage) {
  if (!std::filesystem::exists(kPages)) GTEST_SKIP() << kPages << " is absent";
  Rng rng(11);
  const PageOptions options{.text = true, .citations = true, .styles = true};
  PageReader whole(options);
  PageReader pieces(options);
  for (const auto& [path, theirs] : LoadLexbor()) {
    std::string html = ReadFile(kPages / path);
    for (int round = 0; round < 2; ++round) {
      const Page& expected = whole.Read(html);
      for (size_t at = 0; at < html.size();) {
        const size_t size = std::min<size_t>(1 + rng.Below(1 << rng.Below(17)), html.size() - at);
        pieces.Feed(std::string_view(html).substr(at, size));
        at += size;
      }
      const Page& page = pieces.Finish();
      ASSERT_EQ(OurLines(page), OurLines(expected)) << path;
      ASSERT_EQ(page.strings, expected.strings) << path;
      ASSERT_EQ(page.text, expected.text) << path;
      for (size_t edits = html.size() / 500 + 1; edits > 0 && !html.empty(); --edits) {
        html[rng.Below(html.size())] = "<>\"'=/ &!-\r\nas\0"[rng.Below(15)];
      }
    }
  }
}

}  // namespace
}  // namespace portolan
