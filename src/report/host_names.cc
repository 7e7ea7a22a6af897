#include "report/host_names.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/ascii.h"
#include "url/url.h"

namespace portolan {
namespace {

bool IsLetterOrDigit(char c) { return IsDigit(c) || IsAlpha(c); }

}  // namespace

Result<HostNames> HostNames::Create() {
  ASSIGN_OR_RETURN(PublicSuffixes suffixes, PublicSuffixes::Builtin());
  return HostNames(std::move(suffixes));
}

const HostNames::Names* HostNames::Of(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return nullptr;
  const size_t end = std::min(url.find_first_of("/?#", scheme + 3), url.size());
  key_.assign(url.substr(0, end));
  if (const auto known = kept_.find(key_); known != kept_.end()) return &known->second;
  const auto parsed = Url::Parse(key_);
  if (!parsed || parsed->hostname().empty()) return nullptr;
  const std::string_view host = parsed->hostname();
  Names names;
  names.host = parsed->port() == Url::kNoPort ? std::string(host) : fmt::format("{}:{}", host, parsed->port());
  names.domain = suffixes_.PayLevelDomain(*parsed);
  const bool address = parsed->host_kind() == HostKind::kIpv4 || parsed->host_kind() == HostKind::kIpv6;
  names.suffix = address ? "(address)" : std::string(suffixes_.PublicSuffix(host, SuffixChoice::kIcann));
  if (names.suffix.empty()) names.suffix = "(none)";
  names.top = address ? "(address)" : std::string(host.substr(host.rfind('.') + 1));
  if (names.top.empty()) names.top = "(none)";
  if (kept_.size() >= kKept) kept_.clear();
  return &kept_.emplace(key_, std::move(names)).first->second;
}

std::string ExtensionOf(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("?#"));
  const size_t slash = url.rfind('/');
  if (slash == std::string_view::npos) return "(none)";
  url.remove_prefix(slash + 1);
  const size_t dot = url.rfind('.');
  if (dot == std::string_view::npos || dot + 1 == url.size() || url.size() - dot > 9) return "(none)";
  std::string extension(url.substr(dot));
  for (char& c : extension) c = AsciiLower(c);
  const bool plausible = std::all_of(extension.begin() + 1, extension.end(), IsLetterOrDigit) &&
                         std::any_of(extension.begin() + 1, extension.end(), IsAlpha);
  return plausible ? extension : "(none)";
}

std::string ServerProduct(std::string_view server) {
  const size_t begin = server.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "(unknown)";
  server.remove_prefix(begin);
  server = server.substr(0, std::min<size_t>(server.find_first_of(" /;(,\t"), 64));
  return server.empty() ? "(unknown)" : std::string(server);
}

}  // namespace portolan
