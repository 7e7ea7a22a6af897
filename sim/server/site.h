// Site: what the server serves. The world is one (world_site.h); tests have their own.
//
// Thread: called from every thread of the server at once.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sim/world/answer.h"

namespace portolan::sim {

// An answer whose body may be shared with others, so that large bodies that are sent again are not copied.
struct SharedAnswer {
  Answer answer;
  std::shared_ptr<const std::string> body;  // if set: the body, and answer.body is empty. Only without a WireFault.
};

class Site {
 public:
  virtual ~Site() = default;
  virtual Answer Respond(const Request& request) const = 0;
  // What the server calls.
  virtual SharedAnswer RespondShared(const Request& request) const { return {Respond(request), nullptr}; }
  virtual DnsAnswer Resolve(std::string_view name) const = 0;          // lower case, no dot at the end
  virtual Certificate CertificateOf(std::string_view name) const = 0;  // the name of SNI
};

}  // namespace portolan::sim
