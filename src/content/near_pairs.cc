#include "content/near_pairs.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace portolan {
namespace {

constexpr size_t kDirect = 64;   // so many are compared with each other
constexpr int kFewVarying = 8;   // bits: at most 256 hashes differ in nothing else
constexpr size_t kPerItem = 24;  // bytes: an item, its parent, and what a vector may hold in reserve

// Where block i of k + 1 begins, counted from the top.
int BlockBegin(int block, int bits) { return 64 * block / (bits + 1); }

// `count` ones from bit `begin` on, counted from the top.
uint64_t Ones(int begin, int count) { return count == 0 ? 0 : (~uint64_t{0} << (64 - count)) >> begin; }

// The highest `count` bits of those that are set.
uint64_t HighestOf(uint64_t bits, int count) {
  uint64_t taken = 0;
  for (; count > 0; --count) {
    const uint64_t top = std::bit_floor(bits);
    taken |= top;
    bits ^= top;
  }
  return taken;
}

}  // namespace

NearPairs::NearPairs(Env& env, const Options& options)
    : env_(env), options_(options), most_(options.memory / 3 / kPerItem), next_(MakeSort()) {
  CHECK(options.bits >= 0 && options.bits <= kMostNearBits && options.memory >= kMinMemory);
}

std::unique_ptr<NearPairs::Sort> NearPairs::MakeSort() const {
  return std::make_unique<Sort>(env_, RowSortOptions{.dir = options_.dir, .memory = options_.memory / 3});
}

Status NearPairs::Find(const Each& each) {
  const int bits = options_.bits;
  std::vector<uint64_t> reported;  // masks of the blocks that were sorted by, unrotated
  for (int block = 0; block <= bits; ++block) {
    const std::unique_ptr<Sort> rows = std::exchange(next_, block < bits ? MakeSort() : nullptr);
    RETURN_IF_ERROR(rows->Sort());
    rotation_ = BlockBegin(block, bits);
    const int width = BlockBegin(block + 1, bits) - rotation_;
    const uint64_t first = Ones(0, width);
    earlier_.clear();
    for (const uint64_t mask : reported) earlier_.push_back(std::rotl(mask, rotation_));
    const uint64_t parts_before = parts_;
    bucket_.clear();
    uint64_t last = 0;
    bool any = false;
    for (Sort::Row row;;) {
      ASSIGN_OR_RETURN(const bool more, rows->Next(row));
      if (!more) break;
      const uint64_t key = row[0];
      if (any && key == last) continue;  // only in the first order
      if (block == 0) ++distinct_;
      if (next_ != nullptr) RETURN_IF_ERROR(next_->Add({std::rotl(key, width)}));
      if (any && ((key ^ last) & first) != 0) {
        RETURN_IF_ERROR(JoinBucket(each));
      } else if (bucket_.size() == most_) {
        ++parts_;
        RETURN_IF_ERROR(JoinBucket(each));
      }
      bucket_.push_back({key, static_cast<uint32_t>(bucket_.size())});
      last = key;
      any = true;
    }
    RETURN_IF_ERROR(JoinBucket(each));
    // What was missed in a part may be found by a later block.
    if (parts_ == parts_before) reported.push_back(Ones(rotation_, width));
  }
  return {};
}

Status NearPairs::JoinBucket(const Each& each) {
  if (options_.forest) {
    parents_.resize(bucket_.size());
    for (uint32_t i = 0; i < parents_.size(); ++i) parents_[i] = i;
  }
  const Status joined = Join(bucket_, each);
  bucket_.clear();
  return joined;
}

Status NearPairs::Join(std::span<Item> items, const Each& each) {
  if (items.size() < 2) return {};
  if (items.size() <= kDirect) return Compare(items, each);
  uint64_t varying = 0;
  for (const Item& item : items) varying |= item.key ^ items[0].key;
  const int count = std::popcount(varying);
  if (count <= kFewVarying) return Compare(items, each);

  // Groups of what varies; what does not is equal in all pairs and decides nothing.
  const size_t before = earlier_.size();
  const int groups = std::min(options_.bits + 1, count);
  for (int group = 0; group < groups; ++group) {
    const uint64_t mask = HighestOf(varying, count * (group + 1) / groups - count * group / groups);
    varying ^= mask;
    std::ranges::sort(items, [mask](const Item& a, const Item& b) { return (a.key & mask) < (b.key & mask); });
    for (size_t begin = 0; begin < items.size();) {
      const uint64_t equal = items[begin].key & mask;
      size_t end = begin + 1;
      while (end < items.size() && (items[end].key & mask) == equal) ++end;
      RETURN_IF_ERROR(Join(items.subspan(begin, end - begin), each));
      begin = end;
    }
    earlier_.push_back(mask);
  }
  earlier_.resize(before);
  return {};
}

Status NearPairs::Compare(std::span<const Item> items, const Each& each) {
  compared_ += items.size() * (items.size() - 1) / 2;
  for (size_t i = 0; i < items.size(); ++i) {
    const uint64_t key = items[i].key;
    for (size_t j = i + 1; j < items.size(); ++j) {
      const uint64_t differing = key ^ items[j].key;
      if (std::popcount(differing) > options_.bits || !IsFirst(differing)) continue;
      if (options_.forest && !Unite(items[i].at, items[j].at)) continue;
      RETURN_IF_ERROR(each(std::rotr(key, rotation_), std::rotr(items[j].key, rotation_)));
    }
  }
  return {};
}

bool NearPairs::IsFirst(uint64_t differing) const {
  return std::ranges::all_of(earlier_, [differing](uint64_t mask) { return (differing & mask) != 0; });
}

bool NearPairs::Unite(uint32_t a, uint32_t b) {
  const auto root = [this](uint32_t at) {
    for (; parents_[at] != at; at = parents_[at]) parents_[at] = parents_[parents_[at]];
    return at;
  };
  a = root(a);
  b = root(b);
  if (a == b) return false;
  parents_[std::max(a, b)] = std::min(a, b);
  return true;
}

}  // namespace portolan
