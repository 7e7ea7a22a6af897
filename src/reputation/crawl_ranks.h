// Ranks of domains by in-degree among those of all shards of a crawl.
//
// OtherShards has the newest InDegreeHistogram of each other shard. CrawlRanks adds them to the shard's own
// InDegreeRanks. A domain's rank is exact if it is among the first InDegreeHistogram::kExact of each shard, so
// certainly if it is among the first kExact of the crawl; the rank of another is off by less than the number of other
// shards' domains that share its bucket, whose in-degrees differ by less than a 64th. As of when: of each shard's last
// round.
//
// A shard that has sent no histogram (it is new, it is down, it starts again) is taken for the mean of those that are
// known. So with none known, everything here is counted as many times as there are shards; ranks are then those of a
// sample. Nothing here is in a checkpoint.
//
// Thread: one owner. Memory bound: the bytes of the histograms, at most max_bytes; one that does not fit is left out,
// and its shard counts as unknown.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "reputation/in_degree_histogram.h"
#include "reputation/in_degree_ranks.h"

namespace portolan {

class OtherShards {
 public:
  // `shards`: of the crawl, this one included.
  explicit OtherShards(uint32_t shards = 1, size_t max_bytes = 0) : shards_(shards), max_bytes_(max_bytes) {}

  // An older histogram than the one that is known changes nothing.
  void Take(uint32_t shard, InDegreeHistogram histogram);
  uint32_t shards() const { return shards_; }
  uint32_t known() const { return static_cast<uint32_t>(newest_.size()) + 1; }  // this one included
  size_t bytes() const { return bytes_; }

 private:
  friend class CrawlRanks;

  uint32_t shards_;
  size_t max_bytes_;
  size_t bytes_ = 0;
  std::map<uint32_t, InDegreeHistogram> newest_;
};

class CrawlRanks {
 public:
  // Both outlive this.
  CrawlRanks(InDegreeRanks& own, const OtherShards& others);

  size_t top() const { return own_.top(); }
  size_t kept() const { return own_.kept(); }  // classes, at most
  uint64_t domains() const { return domains_; }

  // The classes of this shard's own domains, from the largest in-degree down: how many domains of the crawl are above,
  // and how many have this in-degree. Ends with the class that reaches rank `top` here.
  template <typename Class>
  void ForEachClass(Class each) {
    std::vector<Cursor> cursors;
    cursors.reserve(others_.newest_.size());
    for (const auto& [shard, histogram] : others_.newest_) cursors.emplace_back(histogram);
    own_.ForEachClass([&](uint32_t in_degree, uint64_t above, uint64_t equal) {
      for (Cursor& cursor : cursors) cursor.Count(in_degree, above, equal);
      each(in_degree, WithUnknown(above), WithUnknown(equal));
    });
  }

 private:
  // A place in a histogram that moves down. Domains of one class are taken to be spread evenly over its in-degrees.
  class Cursor {
   public:
    explicit Cursor(const InDegreeHistogram& histogram) : reader_(histogram.classes()) { any_ = reader_.Next(now_); }
    // Adds the domains above and at that in-degree. REQUIRES: no call had a smaller one.
    void Count(uint32_t in_degree, uint64_t& above, uint64_t& equal);

   private:
    InDegreeHistogram::Reader reader_;
    InDegreeHistogram::Class now_;
    bool any_ = false;
    uint64_t passed_ = 0;  // domains of the classes before
  };

  uint64_t WithUnknown(uint64_t count) const { return count * others_.shards() / others_.known(); }

  InDegreeRanks& own_;
  const OtherShards& others_;
  uint64_t domains_ = 0;
};

}  // namespace portolan
