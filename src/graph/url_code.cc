#include "graph/url_code.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/check.h"

namespace portolan::graph {
namespace {

constexpr uint32_t kNoCode = std::numeric_limits<uint32_t>::max();
constexpr uint16_t kLoans = 2 * (UrlCode::kSameShared + 1);
constexpr uint32_t kUnit = 16;  // of costs, per bit
constexpr size_t kHexDigits = 8;
constexpr double kPrior = 50;       // how many uses the context-free distribution counts for
constexpr uint32_t kLeastUses = 4;  // of a string in the sample
constexpr uint32_t kLeastInContext = 2;
constexpr uint32_t kFirstDigits = 5;  // of the first special that is written in binary

bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

uint32_t Folded(uint32_t difference) { return difference << 1 ^ (0U - (difference >> 31)); }

}  // namespace

UrlCode::UrlCode(const Sample& sample) {
  std::vector<uint64_t> loans(kLoans);
  for (const auto [shared, near] : sample.loans) ++loans[shared * 2 + (near ? 1 : 0)];
  const std::vector<uint32_t> order = loan_code_.Build(loans);
  loan_of_rank_.assign(order.begin(), order.end());
  rank_of_loan_.resize(kLoans);
  for (uint16_t rank = 0; rank < kLoans; ++rank) rank_of_loan_[loan_of_rank_[rank]] = rank;
  Learn(sample);
}

template <typename Cost>
void UrlCode::Cut(const UrlStrings& strings, const UrlEnd& end, Cost cost, std::vector<Step>& path) {
  const std::string_view url = end.url;
  const size_t begin = end.shared;
  const auto specials = static_cast<uint32_t>(strings.size());
  thread_local std::vector<Step> steps;  // by place behind `begin`; the last one is behind the end
  steps.assign(url.size() - begin + 2, {kNoCode, 0, 0});
  steps[0].cost = 0;
  UrlNumber number = NextNumber(url, begin);
  uint32_t last_number = end.number;
  for (size_t from = begin; from <= url.size(); ++from) {
    const uint32_t so_far = steps[from - begin].cost;
    if (so_far == kNoCode) continue;
    const unsigned context = from > begin ? ByteKind(url[from - 1]) : end.whole ? kWholeContext : kEndContext;
    const auto relax = [&](uint32_t symbol, size_t to) {
      const uint32_t bits = cost(context, symbol);
      Step& step = steps[to - begin];
      if (bits != kNoCode && so_far + bits < step.cost) {
        step = {so_far + bits, static_cast<uint32_t>(from - begin), symbol};
      }
    };
    if (from == number.begin && from < url.size()) {
      const uint32_t difference = Folded(number.value - last_number);
      for (uint32_t i = 0; i < kDifferences; ++i) {
        if (difference >> kSpecialBits[i] == 0) relax(specials + i, number.end);
      }
      relax(specials + kDifferences + static_cast<uint32_t>(number.end - number.begin) - kFirstDigits, number.end);
      last_number = number.value;
      number = NextNumber(url, number.end);
      continue;
    }
    strings.ForEachAt(url, from, number.begin, relax);
    size_t hex = from;
    while (hex < number.begin && hex < from + kHexDigits && IsHex(url[hex])) ++hex;
    if (hex == from + kHexDigits) relax(specials + (ByteKind(url[hex - 1]) == 0 ? kHexLetter : kHexDigit), hex);
  }
  path.clear();
  for (auto at = static_cast<uint32_t>(steps.size() - 1); at != 0; at = steps[at].from) {
    DCHECK(steps[at].cost != kNoCode);
    path.push_back(steps[at]);
  }
}

// Strings that pay, and codes by how often the cheapest cuts use them. What is cheap depends on the codes: each round
// knows the last one's uses.
void UrlCode::Learn(const Sample& sample) {
  strings_ = UrlStrings::Learn(sample.ends);
  std::vector<uint32_t> costs(size_t{kContexts} * symbols(), kUnit);
  for (unsigned context = 0; context < kContexts; ++context) {
    for (uint32_t i = 0; i < kSpecials; ++i)
      costs[(context + 1) * symbols() - kSpecials + i] += kUnit * kSpecialBits[i] / 12;
  }
  std::vector<uint32_t> uses;
  std::vector<Step> path;
  const auto count_uses = [&] {
    const uint32_t stride = symbols();
    uses.assign(size_t{kContexts} * stride, 0);
    for (const UrlEnd& end : sample.ends) {
      Cut(strings_, end, [&](unsigned context, uint32_t symbol) { return costs[context * stride + symbol]; }, path);
      for (const Step& step : path) {
        const size_t at = end.shared + step.from;
        const unsigned context = step.from > 0 ? ByteKind(end.url[at - 1]) : end.whole ? kWholeContext : kEndContext;
        ++uses[context * stride + step.symbol];
      }
    }
  };
  const auto price = [&](bool final) {
    const uint32_t stride = symbols();
    std::vector<double> by_symbol(stride);
    double all = 0;
    for (uint32_t symbol = 0; symbol < stride; ++symbol) {
      by_symbol[symbol] = 0.02;
      for (unsigned context = 0; context < kContexts; ++context) by_symbol[symbol] += uses[context * stride + symbol];
      all += by_symbol[symbol];
    }
    for (unsigned context = 0; context < kContexts; ++context) {
      double total = kPrior;
      for (uint32_t symbol = 0; symbol < stride; ++symbol) total += uses[context * stride + symbol];
      for (uint32_t symbol = 0; symbol < stride; ++symbol) {
        const uint32_t used = uses[context * stride + symbol];
        const bool special = symbol >= strings_.size();
        uint32_t& cost = costs[context * stride + symbol];
        if (final && used < kLeastInContext && !special && !UrlStrings::Needed(strings_[symbol])) {
          cost = kNoCode;
          continue;
        }
        const double bits = -std::log2((used + kPrior * by_symbol[symbol] / all) / total);
        cost = static_cast<uint32_t>(bits * kUnit) + (special ? kUnit * kSpecialBits[symbol - strings_.size()] : 0);
      }
    }
  };
  for (int round = 0; round < 2 && !sample.ends.empty(); ++round) {
    count_uses();
    price(false);
  }
  count_uses();
  // The strings that stay.
  const uint32_t candidates = symbols();
  std::vector<std::pair<uint32_t, uint32_t>> ranked;
  for (uint32_t string = 0; string < strings_.size(); ++string) {
    uint32_t sum = 0;
    for (unsigned context = 0; context < kContexts; ++context) sum += uses[context * candidates + string];
    if (UrlStrings::Needed(strings_[string])) sum = kNoCode;
    if (sum >= kLeastUses) ranked.emplace_back(sum, string);
  }
  std::ranges::sort(ranked, std::greater<>());
  if (ranked.size() > UrlStrings::kMaxStrings) ranked.resize(UrlStrings::kMaxStrings);
  std::vector<UrlStrings::String> kept;
  std::vector<uint32_t> kept_uses(size_t{kContexts} * (ranked.size() + kSpecials));
  const size_t stride = ranked.size() + kSpecials;
  for (unsigned context = 0; context < kContexts; ++context) {
    for (size_t i = 0; i < ranked.size(); ++i) {
      kept_uses[context * stride + i] = uses[context * candidates + ranked[i].second];
    }
    for (uint32_t i = 0; i < kSpecials; ++i) {
      kept_uses[context * stride + ranked.size() + i] = uses[(context + 1) * candidates - kSpecials + i];
    }
  }
  for (const auto& [sum, string] : ranked) kept.push_back(strings_[string]);
  strings_ = UrlStrings(std::move(kept));
  uses = std::move(kept_uses);
  costs.assign(size_t{kContexts} * symbols(), 0);
  price(true);
  if (!sample.ends.empty()) {
    count_uses();
    price(true);
    count_uses();
  }

  text_.clear();
  codes_.assign(size_t{kContexts} * symbols(), 0);
  cells_.assign(size_t{kContexts} * kCells, 1);
  symbols_.clear();
  std::vector<uint32_t> texts;
  for (uint32_t string = 0; string < strings_.size(); ++string) {
    texts.push_back(static_cast<uint32_t>(text_.size() << 5 | strings_[string].text.size()));
    text_ += strings_[string].text;
  }
  for (uint32_t special = 0; special < kSpecials; ++special) texts.push_back(special);
  text_.append(kOverrun, '\0');
  text_.shrink_to_fit();
  std::vector<uint32_t> in_context(symbols());
  for (unsigned context = 0; context < kContexts; ++context) {
    for (uint32_t symbol = 0; symbol < symbols(); ++symbol) {
      const size_t at = size_t{context} * symbols() + symbol;
      in_context[symbol] = costs[at] == kNoCode ? 0 : uses[at] + 1;
    }
    MakeCodes(context, in_context, texts);
  }
  symbols_.shrink_to_fit();
  steps_.clear();
  for (const uint32_t cell : cells_) steps_.push_back(static_cast<uint16_t>(cell & ((1U << kFirstShift) - 1)));
  steps_.shrink_to_fit();
  strings_.Forget();
}

void UrlCode::MakeCodes(unsigned context, const std::vector<uint32_t>& uses, const std::vector<uint32_t>& texts) {
  // What the symbols of a cell have in common, beside the length of the code.
  const auto group_of = [this](uint32_t symbol) -> uint32_t {
    if (symbol >= strings_.size()) {
      return kSpecialFlag | (symbol - strings_.size() == kHexLetter ? 0U : 1U) << kContextShift;
    }
    const UrlStrings::String& string = strings_[symbol];
    return string.ends ? kEndFlag : ByteKind(string.text.back()) << kContextShift;
  };
  struct Coded {
    uint32_t length;
    uint32_t group;
    uint32_t symbol;
    auto operator<=>(const Coded&) const = default;
  };
  double total = 0;
  std::vector<Coded> coded;
  for (uint32_t symbol = 0; symbol < uses.size(); ++symbol) {
    if (uses[symbol] == 0) continue;
    total += uses[symbol];
    coded.push_back({0, group_of(symbol), symbol});
  }
  // The shortest lengths whose cells fit: as Shannon's code rounds logarithms, with the rounding that just fits.
  const auto cells_with = [&](double more) {
    for (Coded& one : coded) {
      const double bits = -std::log2(uses[one.symbol] / total) + more;
      one.length = static_cast<uint32_t>(std::clamp(std::floor(bits), 1.0, double{kMaxCode}));
    }
    std::ranges::sort(coded);
    uint32_t cells = 0;
    for (size_t i = 0; i < coded.size();) {
      size_t last = i;
      while (last < coded.size() && coded[last].length == coded[i].length && coded[last].group == coded[i].group)
        ++last;
      const auto count = static_cast<uint32_t>(last - i);
      const uint32_t length = coded[i].length;
      cells += length <= kCellBits ? count << (kCellBits - length)
                                   : (count + (1U << (length - kCellBits)) - 1) >> (length - kCellBits);
      i = last;
    }
    return cells;
  };
  double more = 0.25;
  while (cells_with(more) > kCells) more += 1.0 / 32;

  uint32_t next_cell = 0;
  for (size_t i = 0; i < coded.size();) {
    const auto [length, group, first] = coded[i];
    const unsigned extra = length > kCellBits ? length - kCellBits : 0;
    // A cell has up to 2^extra symbols of one length and group.
    uint32_t in_cell = 0;
    const auto place = static_cast<uint32_t>(symbols_.size());
    for (; i < coded.size() && in_cell >> extra == 0 && coded[i].length == length && coded[i].group == group; ++i) {
      const uint32_t symbol = coded[i].symbol;
      const uint32_t code = length > kCellBits ? next_cell << extra | in_cell : next_cell >> (kCellBits - length);
      codes_[size_t{context} * symbols() + symbol] = code << 5 | length;
      symbols_.push_back(texts[symbol]);
      ++in_cell;
    }
    const uint32_t cells = length > kCellBits ? 1 : 1U << (kCellBits - length);
    const uint32_t cell = length | group | place << kFirstShift;
    std::fill_n(cells_.begin() + (context << kCellBits) + next_cell, cells, cell);
    next_cell += cells;
  }
  DCHECK(next_cell <= kCells);
}

char* UrlCode::Special(uint32_t symbol, Cursor& in, uint32_t& number, char* to) {
  if (symbol >= kHexDigit) {
    const auto bits = static_cast<uint32_t>(in.Take(kSpecialBits[symbol]));
    for (unsigned i = 0; i < kHexDigits; ++i) *to++ = "0123456789abcdef"[bits >> (28 - 4 * i) & 15];
    return to;
  }
  SkipSpecial(symbol, in, number);
  return std::to_chars(to, to + kOverrun, number).ptr;
}

uint32_t UrlCode::WriteEnd(const UrlEnd& end, BitWriter& out) const {
  DCHECK(!codes_.empty());
  thread_local std::vector<Step> path;
  const auto cost = [this](unsigned context, uint32_t symbol) {
    const uint32_t code = codes_[size_t{context} * symbols() + symbol];
    if (code == 0) return kNoCode;
    return (code & 31) + (symbol >= strings_.size() ? kSpecialBits[symbol - strings_.size()] : 0U);
  };
  Cut(strings_, end, cost, path);
  uint32_t number = end.number;
  for (size_t i = path.size(); i-- > 0;) {
    const uint32_t symbol = path[i].symbol;
    const size_t at = end.shared + path[i].from;
    const unsigned context = path[i].from > 0 ? ByteKind(end.url[at - 1]) : end.whole ? kWholeContext : kEndContext;
    const uint32_t code = codes_[size_t{context} * symbols() + symbol];
    out.WriteBits(code >> 5, code & 31);
    if (symbol < strings_.size()) continue;
    const auto special = static_cast<uint32_t>(symbol - strings_.size());
    uint32_t bits = 0;
    if (special >= kHexDigit) {
      std::from_chars(end.url.data() + at, end.url.data() + at + kHexDigits, bits, 16);
    } else {
      const uint32_t value = NextNumber(end.url, at).value;
      bits = special < kDifferences ? Folded(value - number) : value;
      number = value;
    }
    out.WriteBits(bits, kSpecialBits[special]);
  }
  return number;
}

void UrlCode::WriteLoan(Loan loan, BitWriter& out) const {
  const uint32_t rank = rank_of_loan_[loan.shared * 2 + (loan.near ? 1 : 0)];
  out.WriteBits(loan_code_.code(rank), loan_code_.bits(rank));
}

void UrlCode::Forget() {
  strings_ = UrlStrings();
  std::vector<uint32_t>().swap(codes_);  // an assignment would keep the memory
}

uint64_t UrlCode::memory() const {
  return sizeof *this + loan_code_.memory() +
         (loan_of_rank_.capacity() + rank_of_loan_.capacity() + steps_.capacity()) * sizeof(uint16_t) +
         strings_.memory() + (cells_.capacity() + symbols_.capacity() + codes_.capacity()) * sizeof(uint32_t) +
         text_.capacity();
}

}  // namespace portolan::graph
