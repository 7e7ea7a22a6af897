#include "search/bm25.h"

namespace portolan {
namespace {

// Every number of a page, without a weight. It is only asked whether it has pages that another query has.
class DeadlineSource : public Xapian::PostingSource {
 public:
  DeadlineSource(const Clock& clock, int64_t deadline_ns) : clock_(clock), deadline_ns_(deadline_ns) {}

  Xapian::doccount get_termfreq_min() const override { return documents_; }
  Xapian::doccount get_termfreq_est() const override { return documents_; }
  Xapian::doccount get_termfreq_max() const override { return documents_; }
  void next(double) override { Go(at_ + 1); }
  void skip_to(Xapian::docid docid, double) override { Go(std::max(docid, at_)); }
  bool check(Xapian::docid docid, double) override {
    Go(docid);
    return true;
  }
  bool at_end() const override { return at_ > last_; }
  Xapian::docid get_docid() const override { return at_; }
  void init(const Xapian::Database& database) override {
    documents_ = database.get_doccount();
    last_ = database.get_lastdocid();
    at_ = 0;
  }
  DeadlineSource* clone() const override { return new DeadlineSource(clock_, deadline_ns_); }

 private:
  void Go(Xapian::docid docid) {
    at_ = docid;
    if (++turn_ % 256 == 0 && clock_.NowNs() > deadline_ns_) throw SearchTimeout();
  }

  const Clock& clock_;
  const int64_t deadline_ns_;
  Xapian::doccount documents_ = 0;
  Xapian::docid last_ = 0;
  Xapian::docid at_ = 0;
  uint32_t turn_ = 0;
};

}  // namespace

Xapian::Query DeadlineQuery(const Clock& clock, int64_t deadline_ns) {
  return Xapian::Query((new DeadlineSource(clock, deadline_ns))->release());
}

}  // namespace portolan
