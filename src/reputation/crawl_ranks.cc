#include "reputation/crawl_ranks.h"

#include <utility>

namespace portolan {

void OtherShards::Take(uint32_t shard, InDegreeHistogram histogram) {
  const auto known = newest_.find(shard);
  if (known != newest_.end()) {
    if (histogram.OlderThan(known->second)) return;
    bytes_ -= known->second.bytes().size();
    newest_.erase(known);
  }
  if (bytes_ + histogram.bytes().size() > max_bytes_) return;
  bytes_ += histogram.bytes().size();
  newest_.emplace(shard, std::move(histogram));
}

CrawlRanks::CrawlRanks(InDegreeRanks& own, const OtherShards& others) : own_(own), others_(others) {
  domains_ = own.domains();
  for (const auto& [shard, histogram] : others_.newest_) domains_ += histogram.domains();
  domains_ = WithUnknown(domains_);
}

void CrawlRanks::Cursor::Count(uint32_t in_degree, uint64_t& above, uint64_t& equal) {
  while (any_ && now_.least > in_degree) {
    passed_ += now_.count;
    any_ = reader_.Next(now_);
  }
  above += passed_;
  if (!any_ || now_.most < in_degree) return;
  const uint64_t width = uint64_t{now_.most} - now_.least + 1;
  const uint64_t higher = now_.most - in_degree;
  const uint64_t before = now_.count * higher / width;
  above += before;
  equal += now_.count * (higher + 1) / width - before;
}

}  // namespace portolan
