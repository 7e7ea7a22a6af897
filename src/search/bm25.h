// Bm25: BM25 for Xapian's matcher, where each term's idf is a factor in the query (score.h), so that the statistics of
// other parts count, too. DeadlineQuery: a condition that holds for every page until the time is over.
//
// Xapian has no time limit for a match; but a weight is asked for at every page that may be a hit, and this one looks
// at the clock now and then. Phrases look at positions before any weight, so they get a condition that does the same.
//
// Thread: one match at a time.

#pragma once

#include <xapian.h>

#include <algorithm>
#include <exception>

#include "io/clock.h"
#include "search/score.h"

namespace portolan {

struct SearchTimeout : std::exception {
  const char* what() const noexcept override { return "the time for the question is over"; }
};

class Bm25 : public Xapian::Weight {
 public:
  static constexpr uint32_t kTurns = 4096;  // weights between two looks at the clock: some 100 us

  Bm25(const ScoreOptions& options, double average_length, const Clock& clock, int64_t deadline_ns)
      : options_(options), average_(average_length), clock_(clock), deadline_ns_(deadline_ns) {
    need_stat(WDF);
    need_stat(WDF_MAX);
    need_stat(DOC_LENGTH);
    need_stat(DOC_LENGTH_MIN);
  }

  std::string name() const override { return "portolan::Bm25"; }
  double get_sumpart(Xapian::termcount wdf, Xapian::termcount length, Xapian::termcount /*unique*/) const override {
    if (++turn_ % kTurns == 0 && clock_.NowNs() > deadline_ns_) throw SearchTimeout();
    return Part(wdf, length);
  }
  double get_maxpart() const override {
    return Part(get_wdf_upper_bound(), std::max(get_wdf_upper_bound(), get_doclength_lower_bound()));
  }
  double get_sumextra(Xapian::termcount, Xapian::termcount) const override { return 0; }
  double get_maxextra() const override { return 0; }

  Bm25* clone() const override { return new Bm25(options_, average_, clock_, deadline_ns_); }

 private:
  void init(double factor) override { factor_ = factor * (options_.k1 + 1); }

  double Part(Xapian::termcount wdf, Xapian::termcount length) const {
    const double norm = average_ == 0 ? kMinNormLength : std::max(length / average_, kMinNormLength);
    return factor_ * (wdf / (wdf + options_.k1 * (1 - options_.b + options_.b * norm)));
  }

  const ScoreOptions options_;
  const double average_;
  const Clock& clock_;
  const int64_t deadline_ns_;
  double factor_ = 0;
  mutable uint32_t turn_ = 0;
};

// All pages; throws SearchTimeout. To be used beside other conditions.
Xapian::Query DeadlineQuery(const Clock& clock, int64_t deadline_ns);

}  // namespace portolan
