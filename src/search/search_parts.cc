#include "search/search_parts.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "search/local_part.h"
#include "search/remote_part.h"

namespace portolan {
namespace {

constexpr int kMaxAttempts = 4;  // when databases change while they are read

bool Near(uint64_t a, uint64_t b) { return a != 0 && b != 0 && std::popcount(a ^ b) <= kNearBits; }

// One question at work.
class Asking {
 public:
  Asking(const Clock& clock, const SearchOptions& options, const std::vector<std::unique_ptr<SearchPart>>& parts,
         const SearchQuestion& question)
      : options_(options), question_(question), deadline_ns_(clock.NowNs() + options.limit_ns) {
    for (const auto& part : parts) slots_.push_back({.part = part.get()});
  }

  Result<SearchAnswer> Answer(const UserQuery& query) {
    Each(false, [&](Slot& slot) -> Status {
      ASSIGN_OR_RETURN(slot.asker, slot.part->Ask(deadline_ns_));
      ASSIGN_OR_RETURN(slot.languages, slot.asker->Languages());
      return {};
    });
    RETURN_IF_ERROR(Verdict());
    const std::vector<std::string> languages = Stemmers(query);
    ASSIGN_OR_RETURN(QueryPlan plan, QueryPlan::Make(query, languages, options_.score));
    RETURN_IF_ERROR(Match(plan));
    if (merged_.empty() && plan.wanted() > 1) {
      ASSIGN_OR_RETURN(plan, QueryPlan::Make(query, languages, options_.score, true));
      RETURN_IF_ERROR(Match(plan));
      if (!merged_.empty()) answer_.all_words = false;
    }
    RETURN_IF_ERROR(Fold());
    if (question_.explain) RETURN_IF_ERROR(Explain(plan));
    answer_.marks = plan.marks();
    for (const Slot& slot : slots_) {
      if (slot.failed) answer_.left_out.push_back({slot.part->name(), slot.why->message()});
    }
    return std::move(answer_);
  }

  Result<FoundDocument> Find(const std::string& url) {
    const QueryPlan plan = QueryPlan().PartOf({.node = std::make_shared<PlanNode>()}, {IdTerm(url)});
    std::optional<FoundDocument> found;
    for (Slot& slot : slots_) {
      if (found || !slot.part->local()) continue;
      const auto step = [&]() -> Status {
        ASSIGN_OR_RETURN(slot.asker, slot.part->Ask(deadline_ns_));
        ASSIGN_OR_RETURN(const SearchStatistics all, slot.asker->Begin(plan));
        ASSIGN_OR_RETURN(const PartHits hits, slot.asker->Finish(plan, all, 1, 1));
        if (hits.hits.empty()) return {};
        ASSIGN_OR_RETURN(auto documents, slot.asker->Documents({hits.hits[0].docid}));
        found = FoundDocument{.part = slot.part->name(), .document = std::move(documents.front())};
        return {};
      };
      RETURN_IF_ERROR(step());
    }
    if (!found) return Fail(ErrorCode::kNotFound, fmt::format("{} is not in the index", Printable(url)));
    return *std::move(found);
  }

 private:
  struct Slot {
    SearchPart* part;
    std::unique_ptr<PartAsker> asker = {};
    std::map<std::string, uint64_t> languages = {};
    SearchStatistics statistics = {};
    PartHits hits = {};
    bool failed = false;
    std::optional<Error> why = {};
  };
  struct Merged {
    PartHit hit;
    size_t slot;
  };

  void Run(Slot& slot, const std::function<Status(Slot&)>& step) {
    if (slot.failed) return;
    if (Status status = step(slot); !status) {
      slot.failed = true;
      slot.why = std::move(status).error();
    }
  }

  // One step of all parts that have not failed: each remote one on a thread of its own; local ones on this thread, and
  // if the step is `heavy` on others, too.
  void Each(bool heavy, const std::function<Status(Slot&)>& step) {
    std::vector<Slot*> local;
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i = next++; i < local.size(); i = next++) Run(*local[i], step);
    };
    std::vector<std::jthread> threads;  // joined first of all these
    for (Slot& slot : slots_) {
      if (slot.failed) continue;
      if (slot.part->local()) {
        local.push_back(&slot);
      } else if (slots_.size() == 1) {
        Run(slot, step);
      } else {
        threads.emplace_back([&, s = &slot] { Run(*s, step); });
      }
    }
    size_t workers = options_.threads != 0 ? options_.threads : std::max(1u, std::thread::hardware_concurrency());
    workers = std::min(workers, local.size());
    for (size_t i = 1; heavy && i < workers; ++i) threads.emplace_back(work);
    work();
  }

  // Whether anything can still be answered; kClosed: ask again.
  Status Verdict() const {
    const Slot* first = nullptr;
    bool any = false;
    for (const Slot& slot : slots_) {
      if (!slot.failed) {
        any = true;
        continue;
      }
      if (slot.why->code() == ErrorCode::kClosed) return std::unexpected(*slot.why);
      if (first == nullptr) first = &slot;
    }
    if (any || first == nullptr) return {};
    return std::unexpected(*first->why);
  }

  // The stemmers of the languages of most pages; of those that are asked for, if any are.
  std::vector<std::string> Stemmers(const UserQuery& query) const {
    std::map<std::string, uint64_t> pages;
    for (const Slot& slot : slots_) {
      if (slot.failed) continue;
      for (const auto& [language, count] : slot.languages) {
        const std::string_view stemmer = StemmerOf(language);
        if (!stemmer.empty()) pages[std::string(stemmer)] += count;
      }
    }
    std::vector<std::string> wanted;
    for (const UserQuery::Filter& filter : query.filters) {
      if (filter.kind != UserQuery::Filter::Kind::kLanguage || filter.excluded) continue;
      wanted.emplace_back(StemmerOf(filter.value));
    }
    if (!wanted.empty())
      std::erase_if(pages, [&](const auto& entry) { return std::ranges::find(wanted, entry.first) == wanted.end(); });
    std::vector<std::pair<uint64_t, std::string>> order;
    for (const auto& [stemmer, count] : pages) order.emplace_back(UINT64_MAX - count, stemmer);
    std::ranges::sort(order);
    std::vector<std::string> stemmers;
    for (size_t i = 0; i < std::min(order.size(), kMaxStemLanguages); ++i) stemmers.push_back(order[i].second);
    return stemmers;
  }

  Status Match(const QueryPlan& plan) {
    Each(false, [&](Slot& slot) -> Status {
      ASSIGN_OR_RETURN(slot.statistics, slot.asker->Begin(plan));
      return {};
    });
    RETURN_IF_ERROR(Verdict());
    all_ = {};
    for (const Slot& slot : slots_) {
      if (!slot.failed) all_.Add(slot.statistics);
    }
    const auto most = static_cast<uint32_t>(2 * (question_.offset + question_.limit) + 20);
    Each(true, [&](Slot& slot) -> Status {
      ASSIGN_OR_RETURN(slot.hits, slot.asker->Finish(plan, all_, most, options_.count));
      return {};
    });
    RETURN_IF_ERROR(Verdict());
    merged_.clear();
    answer_.matches = 0;
    answer_.exact = true;
    answer_.pages = 0;
    full_ = false;
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].failed) continue;
      const PartHits& hits = slots_[i].hits;
      answer_.matches += hits.matches;
      answer_.exact = answer_.exact && hits.exact;
      answer_.pages += slots_[i].statistics.documents;
      full_ = full_ || hits.hits.size() >= most;
      for (const PartHit& hit : hits.hits) merged_.push_back({hit, i});
    }
    std::ranges::sort(merged_, [](const Merged& a, const Merged& b) {
      if (a.hit.score != b.hit.score) return a.hit.score > b.hit.score;
      return std::tie(a.hit.tie, a.slot, a.hit.docid) < std::tie(b.hit.tie, b.slot, b.hit.docid);
    });
    // Behind this rank a part may have pages that it did not give.
    if (merged_.size() > most) merged_.resize(most);
    return {};
  }

  // Reads documents in the order of rank until there are enough pages that are not near duplicates.
  Status Fold() {
    const size_t need = question_.offset + question_.limit;
    std::vector<SearchHit> kept;
    size_t next = 0;
    while (next < merged_.size() && kept.size() < need) {
      const size_t end = std::min(merged_.size(), next + std::max<size_t>(need - kept.size() + 5, 10));
      ASSIGN_OR_RETURN(std::vector<std::optional<PartDocument>> documents, ReadDocuments(next, end));
      for (; next < end && kept.size() < need; ++next) {
        auto& document = documents[documents.size() - (end - next)];
        if (!document) continue;
        SearchHit* same = nullptr;
        for (SearchHit& hit : kept) {
          if (question_.fold && Near(hit.document.similarity, document->similarity)) {
            same = &hit;
            break;
          }
        }
        if (same != nullptr) {
          ++same->similar;
          continue;
        }
        const Slot& slot = slots_[merged_[next].slot];
        kept.push_back({.score = merged_[next].hit.score,
                        .part = slot.part->name(),
                        .local = slot.part->local(),
                        .document = *std::move(document)});
        ranks_.push_back(next);
      }
    }
    answer_.more = next < merged_.size() || full_;
    const size_t begin = std::min(question_.offset, kept.size());
    answer_.hits.assign(std::make_move_iterator(kept.begin() + static_cast<ptrdiff_t>(begin)),
                        std::make_move_iterator(kept.end()));
    ranks_.erase(ranks_.begin(), ranks_.begin() + static_cast<ptrdiff_t>(begin));
    return {};
  }

  Result<std::vector<std::optional<PartDocument>>> ReadDocuments(size_t begin, size_t end) {
    std::vector<std::optional<PartDocument>> documents(end - begin);
    Each(false, [&](Slot& slot) -> Status {
      std::vector<uint32_t> docids;
      std::vector<size_t> places;
      for (size_t i = begin; i < end; ++i) {
        if (&slots_[merged_[i].slot] != &slot) continue;
        docids.push_back(merged_[i].hit.docid);
        places.push_back(i - begin);
      }
      if (docids.empty()) return {};
      ASSIGN_OR_RETURN(std::vector<PartDocument> read, slot.asker->Documents(docids));
      for (size_t i = 0; i < read.size(); ++i) documents[places[i]] = std::move(read[i]);
      return {};
    });
    RETURN_IF_ERROR(Verdict());
    return documents;
  }

  // Asks each part again for one word in one field at a time, of the pages that are shown only.
  Status Explain(const QueryPlan& plan) {
    Each(true, [&](Slot& slot) -> Status {
      std::map<uint32_t, SearchHit*> shown;
      std::vector<std::string> ids;
      for (size_t i = 0; i < answer_.hits.size(); ++i) {
        const Merged& merged = merged_[ranks_[i]];
        if (&slots_[merged.slot] != &slot) continue;
        shown[merged.hit.docid] = &answer_.hits[i];
        ids.push_back(IdTerm(answer_.hits[i].document.data.url));
      }
      if (ids.empty()) return {};
      for (const ScorePart& part : plan.parts()) {
        const QueryPlan alone = plan.PartOf(part, ids);
        ASSIGN_OR_RETURN(const SearchStatistics own, slot.asker->Begin(alone));
        SearchStatistics all = all_;
        for (const auto& [term, counts] : own.terms) all.terms.try_emplace(term, counts);
        ASSIGN_OR_RETURN(const PartHits hits, slot.asker->Finish(alone, all, static_cast<uint32_t>(ids.size()), 0));
        for (const PartHit& hit : hits.hits) {
          const auto found = shown.find(hit.docid);
          if (found == shown.end() || hit.score == 0) continue;
          found->second->reasons.push_back({.word = part.word, .field = part.field, .score = hit.score});
        }
      }
      return {};
    });
    return Verdict();
  }

  const SearchOptions& options_;
  const SearchQuestion& question_;
  const int64_t deadline_ns_;
  std::vector<Slot> slots_;
  SearchStatistics all_;
  std::vector<Merged> merged_;
  std::vector<size_t> ranks_;  // of the hits, in merged_
  bool full_ = false;          // a part may have more
  SearchAnswer answer_;
};

// Until databases stand still.
template <typename F>
auto Again(F&& f) -> decltype(f()) {
  for (int attempt = 1;; ++attempt) {
    auto result = f();
    if (result || result.error().code() != ErrorCode::kClosed || attempt == kMaxAttempts) return result;
  }
}

}  // namespace

Result<std::unique_ptr<SearchParts>> SearchParts::Make(const Clock& clock, const SearchOptions& options) {
  std::vector<std::unique_ptr<SearchPart>> parts;
  for (const std::string& dir : options.dirs) parts.push_back(std::make_unique<LocalPart>(clock, dir));
  for (const std::string& remote : options.remotes) {
    ASSIGN_OR_RETURN(auto part, RemotePart::Make(clock, remote, options.remote_step_ns));
    parts.push_back(std::move(part));
  }
  if (parts.empty()) return Fail(ErrorCode::kNotFound, "there is no part of an index to search");
  return std::make_unique<SearchParts>(clock, options, std::move(parts));
}

SearchParts::SearchParts(const Clock& clock, const SearchOptions& options,
                         std::vector<std::unique_ptr<SearchPart>> parts)
    : clock_(clock), options_(options), parts_(std::move(parts)) {}

Result<SearchAnswer> SearchParts::Ask(const SearchQuestion& question) const {
  ASSIGN_OR_RETURN(const UserQuery query, UserQuery::Parse(question.words));
  if (question.limit > kMaxDepth || question.offset > kMaxDepth - question.limit) {
    return Fail(ErrorCode::kBusy, fmt::format("only the first {} results can be shown", kMaxDepth));
  }
  return Again([&] { return Asking(clock_, options_, parts_, question).Answer(query); });
}

Result<FoundDocument> SearchParts::Find(const std::string& url) const {
  const SearchQuestion question;
  return Again([&] { return Asking(clock_, options_, parts_, question).Find(url); });
}

}  // namespace portolan
