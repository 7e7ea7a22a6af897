#include "graph/url_strings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace portolan::graph {
namespace {

constexpr int kPairPasses = 9;
constexpr uint32_t kMostCandidates = 3 * UrlStrings::kMaxStrings;
constexpr uint32_t kLeastCount = 4;
constexpr size_t kLeastDigits = 5;
constexpr size_t kMostDigits = 9;

constexpr std::array<uint8_t, 256> kKinds = [] {
  std::array<uint8_t, 256> kinds{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || byte >= 128;
    kinds[byte] = letter                             ? 0
                  : c >= '0' && c <= '9'             ? 1
                  : c == '-'                         ? 2
                  : c == '_' || c == '+'             ? 3
                  : c == '/'                         ? 4
                  : c == '.'                         ? 5
                  : c == '=' || c == '?' || c == '&' ? 6
                                                     : 7;
  }
  return kinds;
}();

bool IsLetter(char c) { return kKinds[static_cast<uint8_t>(c)] == 0; }

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

constexpr uint32_t kEnd = 256;    // the symbol behind a URL
constexpr uint32_t kBreak = ~0U;  // stands for a number

uint64_t PairOf(uint32_t a, uint32_t b) { return uint64_t{a + 1} << 32 | (b + 1); }

// The ends, byte by byte, as symbols.
std::vector<uint32_t> TextOf(std::span<const UrlEnd> ends) {
  std::vector<uint32_t> text;
  for (const UrlEnd& end : ends) {
    UrlNumber number = NextNumber(end.url, end.shared);
    for (size_t at = end.shared; at < end.url.size(); ++at) {
      if (at == number.begin) {
        text.push_back(kBreak);
        at = number.end - 1;
        number = NextNumber(end.url, number.end);
      } else {
        text.push_back(static_cast<uint8_t>(end.url[at]));
      }
    }
    text.push_back(kEnd);
  }
  return text;
}

}  // namespace

unsigned ByteKind(char byte) { return kKinds[static_cast<uint8_t>(byte)]; }

UrlNumber NextNumber(std::string_view url, size_t from) {
  for (size_t at = from; at < url.size();) {
    if (!IsDigit(url[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < url.size() && IsDigit(url[end])) ++end;
    const bool alone = (at == 0 || ByteKind(url[at - 1]) > 1) && (end == url.size() || !IsLetter(url[end]));
    if (alone && end - at >= kLeastDigits && end - at <= kMostDigits && url[at] != '0') {
      uint32_t value = 0;
      for (size_t i = at; i < end; ++i) value = value * 10 + static_cast<uint32_t>(url[i] - '0');
      return {at, end, value};
    }
    at = end;
  }
  return {url.size(), url.size(), 0};
}

UrlStrings UrlStrings::Learn(std::span<const UrlEnd> ends) {
  std::vector<String> made;
  for (uint32_t byte = 0; byte < 256; ++byte) made.push_back({std::string(1, static_cast<char>(byte)), false});
  made.push_back({"", true});
  std::vector<uint32_t> text = TextOf(ends);
  std::map<std::pair<std::string, bool>, uint32_t> known;  // two pairs may make one string
  for (int pass = 0; pass < kPairPasses && made.size() < kMostCandidates; ++pass) {
    PairCounts counts(text.size());
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      if (text[i] == kBreak || text[i + 1] == kBreak || made[text[i]].ends) continue;
      if (made[text[i]].text.size() + made[text[i + 1]].text.size() > kMaxString) continue;
      if (uint32_t* count = counts.Find(PairOf(text[i], text[i + 1]), true); count != nullptr) ++*count;
    }
    std::vector<std::pair<uint32_t, uint64_t>> best;
    counts.ForEach([&best](uint64_t pair, uint32_t count) {
      if (count >= kLeastCount) best.emplace_back(count, pair);
    });
    std::ranges::sort(best, std::greater<>());
    // Few in the first passes, whose pairs are only the beginnings of words.
    const size_t room = std::min<size_t>(kMostCandidates - made.size(), pass < 3 ? 800U << pass : kMostCandidates / 5);
    if (best.size() > room) best.resize(room);
    if (best.empty()) break;
    PairCounts chosen(best.size());
    for (const auto& [count, pair] : best) {
      const String& a = made[(pair >> 32) - 1];
      const String& b = made[(pair & 0xffffffff) - 1];
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
  return UrlStrings(std::move(made));
}

UrlStrings::UrlStrings(std::vector<String> strings) : size_(strings.size()), strings_(std::move(strings)) {
  CHECK(strings_.size() < kNone);
  std::vector<uint32_t> sorted(strings_.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::ranges::sort(sorted, {}, [this](uint32_t index) -> std::string_view { return strings_[index].text; });
  struct Range {
    size_t begin;
    size_t end;
    size_t depth;
  };
  std::vector<Range> queue{{0, sorted.size(), 0}};
  nodes_.assign(1, {});
  labels_.assign(1, '\0');
  for (size_t node = 0; node < queue.size(); ++node) {
    auto [begin, end, depth] = queue[node];
    for (; begin < end && strings_[sorted[begin]].text.size() == depth; ++begin) {
      const uint32_t index = sorted[begin];
      (strings_[index].ends ? nodes_[node].ending : nodes_[node].string) = static_cast<uint16_t>(index);
    }
    nodes_[node].children = static_cast<uint32_t>(nodes_.size());
    while (begin < end) {
      const char label = strings_[sorted[begin]].text[depth];
      size_t last = begin;
      while (last < end && strings_[sorted[last]].text[depth] == label) ++last;
      queue.push_back({begin, last, depth + 1});
      nodes_.emplace_back();
      labels_ += label;
      begin = last;
    }
  }
  const auto nodes = static_cast<uint32_t>(nodes_.size());
  nodes_.emplace_back().children = nodes;
  nodes_.shrink_to_fit();
  labels_.shrink_to_fit();
}

uint64_t UrlStrings::memory() const {
  uint64_t sum = strings_.capacity() * sizeof(String) + nodes_.capacity() * sizeof(Node) + labels_.capacity();
  for (const String& string : strings_) sum += string.text.capacity() > 15 ? string.text.capacity() + 16 : 0;
  return sum;
}

}  // namespace portolan::graph
