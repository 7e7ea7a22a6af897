// The flags that change a crawl's settings, shared by crawl, resume and demo. A flag that is not given changes nothing.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb_app.h"
#include "crawl/config.h"

namespace portolan {

struct CrawlFlags {
  std::string profile;
  std::string scope;
  std::optional<std::string> max_pages;
  std::optional<uint64_t> max_depth;
  std::optional<std::string> max_bytes;
  std::optional<std::string> max_time;
  bool mine = false;
  std::string delay;
  std::string ip_delay;
  std::optional<uint64_t> loops;
  std::optional<uint64_t> connections;
  std::string memory;
  std::string contact;
  std::string user_agent;
  std::vector<std::string> exclude;
  bool requisites = false;
  std::vector<std::string> dns;
  std::string ca;
  bool allow_private = false;
  std::vector<std::string> set;
};

void AddLimitFlags(VerbApp& app, CrawlFlags& flags);
void AddCrawlFlags(VerbApp& app, CrawlFlags& flags);  // limits included

// `base` is the configuration of `file`, or the defaults where there is none.
Result<Config> ApplyCrawlFlags(const CrawlFlags& flags, const Config& base, const std::string& file = {});

}  // namespace portolan
