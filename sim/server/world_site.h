// WorldSite: the world as the site that a server acts out.

#pragma once

#include <string_view>

#include "sim/server/site.h"
#include "sim/world/world.h"

namespace portolan::sim {

class WorldSite : public Site {
 public:
  // REQUIRES: `world` outlives it.
  explicit WorldSite(const World& world) : world_(world) {}

  Answer Respond(const Request& request) const override { return world_.Respond(request); }
  DnsAnswer Resolve(std::string_view name) const override { return world_.Resolve(name); }
  Certificate CertificateOf(std::string_view name) const override { return world_.CertificateOf(name); }

 private:
  const World& world_;
};

}  // namespace portolan::sim
