// Loading what the settings say about rules: the list among them, the file of rules, the block lists.
//
// Everything is checked here, before anything is fetched; errors have file and line.
//
// Thread: any. Memory bound: a file of rules (kMaxRuleFile) or a block list, while it is read; what is made of them is
// bounded by rules/rule_set.h and rules/block_list.h.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "crawl/config.h"
#include "io/env.h"
#include "rules/block_list.h"
#include "rules/rule_set.h"

namespace portolan {

struct LoadedBlockList {
  std::shared_ptr<const BlockList> list;  // null: there are no files
  std::vector<std::string> stamps;        // of the files, from before they were read (FileStamp)
};

struct LoadedRules {
  std::shared_ptr<const RuleSet> rules;  // null: there are none
  LoadedBlockList blocked;
};

// The most names that block lists may hold: while they are read again there are two lists.
uint64_t MaxBlockNames(const Config& config);

Result<LoadedBlockList> LoadBlockLists(Env& env, const std::vector<std::string>& files, uint64_t max_names);
Result<std::shared_ptr<const RuleSet>> LoadRuleSet(Env& env, const Config& config);
Result<LoadedRules> LoadRules(Env& env, const Config& config);

// "ads.txt:17": the first line of the block lists that names the host or a domain above it; empty: none does.
Result<std::string> WhereBlocked(Env& env, const std::vector<std::string>& files, const std::string& host);

}  // namespace portolan
