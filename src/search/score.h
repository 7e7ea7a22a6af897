// How a page is scored: the sum over the words of the question and over the fields of BM25 with a weight for each
// field, and the static score.
//
//   score(page) = sum over words, fields f, forms t of the word:  fields[f] × form(t) × idf(t) × part(wdf of t in f)
//               + still × static score (0 to 1)
//
//   idf(t)      = log of w = (N - n + 0.5) / (n + 0.5), and of w / 2 + 1 where w < 2: never negative
//   part(wdf)   = (k1 + 1) × wdf / (wdf + k1 × (1 - b + b × max(length / average length, 0.5)))
//
// N pages in all parts, n of them with the term. Forms of a word are its stems in the languages of the index, of which
// a page usually has that of its own language, and the word itself: form(t) is 1 for a stem and `exact` for the word,
// so that just the same form counts more. This is Xapian's BM25Weight, term for term: remote parts compute it with the
// library's class, local ones with ours, from the same statistics.
//
// The weights are near those that the known-item search of `bench search` prefers on one half of its questions, moved
// where that set cannot tell (docs/search.md): of texts of links it has few, and it would do without a norm for length,
// because what is in the way there is shorter than what is looked for.

#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "index/schema.h"

namespace portolan {

struct ScoreOptions {
  std::array<double, kWordPrefixes.size()> fields = {0.5, 3, 1, 3, 1};  // as in kWordPrefixes; 0: not searched
  double exact = 1;                                                     // of the word as it was typed, beside its stem
  double still = 1;                                                     // of the static score
  double k1 = 0.8;
  double b = 0.25;
  bool operator==(const ScoreOptions&) const = default;
};
inline constexpr double kMinNormLength = 0.5;
inline constexpr std::array<const char*, kWordPrefixes.size()> kFieldNames = {"body", "title", "heading", "anchor",
                                                                              "url"};

struct TermCounts {
  uint64_t documents = 0;    // that have it
  uint64_t occurrences = 0;  // in all
  bool operator==(const TermCounts&) const = default;
};

// Of one part, or of all of them together.
struct SearchStatistics {
  uint64_t documents = 0;
  uint64_t total_length = 0;
  std::map<std::string, TermCounts, std::less<>> terms;

  void Add(const SearchStatistics& other) {
    documents += other.documents;
    total_length += other.total_length;
    for (const auto& [term, counts] : other.terms) {
      terms[term].documents += counts.documents;
      terms[term].occurrences += counts.occurrences;
    }
  }
  double AverageLength() const {
    return documents == 0 ? 0 : static_cast<double>(total_length) / static_cast<double>(documents);
  }
  double Idf(const std::string& term) const {
    const auto found = terms.find(term);
    const double with = found == terms.end() ? 0 : static_cast<double>(found->second.documents);
    double odds = (static_cast<double>(documents) - with + 0.5) / (with + 0.5);
    if (odds < 2) odds = odds * 0.5 + 1;
    return std::log(odds);
  }
};

// Sums of the same numbers in another order differ in their last bits, and the order depends on the part. So scores are
// compared, and shown, as multiples of a millionth; equal ones are ordered by the tie key.
inline double RoundScore(double score) { return std::round(score * 1e6) / 1e6; }

}  // namespace portolan
