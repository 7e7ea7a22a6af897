#include "search/local_part.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "search/bm25.h"

namespace portolan {
namespace {

// A call of Xapian's as a Result.
template <typename F>
auto Guarded(const std::string& dir, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const SearchTimeout&) {
    return Fail(ErrorCode::kBusy, "the question takes too long: use rarer words, or no phrase of common ones");
  } catch (const Xapian::DatabaseModifiedError&) {
    return Fail(ErrorCode::kClosed, dir + " changed while it was read");
  } catch (const Xapian::DatabaseNotFoundError&) {
    return Fail(ErrorCode::kNotFound, dir + ": there is no index here");
  } catch (const Xapian::DatabaseVersionError& error) {
    return Fail(ErrorCode::kUnsupported, dir + ": " + error.get_msg());
  } catch (const Xapian::DatabaseError& error) {
    return Fail(ErrorCode::kCorrupt, dir + ": " + error.get_msg());
  } catch (const Xapian::Error& error) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}: {}", dir, error.get_type(), error.get_msg()));
  } catch (const std::exception& error) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: {}", dir, error.what()));
  }
}

}  // namespace

class LocalAsker : public PartAsker {
 public:
  LocalAsker(LocalPart& part, Xapian::Database database, int64_t deadline_ns)
      : part_(part), database_(std::move(database)), deadline_ns_(deadline_ns) {}
  ~LocalAsker() override {
    if (!failed_) part_.Return(std::move(database_));
  }

  Result<std::map<std::string, uint64_t>> Languages() override {
    return Checked<std::map<std::string, uint64_t>>([&]() -> Result<std::map<std::string, uint64_t>> {
      std::map<std::string, uint64_t> languages;
      const std::string prefix(kLanguagePrefix);
      for (auto term = database_.allterms_begin(prefix); term != database_.allterms_end(prefix); ++term) {
        if (std::string name = (*term).substr(prefix.size()); name.find('-') == std::string::npos) {
          languages[name] = term.get_termfreq();
        }
      }
      return languages;
    });
  }

  Result<SearchStatistics> Begin(const QueryPlan& plan) override {
    return Checked<SearchStatistics>([&]() -> Result<SearchStatistics> {
      SearchStatistics statistics;
      statistics.documents = database_.get_doccount();
      statistics.total_length = database_.get_total_length();
      for (const std::string& term : plan.terms()) {
        const uint64_t documents = database_.get_termfreq(term);
        if (documents > 0) statistics.terms[term] = {documents, database_.get_collection_freq(term)};
      }
      return statistics;
    });
  }

  Result<PartHits> Finish(const QueryPlan& plan, const SearchStatistics& all, uint32_t most, uint32_t count) override {
    return Checked<PartHits>([&]() -> Result<PartHits> {
      Xapian::Enquire enquire(database_);
      const Xapian::Query deadline = DeadlineQuery(part_.clock_, deadline_ns_);
      enquire.set_query(ToXapian(*plan.root(), &all, &deadline));
      enquire.set_weighting_scheme(Bm25(plan.options(), all.AverageLength(), part_.clock_, deadline_ns_));
      enquire.set_docid_order(Xapian::Enquire::ASCENDING);
      enquire.set_sort_by_relevance_then_value(kTieSlot, false);
      const Xapian::MSet found = enquire.get_mset(0, most, std::max(most, count));
      PartHits hits;
      for (auto hit = found.begin(); hit != found.end(); ++hit) {
        hits.hits.push_back({.score = RoundScore(hit.get_weight()), .docid = *hit, .tie = hit.get_sort_key()});
      }
      hits.matches = std::clamp<uint64_t>(std::max<uint64_t>(found.get_matches_estimated(), found.size()),
                                          found.get_matches_lower_bound(), found.get_matches_upper_bound());
      hits.exact =
          found.get_matches_lower_bound() == found.get_matches_upper_bound() || found.get_matches_upper_bound() < count;
      return hits;
    });
  }

  Result<std::vector<PartDocument>> Documents(const std::vector<uint32_t>& docids) override {
    return Checked<std::vector<PartDocument>>([&]() -> Result<std::vector<PartDocument>> {
      std::vector<PartDocument> documents;
      for (const uint32_t docid : docids) {
        const Xapian::Document document = database_.get_document(docid);
        auto decoded = DecodePartDocument(document.get_data(), document.get_value(kFetchedSlot),
                                          document.get_value(kPublishedSlot), document.get_value(kSimilaritySlot));
        if (!decoded) {
          return Fail(ErrorCode::kCorrupt, fmt::format("{}: page {} is not as the schema says", part_.dir_, docid));
        }
        documents.push_back(*std::move(decoded));
      }
      return documents;
    });
  }

 private:
  template <typename T, typename F>
  Result<T> Checked(F&& f) {
    Result<T> result = Guarded(part_.dir_, std::forward<F>(f));
    if (!result && result.error().code() != ErrorCode::kBusy) failed_ = true;
    return result;
  }

  LocalPart& part_;
  Xapian::Database database_;
  const int64_t deadline_ns_;
  bool failed_ = false;
};

Result<Xapian::Database> LocalPart::Take() {
  std::optional<Xapian::Database> idle;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      idle = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  return Guarded(dir_, [&]() -> Result<Xapian::Database> {
    if (idle) {
      idle->reopen();
      return *std::move(idle);
    }
    Xapian::Database database(dir_);
    const std::string schema = database.get_metadata(std::string(kMetaSchema));
    if (!schema.empty() && schema != fmt::format("{}", kIndexSchema)) {
      return Fail(
          ErrorCode::kUnsupported,
          fmt::format("{}: an index of schema {}, this program reads {}: build it again", dir_, schema, kIndexSchema));
    }
    return database;
  });
}

void LocalPart::Return(Xapian::Database database) {
  const std::lock_guard lock(mutex_);
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(database));
}

Result<std::unique_ptr<PartAsker>> LocalPart::Ask(int64_t deadline_ns) {
  ASSIGN_OR_RETURN(Xapian::Database database, Take());
  return std::make_unique<LocalAsker>(*this, std::move(database), deadline_ns);
}

std::optional<PartDocument> DecodePartDocument(std::string_view data, std::string_view fetched,
                                               std::string_view published, std::string_view similarity) {
  auto decoded = DocumentData::Decode(data);
  const auto digits = [](std::string_view text) {
    return text.size() <= 14 && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!decoded || !digits(fetched) || !digits(published) || (!similarity.empty() && similarity.size() != 8)) {
    return std::nullopt;
  }
  PartDocument document{
      .data = *std::move(decoded), .fetched = std::string(fetched), .published = std::string(published)};
  for (const char c : similarity) document.similarity = document.similarity << 8 | static_cast<uint8_t>(c);
  return document;
}

}  // namespace portolan
