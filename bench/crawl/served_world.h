// ServedWorld: the simulated web in a process and on a core of its own, with a log of what was done to it.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/crawl/child.h"
#include "sim/oracle/account.h"
#include "sim/oracle/rules.h"
#include "sim/server/sim_server.h"
#include "sim/world/world.h"

namespace portolan::bench {

struct WorldChoice {
  std::string profile = "web2007";
  std::vector<std::string> set;  // key=value
  uint64_t seed = 1;
  uint64_t cache_bytes = uint64_t{64} << 20;
  bool real_ports = false;  // 53, 80, 443
};

// What the server writes; an empty name: nothing.
struct ServedFiles {
  std::string log;  // of what is done to it
  std::string ca;   // the certificate that clients have to trust, as PEM; it is there when Start returns
};

class ServedWorld {
 public:
  static Result<std::unique_ptr<ServedWorld>> Start(const WorldChoice& choice, const ServedFiles& files, int core);

  const sim::World& world() const { return *world_; }
  uint16_t http_port() const { return http_port_; }
  uint16_t dns_port() const { return dns_port_; }
  double CpuSeconds() const;  // of the server so far

  // Ends the server; the log is whole then. Gives its CPU seconds.
  Result<double> Stop();
  // After Stop.
  Result<sim::Account> Judge(const sim::Rules& rules) const;

 private:
  std::string log_;
  std::unique_ptr<sim::World> world_;
  uint16_t http_port_ = 0;
  uint16_t dns_port_ = 0;
  std::unique_ptr<Child> child_;
};

}  // namespace portolan::bench
