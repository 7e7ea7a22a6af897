#include "crawl/admission.h"

#include <algorithm>

namespace portolan {

// Puts a URL whose standing is known into its queue.
class Admission::StandingToBeast : public StandingSink {
 public:
  explicit StandingToBeast(Admission& to) : to_(to) {}

  Status OnStanding(std::string_view bytes, const Standing& standing) override {
    std::optional<UrlRecord> record = DecodeUrlRecord(bytes);
    if (!record) return Fail(ErrorCode::kCorrupt, "STAR holds bytes that are not a URL record");
    if (standing.fresh) to_.heard_[standing.pld % kHeardEntries] = {standing.pld, standing.budget};
    record->budget = static_cast<uint16_t>(std::min<uint32_t>(standing.budget, 0xffff));
    EncodeUrlRecord(*record, to_.encoded_);
    const BudgetVerdict verdict{
        .judged_tick = standing.tick, .place = standing.place, .later = standing.later, .fresh = standing.fresh};
    return to_.beast_->Place(to_.encoded_, verdict);
  }

 private:
  Admission& to_;
};

Result<std::unique_ptr<Admission>> Admission::Open(Env& env, const Manifest& manifest, Executor& executor,
                                                   const AdmissionOptions& options) {
  ASSIGN_OR_RETURN(PayLevelDomains domains, PayLevelDomains::Create(options.key));
  std::unique_ptr<Admission> made(new Admission(std::move(domains), options));
  ASSIGN_OR_RETURN(made->star_, Star::Open(env, manifest, executor, options.star));
  ASSIGN_OR_RETURN(made->beast_, Beast::Open(env, manifest, options.beast));
  ASSIGN_OR_RETURN(made->yield_, YieldTable::Open(env, manifest, options.yield));
  ASSIGN_OR_RETURN(made->hosts_, HostAllowance::Open(env, manifest, options.hosts));
  ASSIGN_OR_RETURN(made->ends_, EndCounts::Open(manifest, options.ends_name));
  return made;
}

Status Admission::Add(const UrlRecord& record) {
  EncodeUrlRecord(record, encoded_);
  return AddToStar(record, encoded_, /*fresh=*/true);
}

Status Admission::AddToStar(const UrlRecord& record, std::string_view bytes, bool fresh) {
  const uint64_t host_key = HostKey(record.url, key_);
  const auto [pld, name_size] = domains_.Find(record.url, host_key);
  const Heard& heard = heard_[pld % kHeardEntries];
  const bool known = heard.pld == pld;  // Star has answered for it before, so it has its name
  std::string_view name;
  if (!known) {
    const std::string_view host = HostOf(record.url);
    name = host.substr(host.size() - name_size).substr(0, kMaxPldName);
  }
  const uint32_t budget = known ? heard.budget : star_->BudgetOf(0);
  const uint32_t price =
      std::max({yield_->Price(GroupsOf(record.url, host_key, key_)), hosts_->Price(pld, host_key, budget),
                price_of_ ? price_of_(record.url, host_key) : 1});
  return star_->AddUrl({.pld = pld,
                        .pld_name = name,
                        .record = bytes,
                        .tick = beast_->tick(),
                        .horizon = static_cast<uint16_t>(beast_->horizon()),
                        .price = static_cast<uint16_t>(price),
                        .fresh = fresh});
}

void Admission::Observe(std::string_view url, uint64_t host_key, const PageResult& result) {
  CountEnd(url, host_key, FollowOf(result.outcome, result.status).count == CountAs::kFetched);
  const bool answered = HasAnswer(result.outcome) && result.status > 0;
  // A redirect says nothing about its host: its target is judged on its own.
  if (answered && result.status >= 300 && result.status < 400) return;
  bool useful = answered && result.status < 300;
  if (useful && result.fingerprint != 0) {
    useful = !content_.Contains(result.fingerprint);
    if (useful) content_.Insert(result.fingerprint);
  }
  yield_->Observe(GroupsOf(url, host_key, key_), useful);
}

Result<uint64_t> Admission::Pump(uint64_t max, int64_t now_ns) {
  RETURN_IF_ERROR(ends_->Pass(*star_));
  StandingToBeast sink(*this);
  ASSIGN_OR_RETURN(const uint64_t looked, star_->Take(sink, max, now_ns));
  RETURN_IF_ERROR(Rebudget());
  return looked;
}

// URLs of Q_F whose re-scan is due go through Star again, as far as it has room.
Status Admission::Rebudget() {
  while (true) {
    const uint64_t due = beast_->WantsRebudget() ? beast_->RebudgetDue() : 0;
    const uint64_t some = std::min<uint64_t>({due, kBatch, Room()});
    if (some == 0) return {};
    ASSIGN_OR_RETURN(const std::vector<std::string> records, beast_->PopFailed(some));
    if (records.empty()) return {};
    for (const std::string& bytes : records) {
      const std::optional<UrlRecord> record = DecodeUrlRecord(bytes);
      if (!record) return Fail(ErrorCode::kCorrupt, "a budget queue (beast) holds bytes that are not a URL record");
      RETURN_IF_ERROR(AddToStar(*record, bytes, /*fresh=*/false));
    }
  }
}

uint64_t Admission::waiting() const {
  const BeastCounts& beast = beast_->counts();
  return star_->waiting() + beast.queued + beast.failed;
}

std::vector<Checkpointable*> Admission::Checkpointables() {
  std::vector<Checkpointable*> all = star_->Checkpointables();
  for (Checkpointable* part : beast_->Checkpointables()) all.push_back(part);
  all.push_back(yield_->checkpointable());
  for (Checkpointable* part : hosts_->Checkpointables()) all.push_back(part);
  all.push_back(ends_.get());
  return all;
}

}  // namespace portolan
