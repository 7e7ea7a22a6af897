#include "follow/key_runs.h"

#include <algorithm>

#include "follow/replace_heap.h"
#include "graph/bit_reader.h"

namespace portolan {
namespace {

constexpr uint64_t kSpillEvery = 16 << 10;  // keys

}  // namespace

Result<bool> SpooledKeys::Next() {
  if (reader_.done()) return false;
  RETURN_IF_ERROR(reader_.Need(2 * kMaxVarint));
  uint64_t shared = 0;
  uint64_t size = 0;
  if (!reader_.TakeVarint(shared) || !reader_.TakeVarint(size) || shared >> 1 > key_.size()) return SpoolBroken("key");
  RETURN_IF_ERROR(reader_.Need(size));
  if (reader_.view().size() < size) return SpoolBroken("key");
  fetched_ = (shared & 1) != 0;
  key_.resize(shared >> 1);
  key_ += reader_.view().substr(0, size);
  reader_.Skip(size);
  return true;
}

Status RankMap::Add(uint64_t number, SpoolFile& spool) {
  bits_.WriteGamma(number - last_);
  last_ = number;
  return ++count_ % kSpillEvery == 0 ? Spill(bits_.TakeBytes(), spool) : Status();
}

Status RankMap::Finish(SpoolFile& spool) { return Spill(bits_.Finish(), spool); }

Status RankMap::Spill(std::string bytes, SpoolFile& spool) {
  const uint64_t begin = spool.size();
  spool.buffer() += bytes;
  parts_.push_back({begin, spool.size()});
  return spool.FlushFull();
}

Result<NumberMap> RankMap::Load(SpoolFile& spool, uint64_t numbers, size_t memory) const {
  if (count_ == 0) return NumberMap();
  RETURN_IF_ERROR(spool.Flush());
  uint64_t size = 0;
  for (const SpoolPart& part : parts_) size += part.end - part.begin;
  std::string bytes(size, '\0');
  uint64_t at = 0;
  for (const SpoolPart& part : parts_) {
    RETURN_IF_ERROR(ReadExactly(spool.file(), part.begin, bytes.data() + at, part.end - part.begin));
    at += part.end - part.begin;
  }
  if (count_ > memory / sizeof(uint32_t)) {
    ASSIGN_OR_RETURN(auto packed, graph::GraphOffsets::Decode(bytes, count_ - 1, numbers, graph::Code::kGamma, 3));
    return NumberMap(std::move(packed));
  }
  graph::BitReader reader(bytes);
  std::vector<uint32_t> plain(count_);
  uint64_t last = 0;
  for (uint32_t& number : plain) {
    last += reader.ReadGamma();
    number = static_cast<uint32_t>(last);
  }
  if (reader.overrun() || last >= numbers) return SpoolBroken("map of numbers");
  return NumberMap(std::move(plain));
}

Result<std::vector<RankMap>> MergeKeyRuns(const std::vector<std::unique_ptr<KeyRun>>& runs, SpoolFile& maps,
                                          const std::function<Status(std::string_view key, bool fetched)>& each) {
  std::vector<RankMap> result(runs.size());
  const auto less = [&runs](uint32_t a, uint32_t b) {
    const int order = runs[a]->key().compare(runs[b]->key());
    return order != 0 ? order < 0 : a < b;
  };
  ReplaceHeap<uint32_t, decltype(less)> heads(less);
  for (uint32_t i = 0; i < runs.size(); ++i) {
    ASSIGN_OR_RETURN(const bool more, runs[i]->Next());
    if (more) heads.Push(i);
  }
  std::string key;
  for (uint64_t number = 0; !heads.empty(); ++number) {
    key = runs[heads.top()]->key();
    bool fetched = false;
    while (!heads.empty() && runs[heads.top()]->key() == key) {
      const uint32_t run = heads.top();
      fetched |= runs[run]->fetched();
      RETURN_IF_ERROR(result[run].Add(number, maps));
      ASSIGN_OR_RETURN(const bool more, runs[run]->Next());
      if (more) {
        heads.ReplaceTop(run);
      } else {
        heads.Pop();
      }
    }
    RETURN_IF_ERROR(each(key, fetched));
  }
  for (RankMap& map : result) RETURN_IF_ERROR(map.Finish(maps));
  return result;
}

}  // namespace portolan
