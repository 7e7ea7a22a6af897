#include "bench/index/plain_xapian.h"

#include <xapian.h>

#include <map>

#include "index/xapian_error.h"

namespace portolan::bench {

Status IndexWithPlainXapian(const std::vector<PreparedPage>& pages, const std::string& path, uint64_t per_commit) {
  return WithoutExceptions(path, [&]() -> Status {
    Xapian::WritableDatabase database(path, Xapian::DB_CREATE | Xapian::DB_BACKEND_GLASS);
    Xapian::TermGenerator generator;
    generator.set_stemming_strategy(Xapian::TermGenerator::STEM_SOME);
    generator.set_flags(Xapian::TermGenerator::FLAG_CJK_NGRAM);
    std::map<std::string, Xapian::Stem> stems;
    uint64_t waiting = 0;
    for (const PreparedPage& page : pages) {
      Xapian::Document document;
      generator.set_document(document);
      auto stem = stems.find(page.stemmer);
      if (stem == stems.end()) stem = stems.emplace(page.stemmer, Xapian::Stem(page.stemmer)).first;
      generator.set_stemmer(stem->second);
      generator.set_termpos(0);
      generator.index_text(page.body);
      generator.increase_termpos(100);
      generator.index_text(page.title, 1, "S");
      generator.index_text_without_positions(page.headings, 1, "XH");
      generator.index_text_without_positions(page.url_words, 1, "XU");
      for (const auto& [text, weight] : page.anchors) generator.index_text_without_positions(text, weight, "XA");
      for (const std::string& term : page.boolean_terms) document.add_boolean_term(term);
      for (const auto& [slot, value] : page.values) document.add_value(slot, value);
      document.set_data(page.data);
      database.add_document(document);
      if (++waiting % per_commit == 0) database.commit();
    }
    database.commit();
    return {};
  });
}

}  // namespace portolan::bench
