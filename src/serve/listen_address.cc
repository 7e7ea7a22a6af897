#include "serve/listen_address.h"

#include <fmt/core.h>

#include <charconv>

#include "base/text.h"
#include "flow/address.h"

namespace portolan {

Result<ListenAddress> ListenAddress::Parse(std::string_view text) {
  const std::string shown = Printable(text.substr(0, 200));
  const size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  uint16_t port = 0;
  const std::string_view digits = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size() || host.empty() ||
      (!bracketed && host.find(':') != std::string_view::npos)) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}' is not an address with a port: write 127.0.0.1:8080 or [::1]:8080", shown));
  }
  if (host == "localhost") return ListenAddress{"127.0.0.1", port};
  const auto address = Address::Parse(host);
  if (!address || bracketed != address->v6) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': write the address as a number, as in 127.0.0.1:8080", shown));
  }
  const std::string name = address->ToString();
  if (address->v6 ? name != "::1" : address->bytes[0] != 127) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("'{}': the server has no access control, so it listens only where nobody but this machine "
                            "reaches it: use 127.0.0.1 or [::1], and a proxy with access control in front",
                            shown));
  }
  return ListenAddress{name, port};
}

std::string ListenAddress::UrlHost() const {
  return host.find(':') == std::string::npos ? host : fmt::format("[{}]", host);
}

}  // namespace portolan
