#include "url/host.h"

#include <string>

#include "url/code_points.h"
#include "url/idna.h"
#include "url/ip_address.h"
#include "url/percent.h"

namespace portolan::url_internal {
namespace {

bool HasByteOf(std::string_view text, uint16_t classes) {
  for (const char c : text) {
    if (Is(c, classes)) return true;
  }
  return false;
}

bool IsAscii(std::string_view text) {
  uint8_t all = 0;
  for (const char c : text) all |= static_cast<uint8_t>(c);
  return all < 0x80;
}

// Steps 7 to 11 of the host parser, for what "domain to ASCII" made.
UrlStatus AppendAsciiDomain(std::string_view domain, TextBuffer& out, HostKind& kind) {
  if (HasByteOf(domain, kForbiddenDomain)) return UrlStatus::kHostForbidden;
  if (EndsInNumber(domain)) {
    const auto address = ParseIpv4(domain);
    if (!address) return UrlStatus::kHostIpv4;
    AppendIpv4(*address, out);
    kind = HostKind::kIpv4;
    return UrlStatus::kOk;
  }
  kind = HostKind::kDomain;
  char* to = out.Reserve(domain.size());
  for (const char c : domain) *to++ = static_cast<char>(Lower(static_cast<uint8_t>(c)));
  out.SetSize(out.size() + domain.size());
  return UrlStatus::kOk;
}

}  // namespace

UrlStatus AppendHost(std::string_view text, bool opaque, TextBuffer& out, HostKind& kind) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']') || text.size() < 2) return UrlStatus::kHostIpv6;
    const auto address = ParseIpv6(text.substr(1, text.size() - 2));
    if (!address) return UrlStatus::kHostIpv6;
    AppendIpv6(*address, out);
    kind = HostKind::kIpv6;
    return UrlStatus::kOk;
  }
  if (opaque) {
    if (HasByteOf(text, kForbiddenHost)) return UrlStatus::kHostForbidden;
    AppendEncoded(text, kInC0Set, out);
    kind = HostKind::kOpaque;
    return UrlStatus::kOk;
  }
  std::string decoded;
  if (text.find('%') != std::string_view::npos) {
    AppendDecoded(text, decoded);
    text = decoded;
  }
  if (IsAscii(text)) return AppendAsciiDomain(text, out, kind);
  if (text.size() > Url::kMaxIdnaHost) return UrlStatus::kTooLong;
  std::string ascii;
  // The standard's "domain to ASCII" also fails on an empty result (a host of nothing but soft hyphens).
  if (!DomainToAscii(text, ascii) || ascii.empty()) return UrlStatus::kHostIdna;
  return AppendAsciiDomain(ascii, out, kind);
}

}  // namespace portolan::url_internal
