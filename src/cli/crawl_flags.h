// The flags that change a crawl's settings, shared by crawl, resume and demo. A flag that is not given changes nothing.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/verb_app.h"
#include "crawl/config.h"

namespace portolan {

// Texts as they were given: SetConfig parses them, so a flag accepts exactly what its setting accepts.
struct CrawlFlags {
  std::optional<std::string> profile;
  std::optional<std::string> scope;
  std::optional<std::string> partition;
  std::optional<std::string> max_pages;
  std::optional<std::string> max_depth;
  std::optional<std::string> max_bytes;
  std::optional<std::string> max_time;
  bool mine = false;
  std::optional<std::string> delay;
  std::optional<std::string> ip_delay;
  std::optional<std::string> loops;
  std::optional<std::string> connections;
  std::optional<std::string> memory;
  std::optional<std::string> contact;
  std::optional<std::string> user_agent;
  std::optional<std::string> accept_language;
  std::optional<std::string> login;
  std::optional<std::string> ca;
  std::optional<std::string> rules;
  std::vector<std::string> block_lists;
  std::optional<std::string> proxy;
  std::vector<std::string> headers;
  std::vector<std::string> cookies;
  std::vector<std::string> exclude;
  bool requisites = false;
  std::vector<std::string> dns;
  bool allow_private = false;
  bool continuous = false;
  std::vector<std::string> set;
};

void AddLimitFlags(VerbApp& app, CrawlFlags& flags);
void AddCrawlFlags(VerbApp& app, CrawlFlags& flags);  // limits included

// `base` is the configuration in `file`, or the defaults if there is no file. Errors name the flag and the setting
// behind it.
Result<Config> ApplyCrawlFlags(const CrawlFlags& flags, const Config& base, const std::string& file = {});

// http_proxy and similar variables are ignored: a crawl depends only on its settings. Warns in one line if such a
// variable is set and fetch.proxy is not.
void WarnOfIgnoredProxy(const Config& config);

}  // namespace portolan
