// ShingleScore: how well extracted text agrees with an article's, by the measure of ScrapingHub's article extraction
// benchmark (evaluate.py): words are runs of letters, digits and '_' of any script; all 4-grams of words are counted as
// a multiset; overlap, excess and lack of an article are divided by their sum, so that long articles do not count
// more; precision and recall are the means over the articles, and F1 is made from these two means.

#pragma once

#include <cstddef>
#include <string_view>

namespace portolan::bench {

struct Shingles {
  double both = 0;    // shares of the union: true positives,
  double excess = 0;  // false positives,
  double lack = 0;    // false negatives
};
Shingles CompareShingles(std::string_view truth, std::string_view extracted);

class ShingleScore {
 public:
  void Add(const Shingles& article);
  size_t articles() const { return articles_; }
  double Precision() const;
  double Recall() const;
  double F1() const;

 private:
  size_t articles_ = 0;
  size_t with_extract_ = 0;  // those for which precision is defined
  size_t with_truth_ = 0;
  double precision_ = 0;
  double recall_ = 0;
};

}  // namespace portolan::bench
