// HostNames: host, pay-level domain, public suffix and top-level domain of a URL, for tables.
//
// Neighbouring lines of a log often have the same host, and a look-up in the public suffix list takes about a
// microsecond, so recent hosts are kept.
//
// Thread: one owner. Memory bound: kKept hosts with their names, some 100 bytes each.

#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "url/domain.h"

namespace portolan {

class HostNames {
 public:
  struct Names {
    std::string host;    // "www.ku.ac.th:8080": with the port, where it is not the scheme's own
    std::string domain;  // "ku.ac.th"; an address is its own
    std::string suffix;  // "ac.th"; "(address)" or "(none)"
    std::string top;     // "th"; likewise
  };

  static Result<HostNames> Create();

  // Valid until the next call. nullptr: the URL has no host.
  const Names* Of(std::string_view url);

 private:
  static constexpr size_t kKept = size_t{1} << 16;

  explicit HostNames(PublicSuffixes suffixes) : suffixes_(std::move(suffixes)) {}

  PublicSuffixes suffixes_;
  std::unordered_map<std::string, Names> kept_;  // by scheme and authority
  std::string key_;
};

// ".jpg" of a URL's last path segment, in lower case; "(none)" where there is no dot or no plausible extension.
std::string ExtensionOf(std::string_view url);

// "Apache" of "Apache/2.4.62 (Debian)": the product without its version, at most 64 bytes; "(unknown)" if empty.
std::string ServerProduct(std::string_view server);

}  // namespace portolan
