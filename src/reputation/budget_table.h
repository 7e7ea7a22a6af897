// BudgetTable: the budget of a domain from its in-degree, as a function in steps. Immutable once made, so that a round
// on another thread and the owner read the same one.
//
// A step applies from its in-degree up to the next step's. With a rise the budget grows by that much per further
// in-degree (only `proportional` needs that). Always between 1 and kMaxBudget: a domain without a budget would never be
// crawled, and STAR delays but drops nothing.
//
// Memory bound: 8 bytes per step, at most kMaxSteps.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/env.h"

namespace portolan {

// With 16 bits each for budget, horizon and price, the content of a bucket fits 32 bits.
inline constexpr uint32_t kMaxBudget = 65'535;

struct BudgetStep {
  uint32_t from = 0;    // least in-degree
  uint16_t budget = 1;  // at `from`
  uint16_t rise = 0;    // per further in-degree

  bool operator==(const BudgetStep&) const = default;
};

class BudgetTable {
 public:
  static constexpr size_t kMaxSteps = 32'769;  // as many ranks as a budget function may ask for, and one for the rest

  // kInvalidArgument unless the first step is from 0, in-degrees rise, budgets are at least 1 and there are at most
  // kMaxSteps.
  static Result<BudgetTable> Make(std::vector<BudgetStep> steps);
  // One budget for all. REQUIRES: from 1 to kMaxBudget.
  static BudgetTable Equal(uint32_t budget);

  // From 1 to kMaxBudget.
  uint32_t BudgetOf(uint32_t in_degree) const;
  const std::vector<BudgetStep>& steps() const { return steps_; }

  bool operator==(const BudgetTable&) const = default;

 private:
  explicit BudgetTable(std::vector<BudgetStep> steps) : steps_(std::move(steps)) {}

  std::vector<BudgetStep> steps_;
};

// A file of its own (docs/formats/reputation.md), synced; returns its length.
Result<uint64_t> WriteBudgetTable(Env& env, const std::string& path, const BudgetTable& table);
// kCorrupt if the file is not a table.
Result<BudgetTable> ReadBudgetTable(Env& env, const std::string& path, uint64_t length);

}  // namespace portolan
