#include "search/query_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/utf8.h"
#include "index/schema.h"

namespace portolan {
namespace {

using NodeKind = PlanNode::Kind;

PlanNodePtr Node(PlanNode node) { return std::make_shared<const PlanNode>(std::move(node)); }

PlanNodePtr Term(std::string term) { return Node({.kind = NodeKind::kTerm, .term = std::move(term)}); }

// Of one child the child itself.
PlanNodePtr Combine(NodeKind kind, std::vector<PlanNodePtr> children) {
  if (children.empty()) return Node({});
  if (children.size() == 1) return std::move(children.front());
  return Node({.kind = kind, .children = std::move(children)});
}

PlanNodePtr Pair(NodeKind kind, PlanNodePtr left, PlanNodePtr right) {
  return Node({.kind = kind, .children = {std::move(left), std::move(right)}});
}

PlanNodePtr Scale(double factor, PlanNodePtr child) {
  return factor == 1 ? std::move(child)
                     : Node({.kind = NodeKind::kScale, .factor = factor, .children = {std::move(child)}});
}

// Values of the slot from `least` on; `before`: earlier than it.
PlanNodePtr Range(uint32_t slot, const std::string& least, const std::string& before) {
  std::string most = "~";
  if (!before.empty()) {
    most = before;
    --most.back();
    most += '~';
  }
  return Node({.kind = NodeKind::kRange, .term = least.empty() ? "0" : least, .most = most, .slot = slot});
}

void Collect(const PlanNode& node, std::set<std::string>& terms) {
  if (node.kind == NodeKind::kTerm) terms.insert(node.term);
  for (const PlanNodePtr& child : node.children) Collect(*child, terms);
}

std::vector<std::string> TermsOf(const PlanNode& node) {
  std::set<std::string> terms;
  Collect(node, terms);
  return {terms.begin(), terms.end()};
}

std::vector<Xapian::Query> Children(const PlanNode& node, const SearchStatistics* statistics,
                                    const Xapian::Query* deadline) {
  std::vector<Xapian::Query> queries;
  queries.reserve(node.children.size());
  for (const PlanNodePtr& child : node.children) queries.push_back(ToXapian(*child, statistics, deadline));
  return queries;
}

Xapian::Query Many(Xapian::Query::op op, const std::vector<Xapian::Query>& queries, uint32_t window = 0) {
  return {op, queries.begin(), queries.end(), window};
}

// Single characters that the index has in pairs, too.
bool IsWide(std::string_view term) {
  return !term.empty() && Utf8SequenceLength(term) == term.size() && term.size() > 1;
}

}  // namespace

std::vector<std::string> WordsOf(const std::string& text, bool positional) {
  Xapian::Document document;
  Xapian::TermGenerator generator;
  generator.set_document(document);
  generator.set_flags(Xapian::TermGenerator::FLAG_CJK_NGRAM);
  generator.index_text(text);
  std::vector<std::pair<uint32_t, std::string>> placed;
  std::vector<std::string> pairs;
  for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
    if (term.positionlist_count() == 0) {
      pairs.push_back(*term);
      continue;
    }
    for (auto at = term.positionlist_begin(); at != term.positionlist_end(); ++at) placed.emplace_back(*at, *term);
  }
  std::ranges::sort(placed);
  std::vector<std::string> words;
  for (auto& [at, term] : placed) {
    if (positional || pairs.empty() || !IsWide(term)) words.push_back(std::move(term));
  }
  if (!positional) words.insert(words.end(), pairs.begin(), pairs.end());
  return words;
}

// Makes the tree of a question.
class PlanMaker {
 public:
  PlanMaker(const std::vector<std::string>& languages, const ScoreOptions& options) : options_(options) {
    for (const std::string& language : languages) {
      if (stemmers_.size() >= kMaxStemLanguages) break;
      stemmers_.emplace_back(Xapian::Stem(language));
      plan_.marks_.stemmers.push_back(language);
    }
    plan_.options_ = options;
  }

  Result<QueryPlan> Make(const UserQuery& query, bool any) {
    std::vector<PlanNodePtr> wanted;
    for (const auto& alternatives : query.wanted) {
      std::vector<PlanNodePtr> either;
      for (const UserQuery::Piece& piece : alternatives) {
        if (PlanNodePtr node = Wanted(piece)) either.push_back(std::move(node));
      }
      if (!either.empty()) wanted.push_back(Combine(NodeKind::kOr, std::move(either)));
    }
    std::vector<PlanNodePtr> unwanted;
    for (const UserQuery::Piece& piece : query.unwanted) {
      if (PlanNodePtr node = Unwanted(piece)) unwanted.push_back(std::move(node));
    }
    if ((!query.wanted.empty() || !query.unwanted.empty()) && wanted.empty() && unwanted.empty()) {
      return Fail(ErrorCode::kInvalidArgument, "there is no letter and no digit in the words to look for");
    }
    plan_.wanted_ = wanted.size();
    PlanNodePtr root = wanted.empty() ? Node({.kind = NodeKind::kAll})
                                      : Combine(any ? NodeKind::kOr : NodeKind::kAnd, std::move(wanted));
    std::vector<PlanNodePtr> conditions;
    AddFilters(query, conditions, unwanted);
    if (!conditions.empty()) root = Pair(NodeKind::kFilter, root, Combine(NodeKind::kAnd, std::move(conditions)));
    if (!unwanted.empty()) root = Pair(NodeKind::kAndNot, root, Combine(NodeKind::kOr, std::move(unwanted)));
    if (options_.still > 0) {
      const PlanNodePtr still = Scale(options_.still, Node({.kind = NodeKind::kStill}));
      plan_.parts_.push_back({.word = "", .field = "static", .node = still});
      root = Pair(NodeKind::kAndMaybe, root, still);
    }
    plan_.root_ = std::move(root);
    plan_.terms_ = TermsOf(*plan_.root_);
    for (auto* marks : {&plan_.marks_.words, &plan_.marks_.stems}) {
      std::ranges::sort(*marks);
      marks->erase(std::ranges::unique(*marks).begin(), marks->end());
    }
    return std::move(plan_);
  }

 private:
  // Null: there is no word in it.
  PlanNodePtr Wanted(const UserQuery::Piece& piece) {
    const std::vector<std::string> words = WordsOf(piece.text, piece.phrase);
    plan_.marks_.words.insert(plan_.marks_.words.end(), words.begin(), words.end());
    if (words.empty()) return nullptr;
    if (piece.phrase && words.size() > 1) return Phrase(piece.text, words);
    std::vector<PlanNodePtr> all;
    for (const std::string& word : words) all.push_back(Word(word, !piece.phrase));
    return Combine(NodeKind::kAnd, std::move(all));
  }

  PlanNodePtr Word(const std::string& word, bool stemmed) {
    std::vector<std::string> forms = {word};
    // Xapian's generator stems what begins with a letter.
    if (stemmed && terms_ < kMaxPlanTerms / 2 && !IsDigit(word[0])) {
      for (const Xapian::Stem& stemmer : stemmers_) {
        std::string stem = stemmer(word);
        plan_.marks_.stems.push_back(stem);
        stem.insert(stem.begin(), 'Z');
        if (std::ranges::find(forms, stem) == forms.end()) forms.push_back(std::move(stem));
      }
    }
    std::vector<PlanNodePtr> fields;
    for (size_t f = 0; f < kWordPrefixes.size(); ++f) {
      if (options_.fields[f] <= 0) continue;
      std::vector<PlanNodePtr> some;
      for (const std::string& form : forms) {
        const bool stem = form[0] == 'Z';
        PlanNodePtr term = Term((stem ? "Z" : "") + std::string(kWordPrefixes[f]) + form.substr(stem ? 1 : 0));
        some.push_back(Scale(!stem && forms.size() > 1 ? options_.exact : 1, std::move(term)));
        ++terms_;
      }
      // Not OP_MAX: Xapian 1.4 reads freed memory when all terms of one are at their ends.
      fields.push_back(Scale(options_.fields[f], Combine(NodeKind::kOr, std::move(some))));
      plan_.parts_.push_back({.word = word, .field = kFieldNames[f], .node = fields.back()});
    }
    return Combine(NodeKind::kOr, std::move(fields));
  }

  PlanNodePtr Phrase(const std::string& text, const std::vector<std::string>& words) {
    std::vector<PlanNodePtr> fields;
    for (const size_t f : {size_t{0}, size_t{1}}) {  // those with positions
      if (options_.fields[f] <= 0) continue;
      PlanNode phrase{.kind = NodeKind::kPhrase};
      for (const std::string& word : words) phrase.children.push_back(Term(std::string(kWordPrefixes[f]) + word));
      fields.push_back(Scale(options_.fields[f], Node(std::move(phrase))));
      plan_.parts_.push_back({.word = '"' + text + '"', .field = kFieldNames[f], .node = fields.back()});
    }
    return Combine(NodeKind::kOr, std::move(fields));
  }

  static PlanNodePtr Unwanted(const UserQuery::Piece& piece) {
    const std::vector<std::string> words = WordsOf(piece.text, piece.phrase);
    if (words.empty()) return nullptr;
    std::vector<PlanNodePtr> fields;
    for (size_t f = 0; f < kWordPrefixes.size(); ++f) {
      std::vector<PlanNodePtr> all;
      for (const std::string& word : words) all.push_back(Term(std::string(kWordPrefixes[f]) + word));
      if (piece.phrase && words.size() > 1) {
        if (f > 1) break;
        fields.push_back(Node({.kind = NodeKind::kPhrase, .children = std::move(all)}));
      } else {
        fields.push_back(Combine(NodeKind::kAnd, std::move(all)));
      }
    }
    return Combine(NodeKind::kOr, std::move(fields));
  }

  static void AddFilters(const UserQuery& query, std::vector<PlanNodePtr>& conditions,
                         std::vector<PlanNodePtr>& unwanted) {
    using Filter = UserQuery::Filter::Kind;
    for (const Filter kind : {Filter::kSite, Filter::kLanguage, Filter::kType}) {
      std::vector<PlanNodePtr> either;
      for (const UserQuery::Filter& filter : query.filters) {
        if (filter.kind != kind) continue;
        const std::string_view prefix = kind == Filter::kSite       ? kSitePrefix
                                        : kind == Filter::kLanguage ? kLanguagePrefix
                                                                    : kTypePrefix;
        (filter.excluded ? unwanted : either).push_back(Term(std::string(prefix) + filter.value));
      }
      if (!either.empty()) conditions.push_back(Combine(NodeKind::kOr, std::move(either)));
    }
    if (query.after.empty() && query.before.empty()) return;
    // The page's own date where it gives one, else the day it was fetched.
    const PlanNodePtr fetched =
        Pair(NodeKind::kAndNot, Range(kFetchedSlot, query.after, query.before), Range(kPublishedSlot, "", ""));
    conditions.push_back(Combine(NodeKind::kOr, {Range(kPublishedSlot, query.after, query.before), fetched}));
  }

  const ScoreOptions options_;
  std::vector<Xapian::Stem> stemmers_;
  QueryPlan plan_;
  size_t terms_ = 0;
};

Result<QueryPlan> QueryPlan::Make(const UserQuery& query, const std::vector<std::string>& languages,
                                  const ScoreOptions& options, bool any) {
  return PlanMaker(languages, options).Make(query, any);
}

QueryPlan QueryPlan::PartOf(const ScorePart& part, const std::vector<std::string>& id_terms) const {
  std::vector<PlanNodePtr> ids;
  for (const std::string& id : id_terms) ids.push_back(Term(id));
  QueryPlan plan;
  plan.options_ = options_;
  // The static score has a weight where it is optional, and documents without one are there, too.
  const PlanNodePtr some =
      Pair(NodeKind::kFilter, Node({.kind = NodeKind::kAll}), Combine(NodeKind::kOr, std::move(ids)));
  plan.root_ = Pair(NodeKind::kAndMaybe, some, part.node);
  plan.terms_ = TermsOf(*plan.root_);
  return plan;
}

Xapian::Query ToXapian(const PlanNode& node, const SearchStatistics* statistics, const Xapian::Query* deadline) {
  switch (node.kind) {
    case NodeKind::kNone:
      return Xapian::Query();
    case NodeKind::kAll:
      return Xapian::Query(Xapian::Query::OP_SCALE_WEIGHT, Xapian::Query(std::string()), 0.0);
    case NodeKind::kTerm: {
      Xapian::Query leaf(node.term);
      return statistics == nullptr ? leaf
                                   : Xapian::Query(Xapian::Query::OP_SCALE_WEIGHT, leaf, statistics->Idf(node.term));
    }
    case NodeKind::kAnd:
      return Many(Xapian::Query::OP_AND, Children(node, statistics, deadline));
    case NodeKind::kOr:
      return Many(Xapian::Query::OP_OR, Children(node, statistics, deadline));
    case NodeKind::kPhrase: {
      // Terms of a phrase must be bare, so it is a filter, and the same terms beside it give the weight.
      std::vector<Xapian::Query> bare;
      for (const PlanNodePtr& child : node.children) bare.emplace_back(child->term);
      Xapian::Query phrase = Many(Xapian::Query::OP_PHRASE, bare, static_cast<uint32_t>(bare.size()));
      // Xapian looks at positions after all conditions beside the phrase.
      if (deadline != nullptr) phrase = Xapian::Query(Xapian::Query::OP_FILTER, phrase, *deadline);
      return {Xapian::Query::OP_FILTER, Many(Xapian::Query::OP_AND, Children(node, statistics, deadline)), phrase};
    }
    case NodeKind::kScale:
      return {Xapian::Query::OP_SCALE_WEIGHT, ToXapian(*node.children[0], statistics, deadline), node.factor};
    case NodeKind::kFilter:
      return {Xapian::Query::OP_FILTER, ToXapian(*node.children[0], statistics, deadline),
              ToXapian(*node.children[1], nullptr, deadline)};
    case NodeKind::kAndNot:
      return {Xapian::Query::OP_AND_NOT, ToXapian(*node.children[0], statistics, deadline),
              ToXapian(*node.children[1], nullptr, deadline)};
    case NodeKind::kAndMaybe:
      return {Xapian::Query::OP_AND_MAYBE, ToXapian(*node.children[0], statistics, deadline),
              ToXapian(*node.children[1], statistics, deadline)};
    case NodeKind::kRange:
      return {Xapian::Query::OP_VALUE_RANGE, node.slot, node.term, node.most};
    case NodeKind::kStill: {
      Xapian::ValueWeightPostingSource source(kScoreSlot);
      return Xapian::Query(&source);
    }
  }
  return Xapian::Query();
}

}  // namespace portolan
