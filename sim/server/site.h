// Site: what the server acts out. The world is one (world_site.h); tests bring their own.
//
// Thread: called from every thread of the server at once.

#pragma once

#include <string_view>

#include "sim/world/answer.h"

namespace portolan::sim {

class Site {
 public:
  virtual ~Site() = default;
  virtual Answer Respond(const Request& request) const = 0;
  virtual DnsAnswer Resolve(std::string_view name) const = 0;          // lower case, no dot at the end
  virtual Certificate CertificateOf(std::string_view name) const = 0;  // the name of SNI
};

}  // namespace portolan::sim
