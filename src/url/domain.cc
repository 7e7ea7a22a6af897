#include "url/domain.h"

#include <libpsl.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace portolan {
namespace {

constexpr size_t kLongestName = 253;  // bytes; the DNS has no longer ones

}  // namespace

void PublicSuffixes::Free::operator()(psl_ctx_st* psl) const { psl_free(psl); }

Result<PublicSuffixes> PublicSuffixes::Builtin() {
  // psl_free knows the built-in list and leaves it alone.
  const psl_ctx_t* psl = psl_builtin();
  if (psl == nullptr) return Fail(ErrorCode::kNotFound, "libpsl was built without a public suffix list");
  return PublicSuffixes(const_cast<psl_ctx_t*>(psl));
}

Result<PublicSuffixes> PublicSuffixes::FromText(std::string_view list) {
  if (list.empty()) return Fail(ErrorCode::kInvalidArgument, "the public suffix list is empty");
  FILE* file = fmemopen(const_cast<char*>(list.data()), list.size(), "r");
  if (file == nullptr) return Fail(ErrorCode::kIo, "public suffix list: no memory stream");
  psl_ctx_t* psl = psl_load_fp(file);
  std::fclose(file);
  if (psl == nullptr) return Fail(ErrorCode::kInvalidArgument, "the public suffix list cannot be read");
  PublicSuffixes suffixes(psl);
  if (psl_suffix_count(psl) <= 0) return Fail(ErrorCode::kInvalidArgument, "the public suffix list has no suffix");
  return suffixes;
}

bool PublicSuffixes::IsPublicSuffix(std::string_view host, SuffixChoice choice) const {
  char name[kLongestName + 1];
  if (host.empty() || host.size() > kLongestName) return false;
  name[host.copy(name, kLongestName)] = 0;
  return psl_is_public_suffix2(psl_.get(), name, choice == SuffixChoice::kIcann ? PSL_TYPE_ICANN : PSL_TYPE_ANY) != 0;
}

std::string_view PublicSuffixes::RegistrableDomain(std::string_view host, SuffixChoice choice) const {
  const std::string_view suffix = PublicSuffix(host, choice);
  if (host.ends_with('.')) host.remove_suffix(1);
  if (suffix.empty() || suffix.size() == host.size()) return {};
  const size_t dot = host.size() - suffix.size() - 1;
  const size_t before = host.rfind('.', dot - 1);
  const std::string_view domain = before == std::string_view::npos ? host : host.substr(before + 1);
  return std::all_of(domain.begin(), domain.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; })
             ? domain
             : std::string_view();
}

std::string_view PublicSuffixes::PublicSuffix(std::string_view host, SuffixChoice choice) const {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.size() > kLongestName || host.front() == '.') return {};
  if (host.find("..") != std::string_view::npos) return {};
  // libpsl wants names that end in 0, and every suffix of this one does.
  char buffer[2 + kLongestName + 1] = {'0', '.'};
  char* const name = buffer + 2;
  name[host.copy(name, kLongestName)] = 0;
  const int type = choice == SuffixChoice::kIcann ? PSL_TYPE_ICANN : PSL_TYPE_ANY;
  // From the whole name towards its last label: the first suffix met is the longest. An exception to a wildcard rule
  // ("!city.kawasaki.jp") makes a name not a suffix; libpsl handles that.
  const auto is_suffix = [&](const char* text) { return psl_is_public_suffix2(psl_.get(), text, type) != 0; };
  for (size_t at = 0;;) {
    const size_t dot = host.find('.', at);
    if (dot == std::string_view::npos) return host.substr(at);  // the rule for what has no rule is "*"
    // libpsl also takes "sch.uk" for a suffix because of "*.sch.uk". The list's algorithm does not: there it is a
    // domain under "uk". No list has both a name and its wildcard, so a label put before the name tells them apart.
    if (is_suffix(name + at) && !(at == 0 && is_suffix(buffer))) return host.substr(at);
    at = dot + 1;
  }
}

std::string_view PublicSuffixes::PayLevelDomain(const Url& url, SuffixChoice choice) const {
  std::string_view host = url.hostname();
  if (url.host_kind() != HostKind::kDomain) return host;
  const std::string_view domain = RegistrableDomain(host, choice);
  if (!domain.empty()) return domain;
  if (host.size() > 1 && host.ends_with('.')) host.remove_suffix(1);
  return host;
}

}  // namespace portolan
