#include "reputation/budget_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "disk/block_file.h"
#include "disk/record_block.h"

namespace portolan {
namespace {

constexpr uint8_t kStepsBlock = 1;
constexpr size_t kStepSize = 8;
constexpr size_t kBlockSize = 8192;

}  // namespace

Result<BudgetTable> BudgetTable::Make(std::vector<BudgetStep> steps) {
  if (steps.empty() || steps[0].from != 0) {
    return Fail(ErrorCode::kInvalidArgument, "a budget table must begin at in-degree 0");
  }
  if (steps.size() > kMaxSteps) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("a budget table has {} steps; at most {} are possible", steps.size(), kMaxSteps));
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i > 0 && steps[i].from <= steps[i - 1].from) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("in-degree {} after {}: the steps of a budget table must rise", steps[i].from,
                              steps[i - 1].from));
    }
    if (steps[i].budget == 0) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("in-degree {}: a budget must be at least 1, because URLs are delayed, never dropped",
                              steps[i].from));
    }
  }
  return BudgetTable(std::move(steps));
}

BudgetTable BudgetTable::Equal(uint32_t budget) {
  CHECK(budget >= 1 && budget <= kMaxBudget);
  return BudgetTable({{.from = 0, .budget = static_cast<uint16_t>(budget), .rise = 0}});
}

uint32_t BudgetTable::BudgetOf(uint32_t in_degree) const {
  const auto after = std::upper_bound(steps_.begin(), steps_.end(), in_degree,
                                      [](uint32_t wanted, const BudgetStep& step) { return wanted < step.from; });
  const BudgetStep& step = *(after - 1);
  return static_cast<uint32_t>(
      std::min<uint64_t>(kMaxBudget, step.budget + uint64_t{step.rise} * (in_degree - step.from)));
}

Result<uint64_t> WriteBudgetTable(Env& env, const std::string& path, const BudgetTable& table) {
  ASSIGN_OR_RETURN(BlockFileWriter file, BlockFileWriter::Create(env, path, FileKind::kQueue, Codec::kLz4));
  RecordBlockBuilder block;
  for (const BudgetStep& step : table.steps()) {
    std::string bytes;
    AppendLe<uint32_t>(bytes, step.from);
    AppendLe<uint16_t>(bytes, step.budget);
    AppendLe<uint16_t>(bytes, step.rise);
    block.Add(bytes);
    if (block.size() >= kBlockSize) {
      RETURN_IF_ERROR(file.Append(block.Finish(kStepsBlock)));
      block.Clear();
    }
  }
  if (!block.empty()) RETURN_IF_ERROR(file.Append(block.Finish(kStepsBlock)));
  RETURN_IF_ERROR(file.Sync());
  return file.length();
}

Result<BudgetTable> ReadBudgetTable(Env& env, const std::string& path, uint64_t length) {
  BlockFileReader::Options options;
  options.length = length;
  options.read_ahead = 2 * kBlockSize;
  ASSIGN_OR_RETURN(BlockFileReader file, BlockFileReader::Open(env, path, FileKind::kQueue, options));
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: not a budget table: {}", path, what));
  };
  std::vector<BudgetStep> steps;
  RecordBlockReader records;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, file.Next());
    if (!block) break;
    records.Start(*block, 0);
    while (records.Next()) {
      const std::string_view bytes = records.record();
      if (bytes.size() != kStepSize) return corrupt("a step has the wrong size");
      if (steps.size() == BudgetTable::kMaxSteps) return corrupt("too many steps");
      steps.push_back(
          {LoadLe<uint32_t>(bytes.data()), LoadLe<uint16_t>(bytes.data() + 4), LoadLe<uint16_t>(bytes.data() + 6)});
    }
    if (!records.ok()) return corrupt("its records do not parse");
  }
  auto table = BudgetTable::Make(std::move(steps));
  if (!table) return corrupt(table.error().message());
  return table;
}

}  // namespace portolan
