// QueryPlan: what the parts of an index are asked for a UserQuery: terms of its fields, combined and weighted.
//
// Words become terms by Xapian's TermGenerator, as the index makes them, so both always agree. A word may be several
// terms ("wi-fi"; Chinese and Japanese become pairs of characters): all of them must be there. Phrases are looked for
// in body and title, which have positions. An unwanted word is one that stands in any field in just this form.
//
// Local parts are asked with every term's idf in the query, remote ones without: their server computes it from the
// statistics that it is sent. Both come from one tree.
//
// Thread: immutable after Make. Bound: kMaxPlanTerms; a plan that would have more stems leaves stems out.

#pragma once

#include <xapian.h>

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/score.h"
#include "search/user_query.h"

namespace portolan {

inline constexpr size_t kMaxPlanTerms = 2000;
inline constexpr size_t kMaxStemLanguages = 8;

// A node of a query. Trees are small; nodes are shared and never change.
struct PlanNode {
  enum class Kind : uint8_t {
    kNone,
    kAll,
    kTerm,
    kAnd,
    kOr,
    kPhrase,
    kScale,
    kFilter,
    kAndNot,
    kAndMaybe,
    kRange,
    kStill
  };
  Kind kind = Kind::kNone;
  std::string term;                                       // kTerm; the least value of kRange
  std::string most;                                       // kRange
  uint32_t slot = 0;                                      // kRange
  double factor = 1;                                      // kScale
  std::vector<std::shared_ptr<const PlanNode>> children;  // kFilter, kAndNot, kAndMaybe: two
};
using PlanNodePtr = std::shared_ptr<const PlanNode>;

// With `statistics` each term is weighted by its idf. `deadline` (search/bm25.h) is a condition of each phrase.
Xapian::Query ToXapian(const PlanNode& node, const SearchStatistics* statistics,
                       const Xapian::Query* deadline = nullptr);

// A part of the score: a word in a field.
struct ScorePart {
  std::string word;   // as in the question
  std::string field;  // of kFieldNames; "static"
  PlanNodePtr node;
};

class QueryPlan {
 public:
  // `languages` are stemmers by Xapian's names. `any`: one of the words is enough; more score more.
  // kInvalidArgument: no letter or digit is in the question.
  static Result<QueryPlan> Make(const UserQuery& query, const std::vector<std::string>& languages,
                                const ScoreOptions& options, bool any = false);

  const PlanNodePtr& root() const { return root_; }
  const ScoreOptions& options() const { return options_; }
  // All terms of the tree, each once, rising.
  const std::vector<std::string>& terms() const { return terms_; }
  // Words are more than filters: then "any of them" is another question than "all of them".
  size_t wanted() const { return wanted_; }
  const std::vector<ScorePart>& parts() const { return parts_; }
  // A plan that gives one part of the score of the documents with these id terms.
  QueryPlan PartOf(const ScorePart& part, const std::vector<std::string>& id_terms) const;

  // What is marked in a snippet: words and stems as they are in the index, without prefixes.
  struct Marks {
    std::vector<std::string> words;  // rising
    std::vector<std::string> stems;  // rising
    std::vector<std::string> stemmers;
  };
  const Marks& marks() const { return marks_; }

 private:
  friend class PlanMaker;
  PlanNodePtr root_;
  ScoreOptions options_;
  std::vector<std::string> terms_;
  size_t wanted_ = 0;
  std::vector<ScorePart> parts_;
  Marks marks_;
};

// The words of a text as the index has them, in order. Pairs of characters of languages without blanks stand for their
// single characters; `positional`: the terms with positions, which are single characters there.
std::vector<std::string> WordsOf(const std::string& text, bool positional);

}  // namespace portolan
