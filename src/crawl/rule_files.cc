#include "crawl/rule_files.h"

#include <fmt/core.h>

#include "io/small_file.h"
#include "rules/rule_file.h"

namespace portolan {
namespace {

// `setting` names the file for a user who wonders why it is read.
Result<std::string> ReadNamed(Env& env, const std::string& path, std::string_view setting) {
  auto text = ReadWholeFile(env, path);
  if (text) return text;
  return Fail(text.error().code(), fmt::format("{}: {}", setting, text.error().message()));
}

}  // namespace

uint64_t MaxBlockNames(const Config& config) {
  constexpr uint64_t kShare = 16;
  return config.memory.total.bytes / kShare / sizeof(uint64_t);
}

Result<LoadedBlockList> LoadBlockLists(Env& env, const std::vector<std::string>& files, uint64_t max_names) {
  LoadedBlockList loaded;
  if (files.empty()) return loaded;
  BlockList::Builder builder(max_names);
  for (const std::string& file : files) {
    loaded.stamps.push_back(FileStamp(file));
    ASSIGN_OR_RETURN(const std::string text, ReadNamed(env, file, "rules.block_lists"));
    RETURN_IF_ERROR(builder.Add(text, file));
  }
  loaded.list = builder.Finish();
  return loaded;
}

Result<std::shared_ptr<const RuleSet>> LoadRuleSet(Env& env, const Config& config) {
  std::vector<Rule> rules = config.rules.rule;
  if (!config.rules.file.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadNamed(env, config.rules.file, "rules.file"));
    ASSIGN_OR_RETURN(std::vector<Rule> more, ParseRuleFile(text, config.rules.file));
    rules.insert(rules.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (rules.empty()) return std::shared_ptr<const RuleSet>();
  for (const Rule& rule : rules) {
    if (rule.action == RuleAction::kLimit && config.crawl.partition == Partition::kPhase) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}:{}: limits pages, which crawl.partition = \"phase\" cannot: no shard counts a whole "
                              "host",
                              rule.file, rule.line));
    }
    if (rule.action != RuleAction::kRate || rule.delay_ns <= config.politeness.max_delay.count()) continue;
    return Fail(ErrorCode::kCorrupt, fmt::format("{}:{}: delay: is above politeness.max_delay, which bounds all delays",
                                                 rule.file, rule.line));
  }
  return RuleSet::Create(std::move(rules));
}

Result<LoadedRules> LoadRules(Env& env, const Config& config) {
  LoadedRules loaded;
  ASSIGN_OR_RETURN(loaded.rules, LoadRuleSet(env, config));
  ASSIGN_OR_RETURN(loaded.blocked, LoadBlockLists(env, config.rules.block_lists, MaxBlockNames(config)));
  return loaded;
}

Result<std::string> WhereBlocked(Env& env, const std::vector<std::string>& files, const std::string& host) {
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text, ReadNamed(env, file, "rules.block_lists"));
    if (const auto line = BlockList::LineThatBlocks(text, host)) return fmt::format("{}:{}", file, *line);
  }
  return std::string();
}

}  // namespace portolan
