#include "cli/crawl_flags.h"

#include "base/units.h"

namespace portolan {
namespace {

Result<Config::Duration> DurationOf(const std::string& text) {
  ASSIGN_OR_RETURN(const double seconds, ParseSeconds(text));
  return Config::Duration(static_cast<int64_t>(seconds * 1e9));
}

}  // namespace

void AddLimitFlags(VerbApp& app, CrawlFlags& flags) {
  const char* group = "Limits (0: none)";
  app->add_option("--max-pages", flags.max_pages, "Stop after so many pages (2xx answers)")
      ->type_name("N")
      ->check(Checked(ParseCount, "N"))
      ->group(group);
  app->add_option("--max-depth", flags.max_depth, "Follow links so far from a seed")->type_name("N")->group(group);
  app->add_option("--max-bytes", flags.max_bytes, "Stop after so many bytes received")
      ->type_name("SIZE")
      ->check(Checked(ParseBytes, "SIZE"))
      ->group(group);
  app->add_option("--max-time", flags.max_time, "Stop after so much time")
      ->type_name("TIME")
      ->check(Checked(ParseSeconds, "TIME"))
      ->group(group);
  app->add_option("--loops", flags.loops, "Threads that fetch")->type_name("N")->group("Resources");
  app->add_option("--connections", flags.connections, "Fetches at one time")->type_name("N")->group("Resources");
  app->add_option(
         "--memory", flags.memory,
         "What the crawler may use, whatever the crawl's size; no more than RAM and memory.max of the control group")
      ->type_name("SIZE")
      ->check(Checked(ParseBytes, "SIZE"))
      ->group("Resources");
}

// A flag that may be repeated takes one value each time: what follows may be a URL.
void AddCrawlFlags(VerbApp& app, CrawlFlags& flags) {
  app->add_option("--set", flags.set, "Any setting of 'portolan config', e.g. fetch.http2=false; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app->add_option("--profile", flags.profile, "site (default): a few sites; web: the open web, with IRLbot's figures")
      ->type_name("NAME");
  app->add_option("--scope", flags.scope, "What is followed: domain, host, prefix or any")->type_name("MODE");
  app->add_option("--exclude", flags.exclude,
                  "URLs that are left out, as globs: '*.zip', '*/calendar/*'; may be repeated")
      ->type_name("GLOB")
      ->allow_extra_args(false);
  app->add_flag("--requisites", flags.requisites,
                "Also what pages need to be shown, from any host: images, styles, scripts, frames");
  AddLimitFlags(app, flags);
  app->add_flag("--mine", flags.mine,
                "The site is one's own: no delays, several connections per host, private addresses allowed; other\n"
                "flags and settings go on top of it")
      ->group("Politeness");
  app->add_option("--delay", flags.delay, "Between two pages of a host, at least")
      ->type_name("TIME")
      ->check(Checked(ParseSeconds, "TIME"))
      ->group("Politeness");
  app->add_option("--ip-delay", flags.ip_delay, "Between two pages of an address, at least")
      ->type_name("TIME")
      ->check(Checked(ParseSeconds, "TIME"))
      ->group("Politeness");
  app->add_option("--contact", flags.contact, "A URL that says who crawls and why; the web profile needs it")
      ->type_name("URL")
      ->group("Politeness");
  app->add_option("--user-agent", flags.user_agent, "The product token, for robots.txt and the User-Agent field")
      ->type_name("NAME")
      ->group("Politeness");
  app->add_option("--dns", flags.dns, "A name server, e.g. 127.0.0.1:5353; may be repeated")
      ->type_name("ADDR")
      ->allow_extra_args(false)
      ->group("Network");
  app->add_option("--ca", flags.ca, "Certificate authorities to trust, as PEM")->type_name("FILE")->group("Network");
  app->add_flag("--allow-private", flags.allow_private, "Private and loopback addresses may be crawled")
      ->group("Network");
}

Result<Config> ApplyCrawlFlags(const CrawlFlags& flags, const Config& base, const std::string& file) {
  Config config = base;
  if (!flags.profile.empty()) {
    ASSIGN_OR_RETURN(const Profile profile, ParseProfile(flags.profile));
    if (profile != base.crawl.profile) {
      // The other profile's defaults, and over them what the file says.
      config = ForProfile(profile);
      if (!file.empty()) {
        ASSIGN_OR_RETURN(config, LoadConfig(Env::Posix(), file, profile));
      }
      config.log = base.log;
    }
  }
  if (flags.mine) SetMine(config);
  if (!flags.scope.empty()) {
    RETURN_IF_ERROR(SetConfig(config, "scope.mode", flags.scope));
  }
  if (flags.max_pages) {
    ASSIGN_OR_RETURN(config.crawl.max_pages, ParseCount(*flags.max_pages));
  }
  if (flags.max_depth) config.crawl.max_depth = *flags.max_depth;
  if (flags.max_bytes) {
    ASSIGN_OR_RETURN(config.crawl.max_bytes.bytes, ParseBytes(*flags.max_bytes));
  }
  if (flags.max_time) {
    ASSIGN_OR_RETURN(config.crawl.max_time, DurationOf(*flags.max_time));
  }
  if (!flags.delay.empty()) {
    ASSIGN_OR_RETURN(config.politeness.host_delay, DurationOf(flags.delay));
  }
  if (!flags.ip_delay.empty()) {
    ASSIGN_OR_RETURN(config.politeness.ip_delay, DurationOf(flags.ip_delay));
  }
  if (flags.loops) config.fetch.loops = *flags.loops;
  if (flags.connections) config.fetch.connections = *flags.connections;
  if (!flags.memory.empty()) {
    ASSIGN_OR_RETURN(config.memory.total.bytes, ParseBytes(flags.memory));
  }
  if (!flags.contact.empty()) config.politeness.contact_url = flags.contact;
  if (!flags.user_agent.empty()) config.politeness.user_agent = flags.user_agent;
  config.scope.exclude.insert(config.scope.exclude.end(), flags.exclude.begin(), flags.exclude.end());
  if (!flags.dns.empty()) config.fetch.dns_servers = flags.dns;
  if (!flags.ca.empty()) config.fetch.ca_file = flags.ca;
  if (flags.requisites) config.scope.requisites = true;
  if (flags.allow_private) config.fetch.allow_private_addresses = true;
  for (const std::string& setting : flags.set) RETURN_IF_ERROR(SetConfig(config, setting));
  return config;
}

}  // namespace portolan
