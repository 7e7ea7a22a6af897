#include "graph/url_code.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "base/check.h"
#include "base/hash.h"

namespace portolan::graph {
namespace {

constexpr uint32_t kEnd = 256;  // the symbol behind a URL
constexpr int kPairPasses = 9;
constexpr uint32_t kMostCandidates = 2 * UrlCode::kMaxStrings;

// Counts of pairs of symbols. Pairs that come when it is nearly full are not counted: rare ones, most likely.
class PairCounts {
 public:
  explicit PairCounts(size_t pairs) : keys_(std::bit_ceil(std::clamp<size_t>(pairs * 2, 1024, 1 << 22))) {
    counts_.resize(keys_.size());
  }
  uint32_t* Find(uint64_t pair, bool add) {
    size_t at = Mix64(pair) & (keys_.size() - 1);
    for (; keys_[at] != 0; at = (at + 1) & (keys_.size() - 1)) {
      if (keys_[at] == pair) return &counts_[at];
    }
    if (!add || used_ > keys_.size() / 4 * 3) return nullptr;
    ++used_;
    keys_[at] = pair;
    return &counts_[at];
  }
  template <typename Each>
  void ForEach(Each each) const {
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] != 0) each(keys_[i], counts_[i]);
    }
  }

 private:
  std::vector<uint64_t> keys_;  // 0: free. No pair is 0: symbols are counted from 1.
  std::vector<uint32_t> counts_;
  size_t used_ = 0;
};

uint64_t PairOf(uint32_t a, uint32_t b) { return uint64_t{a + 1} << 32 | (b + 1); }

}  // namespace

UrlCode::UrlCode(const Sample& sample) {
  std::vector<uint64_t> shared = sample.shared;
  shared.resize(256);
  const std::vector<uint32_t> order = shared_code_.Build(shared);
  shared_of_rank_.assign(order.begin(), order.end());
  rank_of_shared_.resize(256);
  for (uint16_t rank = 0; rank < 256; ++rank) rank_of_shared_[shared_of_rank_[rank]] = rank;

  std::vector<Candidate> candidates = Pairs(sample);
  std::ranges::stable_partition(candidates, &Candidate::ends);
  Set(candidates, std::vector<uint64_t>(candidates.size(), 1));
  // What the cheapest cuts use; the second round knows what strings cost.
  for (int round = 0; round < 2 && !sample.ends.empty(); ++round) {
    std::vector<Candidate> by_rank(strings_.size());
    for (size_t rank = 0; rank < strings_.size(); ++rank) {
      const uint32_t string = strings_[rank];
      by_rank[rank] = {text_.substr(string >> 6, string & 31), Ends(string)};
    }
    std::vector<uint64_t> uses(strings_.size());
    std::vector<uint32_t> ranks;
    for (const std::string& end : sample.ends) {
      Cut(end, ranks);
      for (const uint32_t rank : ranks) ++uses[rank];
    }
    std::vector<uint32_t> kept(by_rank.size());
    std::iota(kept.begin(), kept.end(), 0);
    std::ranges::stable_sort(kept, std::greater<>(), [&uses](uint32_t rank) { return uses[rank]; });
    const auto first_unused = std::ranges::partition_point(kept, [&uses](uint32_t rank) { return uses[rank] >= 4; });
    const auto paying = std::min<size_t>(static_cast<size_t>(first_unused - kept.begin()), kMaxStrings);
    std::vector<bool> pays(kept.size());
    for (size_t i = 0; i < paying; ++i) pays[kept[i]] = true;
    std::ranges::stable_partition(kept, [&by_rank](uint32_t rank) { return by_rank[rank].ends; });
    candidates.clear();
    std::vector<uint64_t> counts;
    for (const uint32_t rank : kept) {
      const bool needed = by_rank[rank].text.size() + (by_rank[rank].ends ? 1 : 0) == 1;
      if (!needed && !pays[rank]) continue;
      counts.push_back(uses[rank]);
      candidates.push_back(std::move(by_rank[rank]));
    }
    Set(candidates, counts);
  }
}

// All bytes, the end, and strings that are frequent pairs of frequent pairs and so on.
std::vector<UrlCode::Candidate> UrlCode::Pairs(const Sample& sample) {
  std::vector<Candidate> made;
  for (uint32_t byte = 0; byte < 256; ++byte) made.push_back({std::string(1, static_cast<char>(byte)), false});
  made.push_back({"", true});
  std::vector<uint32_t> text;
  for (const std::string& end : sample.ends) {
    for (const char c : end) text.push_back(static_cast<uint8_t>(c));
    text.push_back(kEnd);
  }
  std::map<std::pair<std::string, bool>, uint32_t> known;  // two pairs may make one string
  for (int pass = 0; pass < kPairPasses && made.size() < kMostCandidates; ++pass) {
    PairCounts counts(text.size());
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      if (made[text[i]].ends || made[text[i]].text.size() + made[text[i + 1]].text.size() > kMaxString) continue;
      if (uint32_t* count = counts.Find(PairOf(text[i], text[i + 1]), true); count != nullptr) ++*count;
    }
    std::vector<std::pair<uint32_t, uint64_t>> best;
    counts.ForEach([&best](uint64_t pair, uint32_t count) {
      if (count >= 4) best.emplace_back(count, pair);
    });
    std::ranges::sort(best, std::greater<>());
    // Few in the first passes, whose pairs are only the beginnings of words.
    const size_t room = std::min<size_t>(kMostCandidates - made.size(), pass < 3 ? 800U << pass : kMostCandidates / 5);
    if (best.size() > room) best.resize(room);
    if (best.empty()) break;
    PairCounts chosen(best.size());
    for (const auto& [count, pair] : best) {
      const Candidate& a = made[(pair >> 32) - 1];
      const Candidate& b = made[(pair & 0xffffffff) - 1];
      const auto [at, fresh] = known.try_emplace({a.text + b.text, b.ends}, static_cast<uint32_t>(made.size()));
      *chosen.Find(pair, true) = at->second;
      if (fresh) made.push_back({at->first.first, at->first.second});
    }
    size_t to = 0;
    for (size_t i = 0; i < text.size(); ++to) {
      const uint32_t* joined = i + 1 < text.size() ? chosen.Find(PairOf(text[i], text[i + 1]), false) : nullptr;
      text[to] = joined != nullptr ? *joined : text[i];
      i += joined != nullptr ? 2 : 1;
    }
    text.resize(to);
  }
  return made;
}

void UrlCode::Set(const std::vector<Candidate>& candidates, const std::vector<uint64_t>& counts) {
  const auto ending = std::ranges::partition_point(candidates, &Candidate::ends) - candidates.begin();
  const std::vector<uint32_t> order = code_.Build(counts, static_cast<uint32_t>(ending));
  std::vector<Candidate> by_rank(order.size());
  strings_.resize(order.size());
  text_.clear();
  for (size_t rank = 0; rank < order.size(); ++rank) {
    by_rank[rank] = candidates[order[rank]];
    const auto& [text, ends] = by_rank[rank];
    strings_[rank] = static_cast<uint32_t>(text_.size() << 6 | (ends ? 32 : 0) | text.size());
    text_ += text;
  }
  text_.append(kOverrun, '\0');
  text_.shrink_to_fit();
  strings_.shrink_to_fit();
  BuildTrie(by_rank);
}

void UrlCode::BuildTrie(const std::vector<Candidate>& by_rank) {
  std::vector<uint32_t> sorted(by_rank.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::sort(sorted, {}, [&by_rank](uint32_t rank) -> std::string_view { return by_rank[rank].text; });
  struct Range {
    size_t begin;
    size_t end;
    size_t depth;
  };
  std::vector<Range> queue{{0, sorted.size(), 0}};
  trie_.assign(1, {});
  labels_.assign(1, '\0');
  for (size_t node = 0; node < queue.size(); ++node) {
    auto [begin, end, depth] = queue[node];
    for (; begin < end && by_rank[sorted[begin]].text.size() == depth; ++begin) {
      const uint32_t rank = sorted[begin];
      (by_rank[rank].ends ? trie_[node].end_rank : trie_[node].rank) = static_cast<uint16_t>(rank);
    }
    trie_[node].children = static_cast<uint32_t>(trie_.size());
    while (begin < end) {
      const char label = by_rank[sorted[begin]].text[depth];
      size_t last = begin;
      while (last < end && by_rank[sorted[last]].text[depth] == label) ++last;
      queue.push_back({begin, last, depth + 1});
      trie_.emplace_back();
      labels_ += label;
      begin = last;
    }
  }
  const auto nodes = static_cast<uint32_t>(trie_.size());
  trie_.emplace_back().children = nodes;
  trie_.shrink_to_fit();
  labels_.shrink_to_fit();
}

void UrlCode::Cut(std::string_view end, std::vector<uint32_t>& ranks) const {
  DCHECK(!trie_.empty());
  struct Step {
    uint32_t cost = std::numeric_limits<uint32_t>::max();
    uint32_t from = 0;
    uint32_t rank = 0;
  };
  thread_local std::vector<Step> steps;
  const auto size = static_cast<uint32_t>(end.size());
  steps.assign(size + 2, {});
  steps[0].cost = 0;
  const auto relax = [&](uint32_t from, uint32_t to, uint32_t rank) {
    const uint32_t cost = steps[from].cost + code_.bits(rank);
    if (cost < steps[to].cost) steps[to] = {cost, from, rank};
  };
  for (uint32_t from = 0; from <= size; ++from) {
    uint32_t node = 0;
    for (uint32_t at = from;; ++at) {
      if (at > from && trie_[node].rank != kNone) relax(from, at, trie_[node].rank);
      if (at == size) {
        if (trie_[node].end_rank != kNone) relax(from, size + 1, trie_[node].end_rank);
        break;
      }
      const uint32_t first = trie_[node].children;
      const uint32_t count = trie_[node + 1].children - first;
      const void* child = count == 0 ? nullptr : std::memchr(labels_.data() + first, end[at], count);
      if (child == nullptr) break;
      node = static_cast<uint32_t>(static_cast<const char*>(child) - labels_.data());
    }
  }
  ranks.clear();
  for (uint32_t at = size + 1; at != 0; at = steps[at].from) ranks.push_back(steps[at].rank);
}

void UrlCode::WriteShared(unsigned shared, BitWriter& out) const {
  const uint32_t rank = rank_of_shared_[shared];
  out.WriteBits(shared_code_.code(rank), shared_code_.bits(rank));
}

void UrlCode::WriteEnd(std::string_view end, BitWriter& out) const {
  thread_local std::vector<uint32_t> ranks;
  Cut(end, ranks);
  for (size_t i = ranks.size(); i-- > 0;) out.WriteBits(code_.code(ranks[i]), code_.bits(ranks[i]));
}

void UrlCode::Forget() {
  trie_ = {};
  labels_ = {};
}

uint64_t UrlCode::memory() const {
  return sizeof *this + code_.memory() + shared_code_.memory() + strings_.capacity() * sizeof(uint32_t) +
         text_.capacity() + shared_of_rank_.capacity() + rank_of_shared_.capacity() * sizeof(uint16_t) +
         trie_.capacity() * sizeof(Node) + labels_.capacity();
}

}  // namespace portolan::graph
