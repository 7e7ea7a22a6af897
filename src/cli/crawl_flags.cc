#include "cli/crawl_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/log.h"

namespace portolan {
namespace {

constexpr const char* kLimits = "Limits";
constexpr const char* kResources = "Resources";
constexpr const char* kPoliteness = "Politeness";
constexpr const char* kNetwork = "Network";
constexpr const char* kRequests = "Requests";

std::string WholePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  return error ? path : whole.lexically_normal().string();
}

// "--connections (fetch.connections): must be from 1 to 100000, not 0".
Status SetByFlag(Config& config, std::string_view flag, std::string_view key, const std::string& value) {
  const Status status = SetConfig(config, key, value);
  if (status) return {};
  const std::string& message = status.error().message();  // begins with the key
  return Fail(status.error().code(), fmt::format("{} ({}){}", flag, key, message.substr(key.size())));
}

}  // namespace

void AddLimitFlags(VerbApp& app, CrawlFlags& flags) {
  const auto add = [&](const char* name, std::optional<std::string>& target, const char* type, const char* group,
                       const char* help) { app->add_option(name, target, help)->type_name(type)->group(group); };
  add("--max-pages", flags.max_pages, "N", kLimits, "Stop after this many pages (2xx answers); 0: no limit");
  add("--max-depth", flags.max_depth, "N", kLimits,
      "Follow links up to this far from a seed; 0: only the seeds; none: no limit");
  add("--max-bytes", flags.max_bytes, "SIZE", kLimits, "Stop after this many bytes received; 0: no limit");
  add("--max-time", flags.max_time, "TIME", kLimits, "Stop after this time; 0: no limit");
  add("--loops", flags.loops, "N", kResources, "Threads that fetch; 0: one less than processors");
  add("--connections", flags.connections, "N", kResources, "Fetches at one time, at most 100000");
  add("--memory", flags.memory, "SIZE", kResources,
      "Memory of the crawler, whatever the crawl's size; at most RAM\nand memory.max of the control group");
}

void AddCrawlFlags(VerbApp& app, CrawlFlags& flags) {
  const auto add = [&](const char* name, auto& target, const char* type, const char* group, const char* help) {
    // A flag that may be repeated takes one value each time, because a URL may follow.
    app->add_option(name, target, help)->type_name(type)->group(group)->allow_extra_args(false);
  };
  const std::string own = app->option_defaults()->get_group();  // the verb's own flags
  const char* general = own.c_str();
  add("--set", flags.set, "KEY=VALUE", general,
      "Any setting of 'portolan config', e.g. fetch.http2=false; may be repeated");
  add("--profile", flags.profile, "NAME", general,
      "site (default): a few sites; web: the open web, with IRLbot's figures");
  add("--scope", flags.scope, "MODE", general, "What is followed: domain, host, prefix or any");
  add("--partition", flags.partition, "MODE", general,
      "How shards share the crawl: domain (default), or phase (docs/shards.md)");
  add("--exclude", flags.exclude, "GLOB", general,
      "URLs to leave out, as globs: '*.zip', '*/calendar/*'; may be repeated");
  add("--rules", flags.rules, "FILE", general, "Rules of what is fetched and kept (docs/rules.md)");
  add("--block-list", flags.block_lists, "FILE", general,
      "Hosts and domains that are never fetched, one per line; read again when it\nchanges; may be repeated");
  app->add_flag("--requisites", flags.requisites,
                "Also fetch what pages need to be displayed, from any host: images, styles, scripts, frames");
  app->add_flag("--continuous", flags.continuous,
                "Do not end: visit pages again when they are likely to have changed\n(docs/freshness.md); limits still "
                "end the crawl");
  AddLimitFlags(app, flags);
  app->add_flag("--mine", flags.mine,
                "The site is your own: no delays, several connections per host, private\n"
                "addresses allowed; other flags and settings override this")
      ->group(kPoliteness);
  add("--delay", flags.delay, "TIME", kPoliteness,
      "Least time between two pages of a host; also at least ten times as long as\nthe last answer took, unless this "
      "is 0");
  add("--ip-delay", flags.ip_delay, "TIME", kPoliteness, "Least time between two pages of an IP address");
  add("--contact", flags.contact, "URL", kPoliteness, "A URL that says who crawls and why; the web profile needs it");
  add("--user-agent", flags.user_agent, "TEXT", kPoliteness,
      "A name (letters, - and _), completed with version and contact, or the\n"
      "whole User-Agent field. robots.txt knows us by the name at its beginning,\n"
      "or by politeness.robots_token");
  add("--header", flags.headers, "'NAME: VALUE'", kRequests,
      "A header field, sent to the seeds' registered domains only; may be repeated");
  add("--cookie", flags.cookies, "NAME=VALUE", kRequests, "A cookie, sent to the same domains only; may be repeated");
  add("--user", flags.login, "NAME:PASSWORD", kRequests,
      "HTTP basic authentication, sent to the seeds' own hosts only (scheme,\n"
      "host and port). Other users of this machine see flags: fetch.login in a\n"
      "--config file is safer");
  add("--accept-language", flags.accept_language, "TEXT", kRequests, "The Accept-Language field, e.g. 'de, en;q=0.5'");
  add("--dns", flags.dns, "ADDR", kNetwork, "A name server, e.g. 127.0.0.1:5353; may be repeated");
  add("--proxy", flags.proxy, "URL", kNetwork,
      "http://host:port, socks5h://host:port; http_proxy of the environment is not used");
  add("--ca", flags.ca, "FILE", kNetwork, "Certificate authorities to trust, as PEM");
  app->add_flag("--allow-private", flags.allow_private, "Private and loopback addresses may be crawled")
      ->group(kNetwork);
}

Result<Config> ApplyCrawlFlags(const CrawlFlags& flags, const Config& base, const std::string& file) {
  Config config = base;
  if (flags.profile) {
    ASSIGN_OR_RETURN(const Profile profile, ParseProfile(*flags.profile));
    if (profile != base.crawl.profile) {
      // The other profile's defaults, overridden by the file's settings.
      config = ForProfile(profile);
      if (!file.empty()) {
        ASSIGN_OR_RETURN(config, LoadConfig(Env::Posix(), file, profile));
      }
      config.log = base.log;
    }
  }
  if (flags.mine) SetMine(config);
  struct Valued {
    std::string_view flag;
    std::string_view key;
    const std::optional<std::string>& value;
  };
  for (const Valued& one : {Valued{"--scope", "scope.mode", flags.scope},
                            {"--partition", "crawl.partition", flags.partition},
                            {"--max-pages", "crawl.max_pages", flags.max_pages},
                            {"--max-depth", "crawl.max_depth", flags.max_depth},
                            {"--max-bytes", "crawl.max_bytes", flags.max_bytes},
                            {"--max-time", "crawl.max_time", flags.max_time},
                            {"--delay", "politeness.host_delay", flags.delay},
                            {"--ip-delay", "politeness.ip_delay", flags.ip_delay},
                            {"--loops", "fetch.loops", flags.loops},
                            {"--connections", "fetch.connections", flags.connections},
                            {"--memory", "memory.total", flags.memory}}) {
    if (one.value) RETURN_IF_ERROR(SetByFlag(config, one.flag, one.key, *one.value));
  }
  // Texts are taken literally: they are not parsed as TOML.
  const auto take = [](std::string& setting, const std::optional<std::string>& text) {
    if (text) setting = *text;
  };
  take(config.politeness.contact_url, flags.contact);
  take(config.politeness.user_agent, flags.user_agent);
  take(config.fetch.accept_language, flags.accept_language);
  take(config.fetch.login, flags.login);
  take(config.fetch.proxy, flags.proxy);
  take(config.fetch.ca_file, flags.ca);
  take(config.rules.file, flags.rules);
  const auto append = [](std::vector<std::string>& list, const std::vector<std::string>& more) {
    list.insert(list.end(), more.begin(), more.end());
  };
  append(config.scope.exclude, flags.exclude);
  append(config.rules.block_lists, flags.block_lists);
  append(config.fetch.headers, flags.headers);
  append(config.fetch.cookies, flags.cookies);
  if (!flags.dns.empty()) config.fetch.dns_servers = flags.dns;
  if (flags.requisites) config.scope.requisites = true;
  if (flags.continuous) config.crawl.continuous = true;
  if (flags.allow_private) config.fetch.allow_private_addresses = true;
  for (const std::string& setting : flags.set) RETURN_IF_ERROR(SetConfig(config, setting));
  // A crawl may be resumed from another folder.
  if (!config.rules.file.empty()) config.rules.file = WholePath(config.rules.file);
  Config::Words& lists = config.rules.block_lists;
  for (std::string& list : lists) list = WholePath(list);
  for (auto list = lists.begin(); list != lists.end();) {
    list = std::find(lists.begin(), list, *list) == list ? std::next(list) : lists.erase(list);
  }
  return config;
}

void WarnOfIgnoredProxy(const Config& config) {
  if (!config.fetch.proxy.empty()) return;
  const auto value = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string_view(text == nullptr ? "" : text);
  };
  if (value("no_proxy") == "*" || value("NO_PROXY") == "*") return;
  std::string names;
  for (const char* name : {"http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}) {
    if (!value(name).empty()) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  if (names.empty()) return;
  Log(LogLevel::kWarn, "the environment names a proxy, which is not used: --proxy URL (fetch.proxy) sets one",
      {{"variables", names}});
}

}  // namespace portolan
