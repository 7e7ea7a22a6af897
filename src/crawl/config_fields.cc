#include "crawl/config_fields.h"

#include "crawl/config_values.h"

namespace portolan {
namespace {

template <typename Access>
ConfigField Field(std::string_view section, std::string_view key, std::string_view comment, Access access) {
  return {section, key, comment,
          [access](Config& config, const toml::node& node) { return ReadSetting(node, access(config)); },
          [access](const Config& config) { return PrintSetting(access(config)); }};
}

// The key is the member's name.
#define SETTING(section, key, comment) \
  Field(#section, #key, comment, [](auto& config) -> auto& { return config.section.key; })

}  // namespace

const std::vector<ConfigField>& ConfigFields() {
  static const std::vector<ConfigField> fields = {
      SETTING(crawl, profile, "Where the defaults come from: site (one's own or a few sites) or web (the open web)."),
      SETTING(crawl, seeds, "URLs to begin with, beside those on the command line."),
      SETTING(crawl, max_pages, "Stop after so many pages were fetched; 0 for no limit."),
      SETTING(crawl, max_depth, "Follow links up to so many steps from a seed; 0 for no limit."),
      SETTING(crawl, max_bytes, "Stop after so much was received; 0 for no limit."),
      SETTING(crawl, max_time, "Stop after so long; 0 for no limit."),
      SETTING(crawl, max_redirects, "Follow so many redirects one after the other."),

      SETTING(scope, mode,
              "What a link must share with a seed: its registered domain, host, prefix, or any (nothing)."),
      SETTING(scope, include_domains, "Domains, with all below them, that are in scope whatever the mode says."),
      SETTING(scope, include_prefixes, "URL prefixes that are in scope whatever the mode says."),
      SETTING(scope, exclude_domains, "Domains, with all below them, that are never fetched."),
      SETTING(scope, exclude, "URL patterns that are never fetched; * is any run of characters, ? any one."),
      SETTING(scope, max_url_length, "Leave out URLs of more bytes."),
      SETTING(scope, canonical, "Rules that make one URL of several spellings (docs/canonical.md)."),
      SETTING(scope, follow_nofollow, "Follow links and pages that say nofollow."),
      SETTING(scope, embeds, "Fetch images, scripts and style sheets that are in scope, too."),
      SETTING(scope, requisites,
              "Fetch what pages need to be shown, from any host: images, scripts, frames, style sheets and what those "
              "name (docs/requisites.md)."),
      SETTING(scope, sitemaps, "Follow the sitemaps that robots.txt names."),

      SETTING(politeness, user_agent, "Our product token, in User-Agent and for robots.txt: letters, - and _ only."),
      SETTING(politeness, contact_url, "A page about this crawl, or a mailto: address; part of User-Agent."),
      SETTING(politeness, from, "The From header field: an address of a person; empty for none."),
      SETTING(politeness, host_delay, "From the end of an answer to the next request to the same host."),
      SETTING(politeness, ip_delay, "The same for an address, across its hosts."),
      SETTING(politeness, host_delay_floor,
              "What a large budget may bring host_delay down to, in proportion; 0: budgets change nothing."),
      SETTING(politeness, ip_delay_floor, "Likewise of ip_delay."),
      SETTING(politeness, delay_factor, "And at least so many times as long as the last answer took."),
      SETTING(politeness, min_delay, "The delay of a host is never below this ..."),
      SETTING(politeness, max_delay, "... nor above this, Crawl-delay of robots.txt included."),
      SETTING(politeness, crawl_delay, "Obey Crawl-delay of robots.txt."),
      SETTING(politeness, connections_per_host,
              "Requests to one host, and to one address, at one time; more than 1 only for sites of one's own."),
      SETTING(politeness, max_retry_after, "A Retry-After of more is taken as this."),
      SETTING(politeness, max_back_off, "Where the doubling wait for an ill host stops."),
      SETTING(politeness, give_up_after, "Give a host up that was ill so many times in a row; 0 for never."),
      SETTING(politeness, robots_ttl, "Read robots.txt again after so long."),
      SETTING(politeness, robots_retry, "Ask again after so long for a robots.txt that could not be had."),

      SETTING(budget, enabled, "Let domains that others link to have more of the crawl; URLs wait, none is dropped."),
      SETTING(budget, function,
              "Pages a domain may have at a time, by how many others link to it: ranked, popular, equal, proportional, "
              "inverse or table (docs/budgets.md)."),
      SETTING(budget, vouch_base, "A domain's links count for so many others, and ...; 0 for no limit."),
      SETTING(budget, vouch_percent, "... for so many hundredths of those that link to it."),
      SETTING(budget, queues, "Queues of domains that are over their budget, at most."),

      SETTING(fetch, loops, "Threads that fetch; 0 for one less than there are processors."),
      SETTING(fetch, connections, "Fetches under way at once, over all loops."),
      SETTING(fetch, connect_timeout, "For a connection, TLS included."),
      SETTING(fetch, first_byte_timeout, "From the request to the first byte of the answer."),
      SETTING(fetch, total_timeout, "For all of a fetch; what came until then is kept, marked as cut."),
      SETTING(fetch, lowest_speed, "Cut an answer that is slower, in bytes a second; 0 for any speed."),
      SETTING(fetch, speed_window, "Over so long."),
      SETTING(fetch, max_head, "Header bytes of an answer."),
      SETTING(fetch, max_body, "Bytes of a body as received; more is cut, and marked."),
      SETTING(fetch, max_decoded, "Bytes of a body after its content coding is removed."),
      SETTING(fetch, accept, "The Accept header field."),
      SETTING(fetch, accept_encoding, "The Accept-Encoding header field."),
      SETTING(fetch, reuse_connections, "Keep connections open for the next request to a host."),
      SETTING(fetch, idle_timeout, "Close a connection that nobody used for so long."),
      SETTING(fetch, http2, "HTTP/2 where the server offers it."),
      SETTING(fetch, addresses, "Which IP addresses: v4-first, v6-first, v4-only or v6-only."),
      SETTING(fetch, dns_servers, "Name servers to ask, \"192.0.2.1\" or \"192.0.2.1:53\"; none for the system's."),
      SETTING(fetch, dns_timeout, "For the first question to a name server; doubles with each try."),
      SETTING(fetch, dns_tries, "Questions to each name server."),
      SETTING(fetch, allow_private_addresses, "Fetch from addresses that are not on the public internet."),
      SETTING(fetch, verify_tls, "Refuse servers whose certificate is not theirs."),
      SETTING(fetch, ca_file, "Certificates to trust, in PEM; empty for the system's."),
      SETTING(fetch, proxy, "\"http://host:port\", \"socks5h://host:port\"; empty for none."),
      SETTING(fetch, outage_hosts,
              "So many hosts that answered before must fail in a row for the network to be down; 0: it never is."),

      SETTING(page, max_links, "Links taken from a page."),
      SETTING(page, similarity, "Take 64 bits of the text of each page by which near duplicates are known."),

      SETTING(memory, total,
              "What the crawl may use in all. The default shrinks to three quarters of RAM or of the control group's "
              "memory.max; a value above all of it is refused."),

      SETTING(archive, enabled, "Keep what was fetched, as WARC."),
      SETTING(archive, prefix, "Names of WARC files begin with this. It stays the same for the life of a crawl."),
      SETTING(archive, directories, "Where WARC files go, one writing thread each; below the crawl's directory."),
      SETTING(archive, file_size, "Begin a new WARC file when one is this long."),
      SETTING(archive, level, "Of compression: 1 is the fastest, 12 the smallest."),
      SETTING(archive, robots, "Keep robots.txt files too."),
      SETTING(archive, metadata, "A record with times and counts beside each answer."),
      SETTING(archive, honour_noarchive, "Do not keep pages that say noarchive."),
      SETTING(archive, operator_name, "Who runs this crawl; for the first record of each WARC file."),
      SETTING(archive, description, "What this crawl is; likewise."),

      SETTING(checkpoint, interval, "What was done since the last checkpoint is done again after a crash."),

      SETTING(log, level, "What to say: debug, info, warn, error or off."),
      SETTING(log, format, "How to say it: human, or json for one object a line."),
      SETTING(log, fetches, "One line a fetch in log/."),
      SETTING(log, file_size, "Begin a new file of these when one is this long."),
  };
  return fields;
}

}  // namespace portolan
