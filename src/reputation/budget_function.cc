#include "reputation/budget_function.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <span>

#include "base/check.h"
#include "base/text.h"

namespace portolan {
namespace {

constexpr uint64_t kMaxOneIn = 1'000'000;

struct Bounds {
  uint32_t least;
  uint32_t most;
};

// Collects steps from the largest in-degree class down, and reverses them; equal neighbours become one step.
class StepsDown {
 public:
  explicit StepsDown(size_t classes) { steps_.reserve(classes + 1); }
  void Add(uint32_t from, uint32_t budget) {
    const BudgetStep step{.from = from, .budget = static_cast<uint16_t>(budget), .rise = 0};
    if (!steps_.empty() && steps_.back().budget == step.budget) {
      steps_.back().from = from;
    } else {
      steps_.push_back(step);
    }
  }
  BudgetTable Finish(uint32_t least) {
    Add(0, least);
    std::reverse(steps_.begin(), steps_.end());
    auto table = BudgetTable::Make(std::move(steps_));
    CHECK(table, "{}", table.error().message());
    return *std::move(table);
  }

 private:
  std::vector<BudgetStep> steps_;
};

class Ranked : public BudgetFunction {
 public:
  Ranked(size_t top, uint64_t one_in, Bounds bounds, bool flat)
      : top_(top), one_in_(one_in), bounds_(bounds), flat_(flat) {}
  size_t ranks() const override { return top_; }

  BudgetTable Make(CrawlRanks& ranks) const override {
    CHECK(ranks.top() == top_);
    const uint64_t top =
        one_in_ == 1 ? top_ : std::min<uint64_t>(top_, std::max<uint64_t>(1, ranks.domains() / one_in_));
    StepsDown steps(ranks.kept());
    ranks.ForEachClass([&](uint32_t in_degree, uint64_t above, uint64_t equal) {
      steps.Add(in_degree, AtRank(2 * above + equal + 1, top));
    });
    return steps.Finish(bounds_.least);
  }

 private:
  // Mean ranks come doubled, because they are whole or half numbers.
  uint32_t AtRank(uint64_t doubled, uint64_t top) const {
    if (doubled > 2 * top) return bounds_.least;
    if (flat_ || top == 1) return bounds_.most;
    const uint64_t span = bounds_.most - bounds_.least;
    const uint64_t whole = 2 * (top - 1);
    const uint64_t fallen = (span * (doubled - 2) + whole / 2) / whole;
    return bounds_.most - static_cast<uint32_t>(fallen);
  }

  size_t top_;
  uint64_t one_in_;  // at most one in this many known domains is in the top; 1: no such limit
  Bounds bounds_;
  bool flat_;
};

class Fixed : public BudgetFunction {
 public:
  explicit Fixed(BudgetTable table) : table_(std::move(table)) {}
  BudgetTable Make(CrawlRanks&) const override { return table_; }

 private:
  BudgetTable table_;
};

std::unexpected<Error> Wrong(std::string_view function, std::string_view what) {
  return Fail(ErrorCode::kInvalidArgument, fmt::format("budget function {}: {}", function, what));
}

std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::string_view kBlanks = " \t";
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;
       at = text.find_first_not_of(kBlanks, at)) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

struct Parameter {
  std::string_view name;
  uint64_t value;  // the default
  uint64_t largest;
};

// Fills in the given values; all parameters are at least 1.
Status ReadParameters(std::string_view function, std::span<const std::string_view> words,
                      std::span<Parameter> parameters) {
  std::vector<std::string_view> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  std::vector<std::string_view> given;
  for (const std::string_view word : words) {
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const Parameter& parameter) { return parameter.name == name; });
    if (found == parameters.end()) {
      const std::string_view near = NearestWord(name, names);
      return Wrong(function, near.empty() ? fmt::format("it has no parameter '{}'", name)
                                          : fmt::format("it has no parameter '{}'; did you mean '{}'?", name, near));
    }
    if (std::find(given.begin(), given.end(), name) != given.end()) {
      return Wrong(function, fmt::format("'{}' is given twice", name));
    }
    given.push_back(name);
    const auto value = equals == std::string_view::npos ? std::nullopt : Number(word.substr(equals + 1));
    if (!value || *value < 1 || *value > found->largest) {
      return Wrong(function, fmt::format("'{}': {} must be a number from 1 to {}, as in {}=100", word, name,
                                         found->largest, name));
    }
    found->value = *value;
  }
  return {};
}

Result<Bounds> ReadBounds(std::string_view function, const Parameter& least, const Parameter& most) {
  if (least.value > most.value) {
    return Wrong(function, fmt::format("least={} is more than most={}", least.value, most.value));
  }
  return Bounds{static_cast<uint32_t>(least.value), static_cast<uint32_t>(most.value)};
}

using Made = Result<std::unique_ptr<const BudgetFunction>>;
using ArgumentWords = std::span<const std::string_view>;

std::unique_ptr<const BudgetFunction> FromSteps(std::vector<BudgetStep> steps) {
  auto table = BudgetTable::Make(std::move(steps));
  CHECK(table, "{}", table.error().message());
  return std::make_unique<Fixed>(*std::move(table));
}

Made MakeRanked(ArgumentWords words) {
  std::array parameters{Parameter{"top", 10'000, BudgetFunction::kMaxRanks}, Parameter{"least", 10, kMaxBudget},
                        Parameter{"most", 10'000, kMaxBudget}, Parameter{"one_in", 1, kMaxOneIn}};
  RETURN_IF_ERROR(ReadParameters("ranked", words, parameters));
  ASSIGN_OR_RETURN(const Bounds bounds, ReadBounds("ranked", parameters[1], parameters[2]));
  return std::make_unique<Ranked>(parameters[0].value, parameters[3].value, bounds, false);
}

Made MakePopular(ArgumentWords words) {
  std::array parameters{Parameter{"top", 10'000, BudgetFunction::kMaxRanks}, Parameter{"least", 1, kMaxBudget},
                        Parameter{"most", 10'000, kMaxBudget}, Parameter{"one_in", 1, kMaxOneIn}};
  RETURN_IF_ERROR(ReadParameters("popular", words, parameters));
  ASSIGN_OR_RETURN(const Bounds bounds, ReadBounds("popular", parameters[1], parameters[2]));
  return std::make_unique<Ranked>(parameters[0].value, parameters[3].value, bounds, true);
}

Made MakeEqual(ArgumentWords words) {
  std::array parameters{Parameter{"budget", 10, kMaxBudget}};
  RETURN_IF_ERROR(ReadParameters("equal", words, parameters));
  return FromSteps({{.from = 0, .budget = static_cast<uint16_t>(parameters[0].value), .rise = 0}});
}

Made MakeProportional(ArgumentWords words) {
  std::array parameters{Parameter{"per_link", 1, kMaxBudget}, Parameter{"least", 10, kMaxBudget},
                        Parameter{"most", 10'000, kMaxBudget}};
  RETURN_IF_ERROR(ReadParameters("proportional", words, parameters));
  ASSIGN_OR_RETURN(const Bounds bounds, ReadBounds("proportional", parameters[1], parameters[2]));
  const auto per_link = static_cast<uint32_t>(parameters[0].value);
  std::vector<BudgetStep> steps{{.from = 0, .budget = static_cast<uint16_t>(bounds.least), .rise = 0}};
  const uint32_t above_least = bounds.least / per_link + 1;          // the first in-degrees that give more than least,
  const uint32_t at_most = (bounds.most + per_link - 1) / per_link;  // and most or more
  if (above_least < at_most) {
    steps.push_back({.from = above_least,
                     .budget = static_cast<uint16_t>(above_least * per_link),
                     .rise = static_cast<uint16_t>(per_link)});
  }
  if (bounds.most > bounds.least) {
    steps.push_back({.from = at_most, .budget = static_cast<uint16_t>(bounds.most), .rise = 0});
  }
  return FromSteps(std::move(steps));
}

Made MakeInverse(ArgumentWords words) {
  std::array parameters{Parameter{"least", 10, kMaxBudget}, Parameter{"most", 10'000, kMaxBudget}};
  RETURN_IF_ERROR(ReadParameters("inverse", words, parameters));
  ASSIGN_OR_RETURN(const Bounds bounds, ReadBounds("inverse", parameters[0], parameters[1]));
  std::vector<BudgetStep> steps{{.from = 0, .budget = static_cast<uint16_t>(bounds.most), .rise = 0}};
  // The quotient has fewer than 2 √most values; each begins where the one before it ends. The last is 1, so `least`
  // applies from there on.
  uint32_t budget = bounds.most;
  for (uint32_t in_degree = 1; in_degree <= bounds.most; in_degree = bounds.most / (bounds.most / in_degree) + 1) {
    const uint32_t next = std::max(bounds.least, bounds.most / in_degree);
    if (next == budget) continue;
    budget = next;
    steps.push_back({.from = in_degree, .budget = static_cast<uint16_t>(budget), .rise = 0});
  }
  return FromSteps(std::move(steps));
}

Made MakeTable(ArgumentWords words) {
  std::vector<BudgetStep> steps;
  for (const std::string_view word : words) {
    const size_t colon = std::min(word.find(':'), word.size());
    const auto from = Number(word.substr(0, colon));
    const auto budget = colon == word.size() ? std::nullopt : Number(word.substr(colon + 1));
    if (!from || *from > std::numeric_limits<uint32_t>::max() || !budget || *budget < 1 || *budget > kMaxBudget) {
      return Wrong("table",
                   fmt::format("'{}': a step must be in-degree:budget, as in 100:1000, with a budget from 1 to {}",
                               word, kMaxBudget));
    }
    steps.push_back({.from = static_cast<uint32_t>(*from), .budget = static_cast<uint16_t>(*budget), .rise = 0});
  }
  auto table = BudgetTable::Make(std::move(steps));
  if (!table) return Wrong("table", table.error().message());
  return std::make_unique<Fixed>(*std::move(table));
}

struct NamedFunction {
  std::string_view name;
  Made (*make)(ArgumentWords words);
};
constexpr std::array kFunctions{
    NamedFunction{"ranked", MakeRanked},   NamedFunction{"popular", MakePopular},
    NamedFunction{"equal", MakeEqual},     NamedFunction{"proportional", MakeProportional},
    NamedFunction{"inverse", MakeInverse}, NamedFunction{"table", MakeTable},
};

}  // namespace

Result<std::unique_ptr<const BudgetFunction>> ParseBudgetFunction(std::string_view text) {
  const std::vector<std::string_view> words = Words(text);
  std::string known;
  std::vector<std::string_view> names;
  for (const NamedFunction& function : kFunctions) {
    names.push_back(function.name);
    known += (known.empty() ? "" : ", ") + std::string(function.name);
  }
  if (words.empty()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("no budget function is given; there are: {}", known));
  }
  for (const NamedFunction& function : kFunctions) {
    if (function.name == words[0]) return function.make(std::span(words).subspan(1));
  }
  const std::string_view near = NearestWord(words[0], names);
  return Fail(ErrorCode::kInvalidArgument,
              near.empty() ? fmt::format("there is no budget function '{}', only: {}", words[0], known)
                           : fmt::format("there is no budget function '{}'; did you mean '{}'?", words[0], near));
}

}  // namespace portolan
