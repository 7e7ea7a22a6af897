// Links of real pages, one core: parse, resolve against the page's URL, canonicalise, hash. Beside it libcurl's URL
// API, which parses and resolves after RFC 3986 with some of the browsers' leniency, and is then hashed in the same
// way.
//
// Every answer is first compared with the expected one of the data set: all of ours must agree, and the rival's share
// is reported. Bases are parsed when they change, as a crawler does once per page, and that time is counted.

#include <curl/curl.h>
#include <zlib.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/units.h"
#include "bench/benchmark.h"
#include "io/clock.h"
#include "url/domain.h"
#include "url/link.h"
#include "url/parser.h"
#include "url/url.h"

namespace portolan::bench {
namespace {

constexpr char kFile[] = "../shared/data/urls/href_resolution.jsonl.gz";

struct Row {
  size_t base;  // index into Links::bases
  std::string href;
  std::string expected;  // empty: no URL
};

struct Links {
  std::vector<std::string> bases;
  std::vector<Row> rows;
};

Result<Links> ReadLinks() {
  gzFile file = gzopen(kFile, "rb");
  if (file == nullptr) return Fail(ErrorCode::kNotFound, std::string(kFile) + ": the links are not there");
  std::string text;
  std::vector<char> block(1 << 16);
  for (int got = 0; (got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0;) {
    text.append(block.data(), static_cast<size_t>(got));
  }
  gzclose(file);
  Links links;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const auto row = nlohmann::json::parse(text.begin() + static_cast<long>(at), text.begin() + static_cast<long>(end));
    at = end + 1;
    const auto base = row[0].get<std::string>();
    if (links.bases.empty() || links.bases.back() != base) links.bases.push_back(base);
    links.rows.push_back({links.bases.size() - 1, row[1].get<std::string>(),
                          row[2].is_null() ? std::string() : row[2].get<std::string>()});
  }
  if (links.rows.empty()) return Fail(ErrorCode::kCorrupt, std::string(kFile) + ": no links");
  return links;
}

// Calls `resolve(row, base)` for every row, with `set_base(text)` before it whenever the base changes.
template <typename SetBase, typename Resolve>
void ForEachRow(const Links& links, SetBase set_base, Resolve resolve) {
  size_t base = static_cast<size_t>(-1);
  for (const Row& row : links.rows) {
    if (row.base != base) {
      base = row.base;
      set_base(links.bases[base]);
    }
    resolve(row);
  }
}

// Links a second, the best of seven rounds over all rows.
template <typename SetBase, typename Resolve>
double LinksPerSecond(const Links& links, SetBase set_base, Resolve resolve) {
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    const int64_t start = Clock::Real().NowNs();
    ForEachRow(links, set_base, resolve);
    best = std::min(best, static_cast<double>(Clock::Real().NowNs() - start) * 1e-9);
  }
  return static_cast<double>(links.rows.size()) / best;
}

// The rival: a handle with the base is copied, the link set on top of it, the result taken out without its fragment.
class Curl {
 public:
  Curl() : base_(curl_url()) {}
  ~Curl() { curl_url_cleanup(base_); }
  Curl(const Curl&) = delete;
  Curl& operator=(const Curl&) = delete;

  void SetBase(const std::string& text) {
    curl_url_cleanup(base_);
    base_ = curl_url();
    curl_url_set(base_, CURLUPART_URL, text.c_str(), kFlags);
  }
  // Calls `use` with the URL; nothing where there is none.
  template <typename Use>
  void Resolve(const std::string& href, bool with_fragment, Use use) {
    CURLU* url = curl_url_dup(base_);
    char* text = nullptr;
    if (curl_url_set(url, CURLUPART_URL, href.c_str(), kFlags) == CURLUE_OK) {
      if (!with_fragment) curl_url_set(url, CURLUPART_FRAGMENT, nullptr, 0);
      if (curl_url_get(url, CURLUPART_URL, &text, CURLU_NO_DEFAULT_PORT) == CURLUE_OK) use(std::string_view(text));
    }
    curl_free(text);
    curl_url_cleanup(url);
  }

 private:
  static constexpr unsigned kFlags = CURLU_NON_SUPPORT_SCHEME | CURLU_URLENCODE | CURLU_ALLOW_SPACE;
  CURLU* base_;
};

// The rows on which Node 20, whose answers these are, departs from the standard: a relative link that holds a '#' but
// does not begin with one, on a base with an opaque path.
bool NodeDeparts(const Row& row, const Url& base) {
  return base.has_opaque_path() && !row.href.starts_with('#') && row.href.find('#') != std::string::npos;
}

Status CheckOurs(const Links& links) {
  Url base;
  Link link;
  size_t wrong = 0;
  std::string example;
  ForEachRow(
      links, [&](const std::string& text) { base.Assign(text); },
      [&](const Row& row) {
        Url url;
        const bool ok = url.Assign(row.href, &base) == UrlStatus::kOk;
        if (ok != !row.expected.empty() || url.href() != row.expected) {
          if (!ok && NodeDeparts(row, base)) return;
          ++wrong;
          example = row.href;
        }
        if (!ok || ResolveLink(row.href, base, {}, link) != LinkOutcome::kCrawlable) return;
        Canonicalize(url, CanonicalRules::Default());
        if (link.hash != Hash64(url.href())) {
          ++wrong;
          example = row.href;
        }
      });
  if (wrong > 0)
    return Fail(ErrorCode::kCorrupt, fmt::format("{} links resolve wrongly, one of them '{}'", wrong, example));
  return {};
}

double CurlAgreement(const Links& links) {
  Curl curl;
  size_t same = 0;
  ForEachRow(
      links, [&](const std::string& text) { curl.SetBase(text); },
      [&](const Row& row) {
        bool any = false;
        curl.Resolve(row.href, true, [&](std::string_view text) {
          any = true;
          same += text == row.expected;
        });
        same += !any && row.expected.empty();
      });
  return static_cast<double>(same) / static_cast<double>(links.rows.size());
}

double OurRate(const Links& links, const LinkOptions& options, uint64_t& sink) {
  Url base;
  Link link;
  return LinksPerSecond(
      links, [&](const std::string& text) { base.Assign(text); },
      [&](const Row& row) {
        if (ResolveLink(row.href, base, options, link) == LinkOutcome::kCrawlable) sink ^= link.hash + link.host_hash;
      });
}

double StateMachineRate(const Links& links, uint64_t& sink) {
  Url base;
  Url url;
  return LinksPerSecond(
      links, [&](const std::string& text) { base.Assign(text); },
      [&](const Row& row) {
        if (UrlParser(url, &base).Run(row.href, false) != UrlStatus::kOk) return;
        if (Canonicalize(url, CanonicalRules::Default())) sink ^= Hash64(url.href()) + Hash64(url.hostname());
      });
}

double CurlRate(const Links& links, uint64_t& sink) {
  Curl curl;
  return LinksPerSecond(
      links, [&](const std::string& text) { curl.SetBase(text); },
      [&](const Row& row) { curl.Resolve(row.href, false, [&](std::string_view text) { sink ^= Hash64(text); }); });
}

Result<double> DomainRate(const Links& links, uint64_t& sink) {
  ASSIGN_OR_RETURN(const auto suffixes, PublicSuffixes::Builtin());
  std::vector<Url> urls;
  for (const Row& row : links.rows) {
    if (auto url = Url::Parse(row.expected); url && url->is_http() && urls.size() < 50'000) urls.push_back(*url);
  }
  const int64_t start = Clock::Real().NowNs();
  for (const Url& url : urls) sink ^= suffixes.PayLevelDomain(url).size();
  return static_cast<double>(urls.size()) / (static_cast<double>(Clock::Real().NowNs() - start) * 1e-9);
}

Result<nlohmann::ordered_json> RunUrlBench(int, char**, Report& report) {
  ASSIGN_OR_RETURN(const Links links, ReadLinks());
  RETURN_IF_ERROR(CheckOurs(links));
  const double agreement = CurlAgreement(links);
  if (agreement < 0.9)
    return Fail(ErrorCode::kCorrupt, fmt::format("libcurl agrees on only {:.1f} %", agreement * 100));

  uint64_t sink = 0;
  LinkOptions all;
  all.rules = CanonicalRules::All();
  const double ours = OurRate(links, {}, sink);
  const double every_rule = OurRate(links, all, sink);
  const double state_machine = StateMachineRate(links, sink);
  const double curl = CurlRate(links, sink);
  ASSIGN_OR_RETURN(const double domains, DomainRate(links, sink));

  report.Line("{} links on {} pages: parse, resolve, canonicalise, hash", links.rows.size(), links.bases.size());
  report.Line("{:<34} {:>12}  {}", "portolan", FormatRate(ours), "all as expected");
  report.Line("{:<34} {:>12}", "portolan, every canonical rule", FormatRate(every_rule));
  report.Line("{:<34} {:>12}", "portolan without its fast path", FormatRate(state_machine));
  report.Line("{:<34} {:>12}  {:.1f} % as expected", "libcurl's URL API", FormatRate(curl), agreement * 100);
  report.Line("{:<34} {:>12}", "pay-level domains (libpsl)", FormatRate(domains));
  return nlohmann::ordered_json{{"links", links.rows.size()},
                                {"urls_per_s", ours},
                                {"every_rule_urls_per_s", every_rule},
                                {"state_machine_urls_per_s", state_machine},
                                {"rival", "libcurl"},
                                {"rival_urls_per_s", curl},
                                {"rival_agreement", agreement},
                                {"pay_level_domains_per_s", domains},
                                {"checksum", sink}};
}

}  // namespace

PORTOLAN_BENCHMARK("url", "links per second: parse, resolve, canonicalise, hash; beside libcurl", RunUrlBench);

}  // namespace portolan::bench
