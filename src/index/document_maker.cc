#include "index/document_maker.h"

#include <algorithm>
#include <bit>

#include "index/xapian_error.h"
#include "url/url.h"

namespace portolan {
namespace {

constexpr Xapian::termcount kFieldGap = 100;  // positions between body and title: no phrase crosses it

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<DocumentMaker> DocumentMaker::Create() {
  ASSIGN_OR_RETURN(PublicSuffixes suffixes, PublicSuffixes::Builtin());
  return DocumentMaker(std::move(suffixes));
}

std::string DocumentMaker::HostOf(std::string_view url) {
  const auto parsed = Url::Parse(url);
  return parsed ? std::string(parsed->hostname()) : std::string();
}

std::string DocumentMaker::UrlWords(std::string_view url) {
  std::string words;
  if (const size_t end = url.find("://"); end != std::string_view::npos) url.remove_prefix(end + 3);
  if (url.starts_with("www.")) url.remove_prefix(4);
  for (size_t i = 0; i < url.size(); ++i) {
    if (url[i] == '%' && i + 2 < url.size()) {
      const int high = HexDigit(url[i + 1]);
      const int low = HexDigit(url[i + 2]);
      if (high >= 0 && low >= 0) {
        words += static_cast<char>(high << 4 | low);
        i += 2;
        continue;
      }
    }
    words += url[i] == '_' || url[i] == '+' ? ' ' : url[i];  // to Xapian '_' is a letter
  }
  return words;
}

Xapian::termcount DocumentMaker::WeightOf(const InlinkText& text) {
  return static_cast<Xapian::termcount>(std::bit_width(text.links));
}

const Xapian::Stem& DocumentMaker::StemOf(std::string_view language) {
  const std::string_view name = StemmerOf(language);
  auto found = stems_.find(name);
  if (found == stems_.end()) {
    found = stems_.emplace(std::string(name), name.empty() ? Xapian::Stem() : Xapian::Stem(std::string(name))).first;
  }
  return found->second;
}

void DocumentMaker::AddHeadings(std::string_view headings) {
  std::string words;
  while (!headings.empty()) {
    const size_t end = std::min(headings.find('\n'), headings.size());
    std::string_view line = headings.substr(0, end);
    headings.remove_prefix(std::min(end + 1, headings.size()));
    line.remove_prefix(std::min<size_t>(2, line.size()));  // "1 About us"
    words += line;
    words += '\n';
  }
  generator_.index_text_without_positions(words, 1, std::string(kHeadingPrefix));
}

void DocumentMaker::AddInlinks(Xapian::Document& document, std::string_view packed) {
  Inlinks inlinks;
  if (packed.empty() || !Inlinks::Unpack(packed, inlinks)) return;
  document.add_value(kScoreSlot, Xapian::sortable_serialise(inlinks.score()));
  document.add_value(kInlinkSlot, InlinkValue(packed));
  const std::string prefix(kAnchorPrefix);
  for (const InlinkText& text : inlinks.texts) {
    generator_.index_text_without_positions(std::string(text.text), WeightOf(text), prefix);
  }
}

Result<Xapian::Document> DocumentMaker::Make(const TextRecord& page, const TextPlace& place, std::string_view inlinks) {
  try {
    Xapian::Document document;
    generator_.set_document(document);
    generator_.set_stemmer(StemOf(page.language));
    generator_.set_termpos(0);
    std::string body = MainTextOf(page);
    if (body.empty()) body = page.text;
    generator_.index_text(body);
    generator_.increase_termpos(kFieldGap);
    generator_.index_text(std::string(page.title), 1, std::string(kTitlePrefix));
    AddHeadings(page.headings);
    generator_.index_text_without_positions(UrlWords(page.url), 1, std::string(kUrlPrefix));
    AddInlinks(document, inlinks);

    document.add_boolean_term(IdTerm(page.url));
    if (const auto url = Url::Parse(page.url)) {
      for (const std::string& term : SiteTerms(url->hostname(), suffixes_.PayLevelDomain(*url))) {
        document.add_boolean_term(term);
      }
    }
    for (const std::string& term : LanguageTerms(page.language)) document.add_boolean_term(term);
    if (!page.type.empty() && page.type.size() <= kMaxRecordType) {
      document.add_boolean_term(std::string(kTypePrefix).append(page.type));
    }
    if (page.similarity != 0) {
      document.add_boolean_term(FoldTerm(page.similarity));
      document.add_value(kSimilaritySlot, SimilarityValue(page.similarity));
    }
    document.add_value(kTieSlot, TieKey(page.url));
    document.add_value(kFetchedSlot, TimeValue(page.unix_ms));
    if (const std::string published = PublishedValue(page.published); !published.empty()) {
      document.add_value(kPublishedSlot, published);
    }
    document.set_data(
        DocumentData{.url = std::string(page.url), .title = std::string(page.title), .place = place}.Encode());
    return document;
  } catch (const Xapian::Error& error) {
    return std::unexpected(XapianError("making a document", error));
  }
}

Status DocumentMaker::ReplaceInlinks(Xapian::Document& document, std::string_view inlinks) {
  try {
    std::vector<std::string> old;
    std::string language;
    const std::string stemmed = std::string("Z").append(kAnchorPrefix);
    for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
      const std::string name = *term;
      if (name.starts_with(kAnchorPrefix) || name.starts_with(stemmed)) old.push_back(name);
      if (name.starts_with(kLanguagePrefix)) language = name.substr(kLanguagePrefix.size());
    }
    for (const std::string& term : old) document.remove_term(term);
    for (const IndexSlot slot : {kScoreSlot, kInlinkSlot}) {
      if (!document.get_value(slot).empty()) document.remove_value(slot);
    }
    generator_.set_document(document);
    generator_.set_stemmer(StemOf(language));
    AddInlinks(document, inlinks);
    return {};
  } catch (const Xapian::Error& error) {
    return std::unexpected(XapianError("making a document", error));
  }
}

}  // namespace portolan
