// Config: every setting of the program, typed, in one struct.
//
// Read once from a TOML file; flags override fields afterwards. Each field is declared here with its default, and once
// in config_fields.cc with its key and its comment; parsing, printing and the list of valid keys all follow from that
// table. An unknown key is an error that names the nearest one, so that a misspelt limit is not silently ignored. Each
// number has a range in that table, which applies wherever the value comes from: a file, --set, or a flag of its own.
//
// A profile is a set of defaults: `site` for a polite crawl of one or a few sites, `web` for the open web with IRLbot's
// figures (H.-T. Lee et al., 2008: 40 s per host, 1 s per address). The other keys of the file override it.
//
// The struct holds what users may set; wiring.cc makes the options of the stages (fetch/, frontier/, parse/ …) from it.

#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "content/duplicate_policy.h"
#include "io/env.h"
#include "rules/rule.h"
#include "url/canonical.h"

namespace portolan {

// A size: written "64K", "256M", "1.5G", or as a plain number of bytes.
struct ByteCount {
  uint64_t bytes = 0;
  auto operator<=>(const ByteCount&) const = default;
};
constexpr ByteCount Kibi(uint64_t n) { return {n << 10}; }
constexpr ByteCount Mebi(uint64_t n) { return {n << 20}; }
constexpr ByteCount Gibi(uint64_t n) { return {n << 30}; }

enum class Profile : uint8_t { kSite, kWeb };

// What a link must share with a seed to be followed.
enum class ScopeMode : uint8_t {
  kDomain,  // the registered domain: www.example.org and shop.example.org
  kHost,    // the host name
  kPrefix,  // the seed's URL up to its last slash
  kAny,     // nothing: every link is followed
};

// How a crawl is divided among its shards (docs/shards.md).
enum class Partition : uint8_t {
  kDomain,  // each registered domain belongs to one shard
  kPhase,   // each URL does; shards take turns at the hosts, by the clock
};

// Which addresses of a name are looked up, and which are tried first.
enum class IpPreference : uint8_t { kV4First, kV6First, kV4Only, kV6Only };

struct Config {
  using Duration = std::chrono::nanoseconds;  // written "250ms", "30s", "5m", "2h", "41d"
  using Words = std::vector<std::string>;

  struct Crawl {
    Profile profile = Profile::kSite;
    Words seeds;
    // If there are too many seeds for crawl.toml: how many there are and their source. Written by the crawl.
    std::string seed_list;
    // Limits of the whole crawl. 0: none.
    uint64_t max_pages = 1'000'000;
    // Links from a seed; 0: only the seeds; written "none": no limit. Chains of "next chapter" are thousands long.
    std::optional<uint64_t> max_depth = 10'000;
    ByteCount max_bytes = {};
    Duration max_time = {};
    uint64_t max_redirects = 10;
    bool via = true;
    bool continuous = false;
    uint64_t shards = 0;  // 0: one for each kLoopsPerShard fetch threads
    Partition partition = Partition::kDomain;
    // With Partition::kPhase (phase_plan.h):
    uint64_t phases = 0;  // 0: as many as shards
    Duration phase_period = std::chrono::hours(1);
    Duration phase_gap = {};  // 0: what fetches, delays and clocks need
  } crawl;

  struct Scope {
    ScopeMode mode = ScopeMode::kDomain;
    Words include_domains;
    Words include_prefixes;
    Words exclude_domains;
    Words exclude;
    uint64_t max_url_length = 2000;
    CanonicalRules canonical = CanonicalRules::Default();
    bool follow_nofollow = false;
    bool embeds = false;
    bool requisites = false;
    bool sitemaps = true;
  } scope;

  // What is fetched and kept, rule by rule (docs/rules.md).
  struct Rules {
    std::vector<Rule> rule;
    std::string file;   // more rules, behind those of `rule`
    Words block_lists;  // files of hosts and domains
  } rules;

  struct Politeness {
    std::string user_agent = "portolan";  // a product token, or the whole field
    std::string robots_token;             // empty: the product token at the beginning of user_agent
    std::string contact_url;
    std::string from;
    Duration host_delay = std::chrono::seconds(1);
    Duration ip_delay = std::chrono::milliseconds(500);
    Duration host_delay_floor = {};
    Duration ip_delay_floor = {};
    std::optional<double> delay_factor;  // written "auto": kDelayFactor, or 0 where host_delay is 0
    Duration min_delay = {};
    Duration max_delay = std::chrono::minutes(5);
    bool crawl_delay = true;
    uint64_t connections_per_host = 1;
    Duration max_retry_after = std::chrono::hours(24);
    Duration max_back_off = std::chrono::hours(1);
    uint64_t give_up_after = 12;
    bool give_up_quickly = true;
    Duration robots_ttl = std::chrono::hours(24);
    Duration robots_retry = std::chrono::hours(1);
  } politeness;

  struct Budget {
    bool enabled = false;
    std::string function = "ranked top=10000 least=10 most=10000";
    uint64_t vouch_base = 16;
    uint64_t vouch_percent = 50;
    uint64_t queues = 128;
  } budget;

  struct Traps {
    bool enabled = false;
    bool parameters = true;
    uint64_t evidence = 12;
    uint64_t least_new = 12;
  } traps;

  struct Fetch {
    uint64_t loops = 1;
    uint64_t connections = 1024;
    Duration connect_timeout = std::chrono::seconds(15);
    Duration first_byte_timeout = std::chrono::seconds(30);
    Duration total_timeout = std::chrono::seconds(120);
    ByteCount lowest_speed = {256};
    Duration speed_window = std::chrono::seconds(20);
    ByteCount max_head = Kibi(256);
    ByteCount max_body = Mebi(16);
    ByteCount max_decoded = Mebi(64);
    std::string accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    std::string accept_encoding = "gzip, deflate, br, zstd";
    std::string accept_language;
    // For the seeds' own servers only (fetch/seed_hosts.h).
    Words headers;
    Words cookies;
    std::string login;
    bool reuse_connections = true;
    Duration idle_timeout = std::chrono::seconds(60);
    bool http2 = true;
    IpPreference addresses = IpPreference::kV4First;
    Words dns_servers;
    Duration dns_timeout = std::chrono::seconds(2);
    uint64_t dns_tries = 4;
    bool allow_private_addresses = false;
    bool verify_tls = true;
    std::string ca_file;
    std::string proxy;
    uint64_t outage_hosts = 8;
  } fetch;

  struct Page {
    uint64_t max_links = 10'000;
    bool similarity = false;
    bool canonical = true;
    bool alternates = true;
    bool x_robots_tag = true;
    bool pdf = false;
    Duration pdf_time = std::chrono::seconds(20);
    ByteCount pdf_memory = Mebi(512);
  } page;

  // Of a crawl that comes back (crawl.continuous).
  struct Freshness {
    double share = 0.5;
    uint64_t visits_per_day = 0;
    Duration shortest = std::chrono::hours(1);
    Duration least_gain = std::chrono::minutes(15);
  } freshness;

  struct Content {
    bool seen = true;
    DuplicatePolicy duplicates = DuplicatePolicy::kMark;
    NearPolicy near_duplicates = NearPolicy::kKeep;
    ByteCount least_body = {256};
  } content;

  struct Memory {
    ByteCount total = Gibi(1);
  } memory;

  struct Archive {
    bool enabled = true;
    std::string prefix = "PORTOLAN";
    Words directories = {"warc"};
    ByteCount file_size = Gibi(1);
    uint64_t level = 1;
    bool robots = true;
    bool metadata = false;
    bool honour_noarchive = false;
    std::string operator_name;
    std::string description;
  } archive;

  struct Outputs {
    bool links = false;
    bool text = false;
    bool honour_noindex = false;
    ByteCount file_size = Mebi(256);
  } outputs;

  struct Checkpoint {
    Duration interval = std::chrono::seconds(30);
  } checkpoint;

  struct Log {
    LogLevel level = LogLevel::kInfo;
    LogFormat format = LogFormat::kHuman;
    bool fetches = true;
    ByteCount file_size = Mebi(256);
  } log;
};

// What --mine means: the crawl of a site by its owner. No delays between pages, not even Crawl-delay; kMineConnections
// connections per host; private addresses allowed. Retry-After and the back-off for a failing host still apply.
inline constexpr uint64_t kMineConnections = 8;
void SetMine(Config& config);

// The defaults of a profile: "site", "web".
Config ForProfile(Profile profile);
Result<Profile> ParseProfile(std::string_view name);
std::string_view ProfileName(Profile profile);

// Reads the file at `path`, on top of the defaults of the profile that it names. Errors name file, line and key;
// kCorrupt: it is not a file of settings. `instead`: use this profile, whatever the file says.
Result<Config> LoadConfig(Env& env, const std::string& path, std::optional<Profile> instead = {});
Result<Config> ParseConfig(std::string_view toml, const std::string& path, std::optional<Profile> instead = {});

// The settings with which a crawl was begun. Also kCorrupt if a section or the seeds are missing, or settings do not
// fit together: an empty file must not be taken for a crawl with the defaults.
Result<Config> LoadWholeConfig(Env& env, const std::string& path);

// Sets one field: SetConfig(config, "fetch.http2", "false"). The value is TOML, or a bare word for a string.
Status SetConfig(Config& config, std::string_view name, std::string_view value);
// The same, from "SECTION.KEY=VALUE".
Status SetConfig(Config& config, std::string_view setting);

// A TOML file with every key, its value and its comment. ParseConfig reads it back to the same Config.
std::string ConfigToToml(const Config& config);

// Reports everything that is impossible or forbidden, each as "section.key: what is wrong", joined by "; ". Here
// settings are checked against each other, after files and flags are read; reading checks each value alone.
Status ValidateConfig(const Config& config);

// The User-Agent field: "TOKEN/VERSION (+CONTACT)" if user_agent is a product token; otherwise user_agent as it is,
// with the contact appended if it does not contain it.
std::string UserAgentOf(const Config& config, std::string_view version);

// The name under which robots.txt addresses this crawl.
std::string_view RobotsTokenOf(const Config& config);

// The delay after an answer, as a multiple of the time that the answer took.
double DelayFactorOf(const Config& config);
inline constexpr double kDelayFactor = 10;

// True if a field holds a secret: a password, a cookie, or a header field of the operator's own.
bool HoldsSecrets(const Config& config);

}  // namespace portolan
