// DocumentMaker: a page of the text log, and what the link graph says of it, become a Xapian document (index/schema.h).
//
// Terms are made by Xapian's own TermGenerator, so that its query parser finds the same words; stemmed by the page's
// language. The body is the main text; where no main text was found (a list, a table, a form) all visible text.
//
// Thread: one owner; otherwise pure. Memory bound: the document, which is that of the page (kMaxPageText of text); the
// stemmers, one per language. No exception of Xapian's leaves it.

#pragma once

#include <xapian.h>

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "flow/output_records.h"
#include "index/inlinks.h"
#include "index/schema.h"
#include "url/domain.h"

namespace portolan {

class DocumentMaker {
 public:
  static Result<DocumentMaker> Create();

  // `inlinks`: the packed Inlinks of the page, empty if there are none.
  Result<Xapian::Document> Make(const TextRecord& page, const TextPlace& place, std::string_view inlinks);

  // Replaces what Make made of `inlinks` in a document that was read from a database.
  Status ReplaceInlinks(Xapian::Document& document, std::string_view inlinks);

  // The host of a URL; empty: it has none.
  static std::string HostOf(std::string_view url);
  // The words of a URL apart: without its scheme and "www.", %XX decoded, '_' and '+' as blanks.
  static std::string UrlWords(std::string_view url);
  // How many times the words of a text count that so many links have.
  static Xapian::termcount WeightOf(const InlinkText& text);

 private:
  explicit DocumentMaker(PublicSuffixes suffixes) : suffixes_(std::move(suffixes)) {
    generator_.set_stemming_strategy(Xapian::TermGenerator::STEM_SOME);
    generator_.set_flags(Xapian::TermGenerator::FLAG_CJK_NGRAM);
  }

  const Xapian::Stem& StemOf(std::string_view language);
  void AddHeadings(std::string_view headings);
  void AddInlinks(Xapian::Document& document, std::string_view inlinks);

  PublicSuffixes suffixes_;
  Xapian::TermGenerator generator_;
  std::map<std::string, Xapian::Stem, std::less<>> stems_;
};

}  // namespace portolan
