#include "bench/crawl/served_world.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "io/env.h"
#include "sim/hits/hit_log_writer.h"
#include "sim/oracle/judge_log.h"
#include "sim/server/world_site.h"
#include "sim/world/params.h"

namespace portolan::bench {
namespace {

Result<sim::WorldParams> ParamsOf(const WorldChoice& choice) {
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile(choice.profile));
  for (const std::string& pair : choice.set) RETURN_IF_ERROR(sim::SetParam(params, pair));
  return params;
}

}  // namespace

Result<std::unique_ptr<ServedWorld>> ServedWorld::Start(const WorldChoice& choice, const ServedFiles& files, int core) {
  ASSIGN_OR_RETURN(sim::WorldParams params, ParamsOf(choice));
  sim::SimServerOptions options;
  if (choice.real_ports) {
    options.dns_port = 53;
    options.http_port = 80;
    options.https_port = 443;
  }
  ASSIGN_OR_RETURN(sim::SimSockets sockets, sim::BindSimSockets(options));
  auto served = std::make_unique<ServedWorld>();
  served->log_ = files.log;
  served->http_port_ = sockets.http.port;
  served->dns_port_ = sockets.dns.port;
  // The default ports do not show in URLs.
  params.http_port = choice.real_ports ? 0 : sockets.http.port;
  params.https_port = choice.real_ports ? 0 : sockets.https.port;
  ASSIGN_OR_RETURN(served->world_, sim::World::Create(params, choice.seed));
  const sim::World& world = *served->world_;
  ASSIGN_OR_RETURN(served->child_, Child::Start(core, [&](const Child::Parent& parent) -> Result<Child::Json> {
                     const sim::WorldSite site(world, choice.cache_bytes);
                     std::unique_ptr<sim::HitLogWriter> hits;
                     if (!files.log.empty()) {
                       const sim::HitLogHeader header = {
                           .profile = choice.profile, .seed = choice.seed, .parameters = sim::DescribeParams(params)};
                       ASSIGN_OR_RETURN(hits, sim::HitLogWriter::Create(Env::Posix(), files.log, header));
                       options.hits = hits.get();
                     }
                     ASSIGN_OR_RETURN(const auto server, sim::SimServer::Start(options, std::move(sockets), site));
                     if (!files.ca.empty()) {
                       RETURN_IF_ERROR(ReplaceFile(Env::Posix(), files.ca, server->ca_pem()));
                     }
                     parent.say_ready();
                     parent.wait_end();
                     server->Stop();
                     if (hits) RETURN_IF_ERROR(hits->Close());
                     return Child::Json::object();
                   }));
  return served;
}

double ServedWorld::CpuSeconds() const {
  std::ifstream file(fmt::format("/proc/{}/stat", child_->pid()));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 2));
  std::string field;
  double ticks = 0;
  for (int i = 3; i <= 15 && fields >> field; ++i) {
    if (i >= 14) ticks += std::stod(field);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

Result<double> ServedWorld::Stop() {
  ASSIGN_OR_RETURN(const ChildEnd end, child_->Wait());
  return end.cpu_seconds;
}

Result<sim::Account> ServedWorld::Judge(const sim::Rules& rules) const {
  return sim::JudgeHitLog(Env::Posix(), log_, *world_, rules);
}

}  // namespace portolan::bench
