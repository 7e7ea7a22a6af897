#include "crawl/config_fields.h"

#include <fmt/core.h>

#include <chrono>
#include <concepts>
#include <type_traits>

#include "base/utf8.h"
#include "crawl/config_values.h"
#include "frontier/politeness.h"

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

// As it stands in a message: without the quotes of TOML.
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

// TOML holds nothing else: other bytes would make a crawl.toml that cannot be read again.
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

// The type of a setting's number: of "none" or that number, too.
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
      SETTING(crawl, profile, "Where the defaults come from: site (one's own or a few sites) or web (the open web)."),
      SETTING(crawl, seeds, "URLs to begin with, beside those on the command line."),
      SETTING(crawl, seed_list,
              "Where the seeds are too many for this file (more than 100): how many the crawl's state holds, and where "
              "they "
              "came from. Written by the crawl."),
      NUMBER(crawl, max_pages, 0, 1'000'000'000'000'000, "Stop after so many pages were fetched; 0 for no limit."),
      NUMBER(crawl, max_depth, 0, UINT16_MAX,
             "Follow links up to so many steps from a seed; 0: the seeds alone; \"none\": no limit."),
      NUMBER(crawl, max_bytes, ByteCount{}, kMostBytes, "Stop after so much was received; 0 for no limit."),
      NUMBER(crawl, max_time, seconds(0), kMostTime, "Stop after so long; 0 for no limit."),
      NUMBER(crawl, max_redirects, 0, 50, "Follow so many redirects one after the other."),
      SETTING(crawl, via,
              "Keep with each URL the page on which it was found first, for log/, WARC metadata and 'why'."),

      SETTING(scope, mode,
              "What a link must share with a seed: its registered domain, host, prefix, or any (nothing)."),
      SETTING(scope, include_domains, "Domains, with all below them, that are in scope whatever the mode says."),
      SETTING(scope, include_prefixes, "URL prefixes that are in scope whatever the mode says."),
      SETTING(scope, exclude_domains, "Domains, with all below them, that are never fetched."),
      SETTING(scope, exclude, "URL patterns that are never fetched; * is any run of characters, ? any one."),
      NUMBER(scope, max_url_length, 100, 32'000, "Leave out URLs of more bytes."),
      SETTING(scope, canonical, "Rules that make one URL of several spellings (docs/canonical.md)."),
      SETTING(scope, follow_nofollow, "Follow links and pages that say nofollow."),
      SETTING(scope, embeds, "Fetch images, scripts and style sheets that are in scope, too."),
      SETTING(scope, requisites,
              "Fetch what pages need to be shown, from any host: images, scripts, frames, style sheets and what those "
              "name (docs/requisites.md)."),
      SETTING(scope, sitemaps, "Follow the sitemaps that robots.txt names."),

      SETTING(politeness, user_agent,
              "Our product token (letters, - and _), to which version and contact are added; or the whole User-Agent "
              "field, "
              "free but for its beginning: see robots_token."),
      SETTING(politeness, robots_token,
              "The name that robots.txt has for us: letters, - and _. Empty: that at the beginning of user_agent."),
      SETTING(politeness, contact_url, "A page about this crawl, or a mailto: address; part of User-Agent."),
      SETTING(politeness, from, "The From header field: an address of a person; empty for none."),
      NUMBER(politeness, host_delay, seconds(0), kYear,
             "From the end of an answer to the next request to the same host."),
      NUMBER(politeness, ip_delay, seconds(0), kYear, "The same for an address, across its hosts."),
      NUMBER(politeness, host_delay_floor, seconds(0), kYear,
             "What a large budget may bring host_delay down to, in proportion; 0: budgets change nothing."),
      NUMBER(politeness, ip_delay_floor, seconds(0), kYear, "Likewise of ip_delay."),
      NUMBER(politeness, delay_factor, 0, 10'000,
             "And at least so many times as long as the last answer took. \"auto\": 10, or 0 where host_delay is 0."),
      NUMBER(politeness, min_delay, seconds(0), kYear, "The delay of a host is never below this ..."),
      NUMBER(politeness, max_delay, seconds(0), kYear, "... nor above this, Crawl-delay of robots.txt included."),
      SETTING(politeness, crawl_delay, "Obey Crawl-delay of robots.txt."),
      NUMBER(politeness, connections_per_host, 1, kMaxConnectionsPerHost,
             "Requests to one host, and to one address, at one time; more than 1 only for sites of one's own."),
      NUMBER(politeness, max_retry_after, seconds(0), kYear, "A Retry-After of more is taken as this."),
      NUMBER(politeness, max_back_off, seconds(0), kYear, "Where the doubling wait for an ill host stops."),
      NUMBER(politeness, give_up_after, 0, 1'000'000,
             "Give a host up that was ill so many times in a row; 0 for never."),
      SETTING(politeness, give_up_quickly,
              "When nothing is left but what failed before, try again after seconds, not minutes, and end."),
      NUMBER(politeness, robots_ttl, seconds(1), days(30), "Read robots.txt again after so long."),
      NUMBER(politeness, robots_retry, seconds(1), days(30),
             "Ask again after so long for a robots.txt that could not be had."),

      SETTING(budget, enabled, "Let domains that others link to have more of the crawl; URLs wait, none is dropped."),
      SETTING(budget, function,
              "Pages a domain may have at a time, by how many others link to it: ranked, popular, equal, proportional, "
              "inverse or table (docs/budgets.md)."),
      NUMBER(budget, vouch_base, 0, 1'000'000, "A domain's links count for so many others, and ...; 0 for no limit."),
      NUMBER(budget, vouch_percent, 0, 90, "... for so many hundredths of those that link to it."),
      NUMBER(budget, queues, 2, 1024, "Queues of domains that are over their budget, at most."),

      NUMBER(fetch, loops, 0, 256, "Threads that fetch; 0 for one less than there are processors."),
      NUMBER(fetch, connections, 1, 100'000, "Fetches under way at once, over all loops."),
      NUMBER(fetch, connect_timeout, milliseconds(10), hours(1), "For a connection, TLS included."),
      NUMBER(fetch, first_byte_timeout, milliseconds(10), hours(1),
             "From the request to the first byte of the answer."),
      NUMBER(fetch, total_timeout, milliseconds(10), days(1),
             "For all of a fetch; what came until then is kept, marked as cut."),
      NUMBER(fetch, lowest_speed, ByteCount{}, Gibi(1),
             "Cut an answer that is slower, in bytes a second; 0 for any speed."),
      NUMBER(fetch, speed_window, seconds(1), hours(1), "Over so long."),
      NUMBER(fetch, max_head, Kibi(1), Mebi(1), "Header bytes of an answer."),
      NUMBER(fetch, max_body, Kibi(1), Gibi(1), "Bytes of a body as received; more is cut, and marked."),
      NUMBER(fetch, max_decoded, Kibi(1), Gibi(1), "Bytes of a body after its content coding is removed."),
      SETTING(fetch, accept, "The Accept header field."),
      SETTING(fetch, accept_encoding, "The Accept-Encoding header field."),
      SETTING(fetch, accept_language, "The Accept-Language header field; empty for none."),
      SETTING(
          fetch, headers,
          "Header fields, \"Name: value\", for the seeds' registered domains only; not archived. Over plain HTTP only "
          "where a seed is plain HTTP."),
      SETTING(fetch, cookies, "Cookies, \"name=value\"; likewise."),
      SETTING(fetch, login,
              "\"NAME:PASSWORD\" for HTTP basic authentication, for the seeds' own hosts only; not archived. This file "
              "keeps it as it stands here."),
      SETTING(fetch, reuse_connections, "Keep connections open for the next request to a host."),
      NUMBER(fetch, idle_timeout, seconds(0), days(1), "Close a connection that nobody used for so long."),
      SETTING(fetch, http2, "HTTP/2 where the server offers it."),
      SETTING(fetch, addresses, "Which IP addresses: v4-first, v6-first, v4-only or v6-only."),
      SETTING(fetch, dns_servers,
              "Name servers to ask, \"192.0.2.1\", \"192.0.2.1:53\" or \"[2001:db8::1]:53\"; none for the system's."),
      NUMBER(fetch, dns_timeout, milliseconds(10), minutes(1),
             "For the first question to a name server; doubles with each try."),
      NUMBER(fetch, dns_tries, 1, 10, "Questions to each name server."),
      SETTING(fetch, allow_private_addresses, "Fetch from addresses that are not on the public internet."),
      SETTING(fetch, verify_tls, "Refuse servers whose certificate is not theirs."),
      SETTING(fetch, ca_file, "Certificates to trust, in PEM; empty for the system's."),
      SETTING(
          fetch, proxy,
          "\"http://host:port\", \"socks5h://host:port\": it resolves names; \"socks5://host:port\": we do; empty for "
          "none, whatever http_proxy says."),
      NUMBER(fetch, outage_hosts, 0, 64,
             "So many hosts that answered before must fail in a row for the network to be down; 0: it never is."),

      NUMBER(page, max_links, 1, 1'000'000, "Links taken from a page."),
      SETTING(page, similarity, "Take 64 bits of the text of each page by which near duplicates are known."),

      NUMBER(memory, total, Mebi(128), kMostBytes,
             "What the crawl may use in all. The default shrinks to three quarters of RAM or of the control group's "
             "memory.max; a value above all of it is refused."),

      SETTING(archive, enabled, "Keep what was fetched, as WARC."),
      SETTING(archive, prefix, "Names of WARC files begin with this. It stays the same for the life of a crawl."),
      SETTING(archive, directories, "Where WARC files go, one writing thread each; below the crawl's directory."),
      NUMBER(archive, file_size, Mebi(1), Gibi(1 << 10), "Begin a new WARC file when one is this long."),
      NUMBER(archive, level, 1, 12, "Of compression: 1 is the fastest, 12 the smallest."),
      SETTING(archive, robots, "Keep robots.txt files too."),
      SETTING(archive, metadata, "A record beside each answer: where its URL was found, times, counts, title."),
      SETTING(archive, honour_noarchive, "Do not keep pages that say noarchive."),
      SETTING(archive, operator_name, "Who runs this crawl; for the first record of each WARC file."),
      SETTING(archive, description, "What this crawl is; likewise."),

      SETTING(outputs, links,
              "Write the link log, links/: who links to whom, with anchor text. 'portolan links' reads it."),
      SETTING(outputs, text, "Write the text log, text/: title, headings and visible text of each page."),
      NUMBER(outputs, file_size, Kibi(64), Gibi(1 << 10), "Begin a new file of these two when one is this long."),

      NUMBER(checkpoint, interval, seconds(1), days(1),
             "What was done since the last checkpoint is done again after a crash."),

      SETTING(log, level, "What to say: debug, info, warn, error or off."),
      SETTING(log, format, "How to say it: human, or json for one object a line."),
      SETTING(log, fetches, "One line a fetch in log/."),
      NUMBER(log, file_size, Kibi(64), Gibi(1 << 10),
             "Begin a new file of these when one is this long; the finished one is packed with gzip."),
  };
  return fields;
}

}  // namespace portolan
