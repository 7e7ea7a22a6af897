#include "url/link.h"

#include <algorithm>

#include "url/bad_port.h"
#include "url/code_points.h"
#include "url/fast_path.h"
#include "url/parser.h"

namespace portolan {
namespace {

using namespace url_internal;

// Whether the text names a scheme that is neither http nor https. Tabs and line ends count for nothing, as in parsing.
bool NamesOtherScheme(std::string_view text) {
  text = TrimControls(text);
  if (text.empty() || !IsAlpha(static_cast<uint8_t>(text[0]))) return false;
  char name[6] = {};
  size_t size = 0;
  for (const char c : text) {
    if (Is(c, kTabOrNewline)) continue;
    if (c == ':') {
      const std::string_view scheme(name, std::min(size, sizeof name));
      return scheme != "http" && scheme != "https";
    }
    if (!Is(c, kSchemeByte)) return false;
    if (size < sizeof name) name[size] = static_cast<char>(Lower(static_cast<uint8_t>(c)));
    ++size;
  }
  return false;
}

// FitsDns without looking at each label, for the names that nearly all are.
bool QuicklyFitsDns(std::string_view host) {
  if (host.size() > 63 || host.empty()) return false;
  char before = '.';
  for (const char c : host) {
    if (c == '.' && before == '.') return false;
    before = c;
  }
  return true;
}

LinkOutcome Resolve(std::string_view text, const Url* base, const LinkOptions& options, Link& link) {
  Url& url = link.url;
  const bool with_fragment = !options.rules.Has(CanonicalRule::kDropFragment);
  link.status = UrlStatus::kOk;
  if (!UrlFastPath::Resolve(text, base, with_fragment, url)) [[unlikely]] {
    if (NamesOtherScheme(text)) return LinkOutcome::kOtherScheme;
    link.status = UrlParser(url, base, options.query_encoder).Run(text, with_fragment);
    if (link.status != UrlStatus::kOk) return LinkOutcome::kInvalid;
  }
  if (!Canonicalize(url, options.rules)) return LinkOutcome::kOtherScheme;
  if (url.size() > options.max_length) return LinkOutcome::kTooLong;
  const std::string_view host = url.hostname();
  if (!QuicklyFitsDns(host) && url.host_kind() == HostKind::kDomain && !FitsDns(host)) {
    return LinkOutcome::kHostNotInDns;
  }
  if (url.port() != Url::kNoPort && IsBadPort(url.port())) [[unlikely]]
    return LinkOutcome::kBadPort;
  link.hash = options.key.Hash(url.href());
  link.host_hash = options.key.Hash(host);
  return LinkOutcome::kCrawlable;
}

}  // namespace

std::string_view LinkOutcomeName(LinkOutcome outcome) {
  switch (outcome) {
    case LinkOutcome::kCrawlable:
      return "crawlable";
    case LinkOutcome::kOtherScheme:
      return "other-scheme";
    case LinkOutcome::kInvalid:
      return "invalid";
    case LinkOutcome::kTooLong:
      return "too-long";
    case LinkOutcome::kHostNotInDns:
      return "host-not-in-dns";
    case LinkOutcome::kBadPort:
      return "bad-port";
  }
  return "unknown";
}

LinkOutcome ResolveLink(std::string_view href, const Url& base, const LinkOptions& options, Link& link) {
  return Resolve(href, &base, options, link);
}

LinkOutcome ResolveAbsolute(std::string_view text, const LinkOptions& options, Link& link) {
  return Resolve(text, nullptr, options, link);
}

bool FitsDns(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.size() > 253) return false;
  size_t label = 0;
  for (size_t i = 0; i <= host.size(); ++i) {
    if (i < host.size() && host[i] != '.') continue;
    if (i == label || i - label > 63) return false;
    label = i + 1;
  }
  return true;
}

}  // namespace portolan
