// ListenAddress: where the server listens: "127.0.0.1:8080", "[::1]:0", "localhost:8080".
//
// Only addresses of this machine that nobody else can reach (127.0.0.0/8, ::1): there is no access control yet.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace portolan {

struct ListenAddress {
  std::string host;   // "127.0.0.1", "::1"
  uint16_t port = 0;  // 0: any that is free

  // kInvalidArgument: it is no address with a port, or one that others can reach.
  static Result<ListenAddress> Parse(std::string_view text);
  // "127.0.0.1", "[::1]": as in a URL.
  std::string UrlHost() const;
};

}  // namespace portolan
