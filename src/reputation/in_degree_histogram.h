// InDegreeHistogram: what one shard of a crawl tells the others about the in-degrees of its domains, so that each can
// say which rank a domain has among those of all shards (crawl_ranks.h).
//
// It covers the shard's `top` domains with the largest in-degrees (InDegreeRanks), since nobody below can be among the
// `top` of the crawl. Of these, the first kExact are exact: each in-degree with its number of domains. The rest is in
// buckets that grow with the in-degree: 64 between one power of two and the next, so those of one bucket differ by less
// than a 64th; below 128 each in-degree has its own. As in-degrees only grow, of two histograms of one shard the newer
// is the one with the larger sum of in-degrees: no clock and no number of a message is needed.
//
// Format (docs/formats/crossing.md), all varints. Decode gives nothing for bytes that are not a histogram.
// Thread: one owner at a time. Memory bound: its bytes, at most kMaxBytes; 2.7 KB for 30 million domains.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "reputation/in_degree_ranks.h"

namespace portolan {

class InDegreeHistogram {
 public:
  static constexpr uint64_t kExact = 1024;
  static constexpr size_t kMaxBytes = size_t{16} << 10;
  static constexpr uint64_t kMaxDomains = uint64_t{1} << 38;  // of one shard; so sums over all shards fit 64 bits

  // Domains whose in-degree is from least to most.
  struct Class {
    uint32_t least = 0;
    uint32_t most = 0;
    uint64_t count = 0;

    bool operator==(const Class&) const = default;
  };

  // Goes through the classes, the largest in-degrees first.
  class Reader {
   public:
    explicit Reader(std::string_view classes);
    // False at the end, or if the bytes are wrong.
    bool Next(Class& next);
    bool ok() const { return ok_; }
    bool done() const { return ok_ && exact_left_ == 0 && buckets_left_ == 0 && reader_.done(); }

   private:
    bool Fail() { return ok_ = false; }

    ByteReader reader_;
    uint64_t exact_left_ = 0;
    uint64_t buckets_left_ = 0;
    uint64_t floor_ = 0;                  // the smallest in-degree that is counted
    uint64_t below_ = uint64_t{1} << 32;  // the next class is below this in-degree
    uint64_t bucket_ = 0;                 // of the class before; 0: there was none
    bool ok_ = true;
  };

  static InDegreeHistogram Of(InDegreeRanks& ranks);
  static std::optional<InDegreeHistogram> Decode(std::string_view bytes);

  const std::string& bytes() const { return bytes_; }
  Reader classes() const { return Reader(std::string_view(bytes_).substr(classes_at_)); }
  uint64_t domains() const { return domains_; }        // all of the shard, …
  uint64_t linked() const { return linked_; }          // … of them with a link from another domain
  uint64_t in_degrees() const { return in_degrees_; }  // of all domains, added up
  bool OlderThan(const InDegreeHistogram& other) const { return in_degrees_ < other.in_degrees_; }

 private:
  bool ReadTotals();

  std::string bytes_;
  size_t classes_at_ = 0;
  uint64_t domains_ = 0;
  uint64_t linked_ = 0;
  uint64_t in_degrees_ = 0;
};

}  // namespace portolan
