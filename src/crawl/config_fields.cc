#include "crawl/config_fields.h"

#include <fmt/core.h>

#include <chrono>
#include <concepts>
#include <type_traits>

#include "base/utf8.h"
#include "crawl/config_values.h"
#include "crawl/partition.h"
#include "crawl/phase_plan.h"
#include "frontier/politeness.h"
#include "rules/rule_file.h"

namespace portolan {
namespace {

constexpr ByteCount kMostBytes = Gibi(1 << 20);
constexpr Config::Duration kMostTime = std::chrono::days(36'500);
constexpr Config::Duration kYear = std::chrono::days(365);

using std::chrono::days;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

template <typename T>
concept Number = std::same_as<T, uint64_t> || std::same_as<T, double> || std::same_as<T, ByteCount> ||
                 std::same_as<T, Config::Duration>;

// As it is written in a message: without the quotes of TOML.
template <Number T>
std::string Plain(T value) {
  std::string text = PrintSetting(value);
  std::erase(text, '"');
  return text;
}

template <Number T>
struct Range {
  T least;
  T most;

  std::string Text() const { return fmt::format("from {} to {}", Plain(least), Plain(most)); }
  Status Check(T value) const {
    if (value >= least && value <= most) return {};
    return Fail(ErrorCode::kInvalidArgument, fmt::format("must be {}, not {}", Text(), Plain(value)));
  }
  Status Check(const std::optional<T>& value) const { return value ? Check(*value) : Status(); }
};

// TOML files are UTF-8: with other bytes the crawl.toml could not be read again.
Status CheckText(std::string_view text) {
  if (IsUtf8(text)) return {};
  return Fail(ErrorCode::kInvalidArgument, "is not UTF-8");
}

struct AnyValue {
  static std::string Text() { return {}; }
  template <typename T>
  Status Check(const T& value) const {
    static_assert(!Number<T>, "a number has a range");
    if constexpr (std::same_as<T, std::string>) {
      return CheckText(value);
    } else if constexpr (std::same_as<T, Config::Words>) {
      for (const std::string& word : value) RETURN_IF_ERROR(CheckText(word));
    }
    return {};
  }
};

template <typename Access, typename Allowed>
ConfigField Field(std::string_view section, std::string_view key, std::string_view comment, Access access,
                  const Allowed& allowed) {
  return {.section = section,
          .key = key,
          .comment = comment,
          .range = allowed.Text(),
          .read = [access, allowed](Config& config, const toml::node& node) -> Status {
            std::remove_cvref_t<decltype(access(config))> value{};
            if (const Status status = ReadSetting(node, value); !status) {
              const std::string range = allowed.Text();
              return Fail(status.error().code(), range.empty()
                                                     ? status.error().message()
                                                     : fmt::format("{} ({})", status.error().message(), range));
            }
            RETURN_IF_ERROR(allowed.Check(value));
            access(config) = std::move(value);
            return {};
          },
          .check = [access, allowed](const Config& config) { return allowed.Check(access(config)); },
          .print = [access](const Config& config) { return PrintSetting(access(config)); }};
}

// The list of rules: each is a table.
ConfigField RulesField(std::string_view comment) {
  const auto read_at = [](Config& config, const toml::node& node, const std::string& path) -> Status {
    ASSIGN_OR_RETURN(config.rules.rule, RulesOf(node, path));
    return {};
  };
  return {.section = "rules",
          .key = "rule",
          .comment = comment,
          .range = {},
          .read = [read_at](Config& config, const toml::node& node) { return read_at(config, node, "--set"); },
          .check = [](const Config&) -> Status { return {}; },
          .print = [](const Config& config) { return PrintRules(config.rules.rule); },
          .read_at = read_at};
}

// The type of a setting's number, also for settings that take a number or a word ("none").
template <typename T>
struct NumberOf {
  using Type = T;
};
template <typename T>
struct NumberOf<std::optional<T>> {
  using Type = T;
};
#define TYPE_OF(section, key) NumberOf<decltype(Config{}.section.key)>::Type

// The key is the member's name.
#define SETTING(section, key, comment) \
  Field(#section, #key, comment, [](auto& config) -> auto& { return config.section.key; }, AnyValue())
#define NUMBER(section, key, least, most, comment)                                       \
  Field(                                                                                 \
      #section, #key, comment, [](auto& config) -> auto& { return config.section.key; }, \
      Range<TYPE_OF(section, key)>{least, most})

}  // namespace

const std::vector<ConfigField>& ConfigFields() {
  static const std::vector<ConfigField> fields = {
      SETTING(crawl, profile, "Where the defaults come from: site (your own or a few sites) or web (the open web)."),
      SETTING(crawl, seeds, "URLs to begin with, in addition to those on the command line."),
      SETTING(crawl, seed_list,
              "If there are too many seeds for this file (more than 100): how many the crawl's state holds, and where "
              "they came from. Written by the crawl."),
      NUMBER(crawl, max_pages, 0, 1'000'000'000'000'000, "Stop after this many pages were fetched; 0 for no limit."),
      NUMBER(crawl, max_depth, 0, UINT16_MAX,
             "Follow links up to this many steps from a seed; 0: only the seeds; \"none\": no limit."),
      NUMBER(crawl, max_bytes, ByteCount{}, kMostBytes, "Stop after this many bytes were received; 0 for no limit."),
      NUMBER(crawl, max_time, seconds(0), kMostTime, "Stop after this time; 0 for no limit."),
      NUMBER(crawl, max_redirects, 0, 50, "Follow at most this many redirects one after the other."),
      SETTING(crawl, via,
              "Store with each URL the page on which it was found first, for log/, WARC metadata and 'why'."),
      SETTING(crawl, continuous,
              "Do not end when all is fetched: visit pages again when they are likely to have changed "
              "(docs/freshness.md). Limits still end the crawl."),
      NUMBER(
          crawl, shards, 0, kMaxShards,
          "Parts of the crawl that work side by side, each on a thread of its own with its own domains; 0 for one per "
          "six fetch threads. Fixed when the crawl begins."),
      SETTING(
          crawl, partition,
          "How the crawl is divided among shards: domain (each has domains of its own) or phase (each has URLs of all "
          "hosts and fetches from one group of hosts, a phase, at a time, in turns by the clock; docs/shards.md). "
          "Fixed when the crawl begins, as the number and the period of phases are."),
      NUMBER(crawl, phases, 0, kMostPhases,
             "With partition = \"phase\": groups of hosts, at least as many as shards; 0: as many as shards."),
      NUMBER(crawl, phase_period, seconds(1), days(30), "With partition = \"phase\": how long a turn lasts."),
      NUMBER(crawl, phase_gap, seconds(0), days(30),
             "With partition = \"phase\": how long nothing is fetched when a turn begins. At least fetch.total_timeout "
             "and politeness.max_delay and 400ms for clocks that differ; 0: these two and 4s."),

      SETTING(scope, mode,
              "What a link must share with a seed: domain (the registered one), host, prefix, or any (nothing)."),
      SETTING(scope, include_domains, "Domains, with all below them, that are in scope whatever the mode says."),
      SETTING(scope, include_prefixes, "URL prefixes that are in scope whatever the mode says."),
      SETTING(scope, exclude_domains, "Domains, with all below them, that are never fetched."),
      SETTING(scope, exclude, "URL patterns that are never fetched; * is any run of characters, ? any one."),
      NUMBER(scope, max_url_length, 100, 32'000, "Leave out URLs that have more bytes."),
      SETTING(scope, canonical, "Rules that turn several spellings of a URL into one (docs/canonical.md)."),
      SETTING(scope, follow_nofollow, "Follow links and pages that say nofollow."),
      SETTING(scope, embeds, "Also fetch images, scripts and style sheets that are in scope."),
      SETTING(scope, requisites,
              "Fetch what pages need to be shown, from any host: images, scripts, frames, style sheets and what those "
              "refer to (docs/requisites.md)."),
      SETTING(scope, sitemaps, "Follow the sitemaps that robots.txt names."),

      RulesField(
          "What is fetched and kept, rule by rule (docs/rules.md): of the rules with one kind of action the first that "
          "holds decides, e.g. { action = \"exclude\", pattern = \"/calendar/\" }."),
      SETTING(rules, file, "A file of more rules, as [[rule]] tables, behind those above; read when the crawl starts."),
      SETTING(rules, block_lists,
              "Files of hosts and domains that are never fetched, one per line; also hosts files and ||DOMAIN^. Read "
              "again when they change."),

      SETTING(politeness, user_agent,
              "Our product token (letters, - and _), to which version and contact are added; or the whole User-Agent "
              "field, of which only the beginning matters: see robots_token."),
      SETTING(politeness, robots_token,
              "The name that robots.txt uses for us: letters, - and _. Empty: the one at the beginning of user_agent."),
      SETTING(politeness, contact_url, "A page about this crawl, or a mailto: address; part of User-Agent."),
      SETTING(politeness, from, "The From header field: the mail address of a person; empty for none."),
      NUMBER(politeness, host_delay, seconds(0), kYear,
             "Time from the end of an answer to the next request to the same host."),
      NUMBER(politeness, ip_delay, seconds(0), kYear, "The same for an address, across all its hosts."),
      NUMBER(politeness, host_delay_floor, seconds(0), kYear,
             "How far a large budget may reduce host_delay, in proportion; 0: budgets do not change it."),
      NUMBER(politeness, ip_delay_floor, seconds(0), kYear, "The same for ip_delay."),
      NUMBER(politeness, delay_factor, 0, 10'000,
             "The delay is at least this multiple of the last answer's time. \"auto\": 10, or 0 if host_delay is 0."),
      NUMBER(politeness, min_delay, seconds(0), kYear, "The delay of a host is never below this ..."),
      NUMBER(politeness, max_delay, seconds(0), kYear, "... nor above this, Crawl-delay of robots.txt included."),
      SETTING(politeness, crawl_delay, "Obey Crawl-delay of robots.txt."),
      NUMBER(politeness, connections_per_host, 1, kMaxConnectionsPerHost,
             "Requests to one host, and to one address, at the same time; more than 1 only for your own sites."),
      NUMBER(politeness, max_retry_after, seconds(0), kYear, "A longer Retry-After is taken as this."),
      NUMBER(politeness, max_back_off, seconds(0), kYear, "The wait for a failing host doubles up to this."),
      NUMBER(politeness, give_up_after, 0, 1'000'000,
             "Give up a host that failed this many times in a row; 0 for never."),
      SETTING(politeness, give_up_quickly,
              "When only URLs that failed before are left, try again after seconds, not minutes, and end."),
      NUMBER(politeness, robots_ttl, seconds(1), days(30), "Fetch robots.txt again after this time."),
      NUMBER(politeness, robots_retry, seconds(1), days(30),
             "Try again after this time to fetch a robots.txt that could not be fetched."),

      SETTING(budget, enabled,
              "Give domains that others link to a larger part of the crawl; URLs wait, none is dropped."),
      SETTING(budget, function,
              "Pages that a domain may have at a time, by how many others link to it: ranked, popular, equal, "
              "proportional, "
              "inverse or table (docs/budgets.md)."),
      NUMBER(budget, vouch_base, 0, 1'000'000,
             "A domain's links count for this many others, plus ...; 0 for no limit."),
      NUMBER(budget, vouch_percent, 0, 90, "... this percentage of the number of domains that link to it."),
      NUMBER(budget, queues, 2, 1024, "The most queues for URLs of domains that are over their budget."),

      SETTING(traps, enabled,
              "Park URLs whose form has stopped to give new pages: calendars, session ids, filters without end "
              "(docs/traps.md). None is dropped."),
      SETTING(traps, parameters, "Leave out of URLs what never changes the page on their host, such as session ids."),
      NUMBER(traps, evidence, 4, 16, "Fetches after which a form of URLs is judged."),
      NUMBER(traps, least_new, 0, 50, "Park URLs if fewer than this percentage of their form's pages were new."),

      NUMBER(fetch, loops, 0, 256, "Threads that fetch; 0 for one fewer than there are processors."),
      NUMBER(fetch, connections, 1, 100'000, "Fetches at the same time, over all loops."),
      NUMBER(fetch, connect_timeout, milliseconds(10), hours(1), "Time to connect, TLS included."),
      NUMBER(fetch, first_byte_timeout, milliseconds(10), hours(1),
             "Time from the request to the first byte of the answer."),
      NUMBER(fetch, total_timeout, milliseconds(10), days(1),
             "Time for a whole fetch; what came until then is kept, marked as cut."),
      NUMBER(fetch, lowest_speed, ByteCount{}, Gibi(1),
             "Cut an answer that is slower, in bytes per second; 0 for any speed."),
      NUMBER(fetch, speed_window, seconds(1), hours(1), "The time over which lowest_speed is measured."),
      NUMBER(fetch, max_head, Kibi(1), Mebi(1), "The most header bytes of an answer."),
      NUMBER(fetch, max_body, Kibi(1), Gibi(1), "The most bytes of a body as received; more is cut, and marked."),
      NUMBER(fetch, max_decoded, Kibi(1), Gibi(1), "The most bytes of a body after its content coding is removed."),
      SETTING(fetch, accept, "The Accept header field."),
      SETTING(fetch, accept_encoding, "The Accept-Encoding header field."),
      SETTING(fetch, accept_language, "The Accept-Language header field; empty for none."),
      SETTING(
          fetch, headers,
          "Header fields, \"Name: value\", for the seeds' registered domains only; not archived. Over plain HTTP only "
          "if a seed is plain HTTP."),
      SETTING(fetch, cookies, "Cookies, \"name=value\"; the same applies to them."),
      SETTING(fetch, login,
              "\"NAME:PASSWORD\" for HTTP basic authentication, for the seeds' own hosts only; not archived. This file "
              "stores it as it is written here."),
      SETTING(fetch, reuse_connections, "Keep connections open for the next request to a host."),
      NUMBER(fetch, idle_timeout, seconds(0), days(1), "Close a connection that was not used for this time."),
      SETTING(fetch, http2, "Use HTTP/2 if the server offers it."),
      SETTING(fetch, addresses, "Which IP addresses to use: v4-first, v6-first, v4-only or v6-only."),
      SETTING(fetch, dns_servers,
              "Name servers to ask, \"192.0.2.1\", \"192.0.2.1:53\" or \"[2001:db8::1]:53\"; empty for the system's."),
      NUMBER(fetch, dns_timeout, milliseconds(10), minutes(1),
             "Time for the first question to a name server; doubles with each attempt."),
      NUMBER(fetch, dns_tries, 1, 10, "Questions to each name server."),
      SETTING(fetch, allow_private_addresses, "Fetch from addresses that are not on the public internet."),
      SETTING(fetch, verify_tls, "Refuse servers whose certificate is not valid for them."),
      SETTING(fetch, ca_file, "Certificates to trust, in PEM; empty for the system's."),
      SETTING(
          fetch, proxy,
          "\"http://host:port\" or \"socks5h://host:port\" (the proxy resolves names), \"socks5://host:port\" (we do); "
          "empty for none, whatever http_proxy says."),
      NUMBER(fetch, outage_hosts, 0, 64,
             "How many hosts that answered before must fail in a row for the network to count as down; 0: never."),

      NUMBER(page, max_links, 1, 1'000'000, "The most links taken from a page."),
      SETTING(page, canonical, "Follow the link to a page's canonical URL (rel=canonical, also in a Link field)."),
      SETTING(page, alternates,
              "Follow <link rel=alternate>: the page in other languages (hreflang), for other devices, its feeds."),
      SETTING(page, x_robots_tag, "Obey X-Robots-Tag fields as the robots meta elements of pages (docs/rules.md)."),
      SETTING(page, similarity,
              "Compute 64 bits from the main text of each page, for 'portolan dups', which lists near duplicates."),
      SETTING(page, pdf, "Read text and links of PDF documents, one at a time, in a process of its own."),
      NUMBER(page, pdf_time, seconds(1), minutes(10), "The longest time for reading one PDF document."),
      NUMBER(page, pdf_memory, Mebi(128), Gibi(64),
             "Address space for reading one PDF document. It is not part of memory.total."),

      NUMBER(freshness, share, 0.01, 1.0,
             "With crawl.continuous: part of the fetches that visit pages again while others wait for their first "
             "visit; when none waits, all do."),
      NUMBER(freshness, visits_per_day, 0, 1'000'000'000'000,
             "The most visits after the first, per day; 0: as many as hosts and connections allow."),
      NUMBER(freshness, shortest, seconds(1), days(30),
             "The least time between two visits of a page. Other waits follow it: a page that is gone is asked for "
             "again after 24, 48 and 96 times as long."),
      NUMBER(freshness, least_gain, milliseconds(0), days(30),
             "How much longer a page of usual importance must be up to date for a visit to be worth it."),

      SETTING(content, seen, "Notice when the same bytes were fetched before, under this or another URL."),
      SETTING(content, duplicates,
              "What to do then: keep (store and follow as any other page, and say so in the log), mark (store a WARC "
              "revisit record instead of the bytes), or skip (as mark, and do not follow links that lead to what is "
              "known; of a host that repeats another one only samples are fetched; docs/content.md)."),
      SETTING(content, near_duplicates,
              "What to do with a page whose text is nearly that of another page: keep (do not look for it; 'portolan "
              "dups' can list them with page.similarity), mark (name that page in the log), or skip (as mark, and do "
              "not follow its links within its host where nearly all pages of the host are copies; docs/content.md)."),
      NUMBER(content, least_body, ByteCount{1}, Gibi(1), "Do not compare smaller bodies."),

      NUMBER(memory, total, Mebi(128), kMostBytes,
             "Memory that the crawl may use in all. The default shrinks to three quarters of RAM or of the control "
             "group's memory.max; a value above all of it is refused."),

      SETTING(archive, enabled, "Store what was fetched, as WARC."),
      SETTING(archive, prefix, "Names of WARC files begin with this. It stays the same for the life of a crawl."),
      SETTING(archive, directories,
              "Directories for WARC files, one writing thread each; relative to the crawl's directory."),
      NUMBER(archive, file_size, Mebi(1), Gibi(1 << 10), "Begin a new WARC file when one is this long."),
      NUMBER(archive, level, 1, 12, "Level of compression: 1 is the fastest, 12 the smallest."),
      SETTING(archive, robots, "Store robots.txt files, too."),
      SETTING(archive, metadata,
              "Write a metadata record with each answer: where its URL was found, times, counts, title."),
      SETTING(archive, honour_noarchive, "Do not store pages that say noarchive."),
      SETTING(archive, operator_name, "Who runs this crawl; for the first record of each WARC file."),
      SETTING(archive, description, "What this crawl is for; also for that record."),

      SETTING(outputs, links,
              "Write the link log, links/: which page links to which, with anchor text. 'portolan links' reads it."),
      SETTING(outputs, honour_noindex, "Leave pages that say noindex out of the text log."),
      SETTING(outputs, text,
              "Write the text log, text/: title, language, date, main text of each page. 'portolan text' reads it."),
      NUMBER(outputs, file_size, Kibi(64), Gibi(1 << 10), "Begin a new file of these two logs when one is this long."),

      NUMBER(checkpoint, interval, seconds(1), days(1),
             "Time between checkpoints. What was done since the last one is done again after a crash."),

      SETTING(log, level, "What to log: debug, info, warn, error or off."),
      SETTING(log, format, "How to log it: human, or json for one object per line."),
      SETTING(log, fetches, "Write one line per fetch in log/."),
      NUMBER(log, file_size, Kibi(64), Gibi(1 << 10),
             "Begin a new file in log/ when one is this long; the finished one is packed with gzip."),
  };
  return fields;
}

}  // namespace portolan
