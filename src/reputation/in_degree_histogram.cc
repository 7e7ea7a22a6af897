#include "reputation/in_degree_histogram.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace portolan {
namespace {

constexpr int kBits = 6;  // 2^kBits buckets between one power of two and the next
constexpr uint64_t kLastBucket = ((31 - kBits) << kBits) + (2 << kBits) - 1;

struct Bucket {
  uint64_t least;
  uint64_t most;
};

uint64_t BucketOf(uint32_t in_degree) {
  const int shift = std::max(0, static_cast<int>(std::bit_width(in_degree)) - 1 - kBits);
  return (static_cast<uint64_t>(shift) << kBits) + (in_degree >> shift);
}

// REQUIRES: bucket <= kLastBucket.
Bucket BoundsOf(uint64_t bucket) {
  if (bucket < (2 << kBits)) return {bucket, bucket};
  const uint64_t shift = (bucket >> kBits) - 1;
  const uint64_t least = (bucket - (shift << kBits)) << shift;
  return {least, least + (uint64_t{1} << shift) - 1};
}

}  // namespace

InDegreeHistogram InDegreeHistogram::Of(InDegreeRanks& ranks) {
  std::string exact;
  std::string buckets;
  uint64_t exact_classes = 0;
  uint64_t bucket_classes = 0;
  uint64_t before = 0;  // the number that the next gap counts from; 0: none
  uint64_t bucket = 0;  // whose domains are being counted; 0: none
  uint64_t count = 0;
  uint32_t floor = 0;
  const auto put = [](std::string& out, uint64_t& last, uint64_t number, uint64_t domains) {
    AppendVarint(out, last == 0 ? number : last - number);
    AppendVarint(out, domains);
    last = number;
  };
  uint64_t bucket_before = 0;
  const auto end_bucket = [&] {
    if (bucket == 0) return;
    put(buckets, bucket_before, bucket, count);
    ++bucket_classes;
  };
  ranks.ForEachClass([&](uint32_t in_degree, uint64_t above, uint64_t equal) {
    floor = in_degree;
    if (above < kExact) {
      put(exact, before, in_degree, equal);
      ++exact_classes;
      return;
    }
    if (BucketOf(in_degree) != bucket) {
      end_bucket();
      bucket = BucketOf(in_degree);
      count = 0;
    }
    count += equal;
  });
  end_bucket();

  InDegreeHistogram made;
  made.domains_ = ranks.domains();
  made.linked_ = ranks.linked();
  made.in_degrees_ = ranks.in_degrees();
  for (const uint64_t total : {made.domains_, made.linked_, made.in_degrees_}) AppendVarint(made.bytes_, total);
  made.classes_at_ = made.bytes_.size();
  AppendVarint(made.bytes_, exact_classes);
  AppendVarint(made.bytes_, bucket_classes);
  AppendVarint(made.bytes_, floor);
  made.bytes_ += exact;
  made.bytes_ += buckets;
  CHECK(made.bytes_.size() <= kMaxBytes, "a histogram has {} bytes", made.bytes_.size());
  return made;
}

bool InDegreeHistogram::ReadTotals() {
  ByteReader reader(bytes_);
  if (!reader.ReadVarint(domains_) || !reader.ReadVarint(linked_) || !reader.ReadVarint(in_degrees_)) return false;
  classes_at_ = reader.position();
  return domains_ <= kMaxDomains && linked_ <= domains_ && linked_ <= in_degrees_;
}

std::optional<InDegreeHistogram> InDegreeHistogram::Decode(std::string_view bytes) {
  if (bytes.size() > kMaxBytes) return std::nullopt;
  InDegreeHistogram made;
  made.bytes_ = bytes;
  if (!made.ReadTotals()) return std::nullopt;
  uint64_t left = made.linked_;
  Reader reader = made.classes();
  for (Class next; reader.Next(next); left -= next.count) {
    if (next.count > left) return std::nullopt;
  }
  if (!reader.done()) return std::nullopt;
  return made;
}

InDegreeHistogram::Reader::Reader(std::string_view classes) : reader_(classes) {
  ok_ = reader_.ReadVarint(exact_left_) && reader_.ReadVarint(buckets_left_) && reader_.ReadVarint(floor_) &&
        (floor_ > 0) == (exact_left_ > 0) && (buckets_left_ == 0 || exact_left_ > 0);
}

bool InDegreeHistogram::Reader::Next(Class& next) {
  if (!ok_ || (exact_left_ == 0 && buckets_left_ == 0)) return false;
  uint64_t gap = 0;
  uint64_t count = 0;
  if (!reader_.ReadVarint(gap) || !reader_.ReadVarint(count) || gap == 0 || count == 0) return Fail();
  Bucket bounds;
  if (exact_left_ > 0) {
    --exact_left_;
    const bool first = below_ > UINT32_MAX;
    if (gap >= below_) return Fail();
    bounds.least = bounds.most = first ? gap : below_ - gap;
  } else {
    --buckets_left_;
    const bool first = bucket_ == 0;
    if (gap >= (first ? kLastBucket + 1 : bucket_)) return Fail();
    bucket_ = first ? gap : bucket_ - gap;
    bounds = BoundsOf(bucket_);
    if (bounds.least >= below_) return Fail();
    bounds.most = std::min(bounds.most, below_ - 1);
  }
  bounds.least = std::max(bounds.least, floor_);
  if (bounds.least > bounds.most) return Fail();
  below_ = bounds.least;
  next = {static_cast<uint32_t>(bounds.least), static_cast<uint32_t>(bounds.most), count};
  return true;
}

}  // namespace portolan
