#include "bench/budget/synthetic_crawl.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/bytes.h"
#include "base/hash.h"

namespace portolan::bench {
namespace {

constexpr size_t kHead = 12;  // u64 id, u32 domain, before the text

// About as long as IRLbot's (110 bytes with what travels along), and as alike as the URLs of a site are.
void MakeUrl(uint64_t id, uint32_t domain, std::string& out) {
  constexpr std::string_view kWords[] = {"news", "products", "blog", "archive", "people", "de", "forum", "wiki"};
  const uint64_t mixed = Mix64(id + 1);
  out.clear();
  AppendLe<uint64_t>(out, id);
  AppendLe<uint32_t>(out, domain);
  fmt::format_to(std::back_inserter(out), "https://www.{}-{}.example/{}/{}/{}-{:x}.html?session={:012x}&page={}",
                 kWords[domain % 8], domain * 7919, kWords[mixed % 8], 2000 + (mixed >> 8) % 27,
                 kWords[(mixed >> 16) % 8], id, mixed >> 20, (mixed >> 12) % 100);
}

}  // namespace

SyntheticCrawl::SyntheticCrawl(BudgetedQueues& queues, const SyntheticOptions& options)
    : queues_(queues), options_(options), rng_(options.seed), domains_(options.domains) {}

Status SyntheticCrawl::Judge(std::string_view record, bool fresh) {
  Domain& domain = domains_[LoadLe<uint32_t>(record.data() + 8)];
  const uint32_t tick = queues_.tick();
  domain.used -= std::min(domain.used, uint64_t{tick - domain.tick} * options_.budget);
  domain.tick = tick;
  BudgetVerdict verdict{.judged_tick = tick, .fresh = fresh};
  verdict.place = static_cast<uint32_t>(domain.used / options_.budget);
  verdict.later = verdict.place >= queues_.horizon();
  if (!verdict.later) ++domain.used;
  return queues_.Place(record, verdict);
}

Status SyntheticCrawl::Found() {
  const auto domain = static_cast<uint32_t>(rng_.Below(options_.domains));
  MakeUrl(next_id_++, domain, scratch_);
  url_bytes_ += scratch_.size();
  crawled_.push_back(false);
  return Judge(scratch_, true);
}

Status SyntheticCrawl::Crawl(std::string_view record) {
  const auto id = record.size() < kHead ? ~uint64_t{0} : LoadLe<uint64_t>(record.data());
  if (id >= next_id_ || crawled_[id]) return Fail(ErrorCode::kCorrupt, fmt::format("URL {} comes out twice", id));
  crawled_[id] = true;
  Domain& domain = domains_[LoadLe<uint32_t>(record.data() + 8)];
  if (domain.crawl_tick != queues_.tick()) {
    domain.crawl_tick = queues_.tick();
    domain.crawled = 0;
  }
  if (++domain.crawled > options_.budget) {
    return Fail(ErrorCode::kCorrupt, fmt::format("queue {} is beyond a domain's budget", queues_.tick()));
  }
  ++pages_;
  if (links_stopped_) return {};
  for (links_owed_ += options_.links; links_owed_ >= 1; --links_owed_) RETURN_IF_ERROR(Found());
  return {};
}

// As much of a re-scan as is due: Theorem 7 gives it the time of its pass, the naive way wants it before its next page.
Status SyntheticCrawl::Rescan() {
  while (queues_.rescan_due() > 0) {
    ASSIGN_OR_RETURN(const std::vector<std::string> records,
                     queues_.PopFailed(std::min<uint64_t>(queues_.rescan_due(), 256)));
    for (const std::string& record : records) RETURN_IF_ERROR(Judge(record, false));
  }
  return {};
}

Status SyntheticCrawl::Run(uint64_t pages) {
  if (next_id_ == 0) {
    for (uint32_t i = 0; i < options_.domains; ++i) RETURN_IF_ERROR(Found());
  }
  const uint64_t step = std::max<uint64_t>(1, options_.queue() / 8);
  while (pages_ < pages) {
    // A small batch: the re-scan goes on between pages, and a whole one of the naive way comes before its first page.
    ASSIGN_OR_RETURN(const std::vector<std::string> records, queues_.Pop(std::min<uint64_t>(8, pages - pages_)));
    if (queues_.tick() != sampled_tick_) {
      sampled_tick_ = queues_.tick();
      Sample();
    }
    for (const std::string& record : records) {
      RETURN_IF_ERROR(Crawl(record));
      if (pages_ % step == 0) Sample();
    }
    if (records.empty() && queues_.waiting() == 0) return {};
    RETURN_IF_ERROR(Rescan());
  }
  return {};
}

Status SyntheticCrawl::Check() const {
  const auto crawled = static_cast<uint64_t>(std::count(crawled_.begin(), crawled_.end(), true));
  if (crawled == pages_ && crawled + queues_.waiting() == next_id_) return {};
  return Fail(ErrorCode::kCorrupt, fmt::format("{} URLs found, {} crawled, {} different ones, {} waiting", next_id_,
                                               pages_, crawled, queues_.waiting()));
}

}  // namespace portolan::bench
