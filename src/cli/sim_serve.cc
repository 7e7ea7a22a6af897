// portolan sim serve: the simulated web on loopback until it is stopped.

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "cli/cli.h"
#include "cli/sim.h"
#include "cli/verb_app.h"
#include "io/clock.h"
#include "io/env.h"
#include "sim/hits/hit_log_writer.h"
#include "sim/server/sim_server.h"
#include "sim/server/world_site.h"
#include "sim/world/params.h"
#include "sim/world/world.h"

namespace portolan {
namespace {

struct ServeFlags {
  std::string profile = "small";
  uint64_t seed = 1;
  std::string log;
  std::vector<std::string> set;
  std::string params;
  bool privileged = false;
  uint16_t dns_port = 0;
  uint16_t http_port = 0;
  uint16_t https_port = 0;
  std::string ca;
  uint64_t seeds = 1;
  std::string seeds_file;
  size_t threads = 1;
  double max_seconds = 0;
  bool no_http2 = false;
  std::string cache = "64M";
};

Result<sim::WorldParams> ParamsOf(const ServeFlags& flags) {
  std::string toml;
  if (!flags.params.empty()) {
    ASSIGN_OR_RETURN(toml, ReadWholeFile(Env::Posix(), flags.params));
  }
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile(flags.profile, toml));
  for (const std::string& pair : flags.set) RETURN_IF_ERROR(sim::SetParam(params, pair));
  return params;
}

// Each connection needs a descriptor: raises the limit as far as the system allows.
void RaiseServerDescriptorLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
}

// The addresses of the world, for systems that do not allow serving all of 127.0.0.0/8 at once.
std::vector<std::string> AddressesOf(const sim::WorldParams& params) {
  constexpr uint64_t kMost = 1000;  // sockets
  std::vector<std::string> addresses = {"127.0.0.1", "::1"};
  for (uint64_t i = 0; i < std::min(params.addresses + params.shared_addresses, kMost); ++i) {
    const uint64_t a = params.address_first + i;
    addresses.push_back(fmt::format("{}.{}.{}.{}", a >> 24 & 255, a >> 16 & 255, a >> 8 & 255, a & 255));
  }
  return addresses;
}

// SIGINT and SIGTERM as something to wait for; blocked in every thread that is made later.
Result<sim::OwnedFd> CatchSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  if (::pthread_sigmask(SIG_BLOCK, &signals, nullptr) != 0) {
    return std::unexpected(Error::FromErrno(errno, "pthread_sigmask"));
  }
  sim::OwnedFd fd(::signalfd(-1, &signals, SFD_CLOEXEC));
  if (!fd) return std::unexpected(Error::FromErrno(errno, "signalfd"));
  return fd;
}

// True when a signal came, false when the time is up.
bool WaitForEnd(const sim::OwnedFd& signals, double max_seconds) {
  const int64_t start = Clock::Real().NowNs();
  for (;;) {
    int wait_ms = -1;
    if (max_seconds > 0) {
      const double left = max_seconds - static_cast<double>(Clock::Real().NowNs() - start) / 1e9;
      if (left <= 0) return false;
      wait_ms = static_cast<int>(std::min(left * 1000 + 1, 1e9));
    }
    pollfd waits = {signals.get(), POLLIN, 0};
    if (::poll(&waits, 1, wait_ms) > 0) return true;
  }
}

// The start URLs go to the requested place, and the ready line to standard output. If the URLs go to standard output,
// the ready line goes to standard error, and standard output is closed after the URLs, so that a crawl at the other end
// of the pipe can begin.
Status TellReady(const ServeFlags& flags, const std::string& ready, const std::vector<std::string>& seeds) {
  const bool piped = flags.seeds_file == "-";
  if (!flags.seeds_file.empty()) {
    std::string lines;
    for (const std::string& url : seeds) lines += url + "\n";
    if (!piped) {
      RETURN_IF_ERROR(ReplaceFile(Env::Posix(), flags.seeds_file, lines));
    } else {
      fmt::print("{}", lines);
      // The reader has all of them now. The descriptor stays in use, so that no socket can become standard output.
      if (std::freopen("/dev/null", "w", stdout) == nullptr)
        return std::unexpected(Error::FromErrno(errno, "/dev/null"));
    }
  }
  std::FILE* to = piped ? stderr : stdout;
  fmt::print(to, "{}\n", ready);
  std::fflush(to);
  return {};
}

Status Serve(const ServeFlags& flags) {
  ASSIGN_OR_RETURN(const sim::OwnedFd signals, CatchSignals());
  RaiseServerDescriptorLimit();
  ASSIGN_OR_RETURN(sim::WorldParams params, ParamsOf(flags));
  sim::SimServerOptions options;
  options.threads = flags.threads;
  options.http2 = !flags.no_http2;
  options.dns_port = flags.dns_port;
  options.http_port = flags.http_port;
  options.https_port = flags.https_port;
  options.bind.fallback = AddressesOf(params);
  if (flags.privileged) {
    options.dns_port = 53;
    options.http_port = 80;
    options.https_port = 443;
  }
  ASSIGN_OR_RETURN(sim::SimSockets sockets, sim::BindSimSockets(options));
  // Default ports are not written in URLs.
  params.http_port = sockets.http.port == 80 ? 0 : sockets.http.port;
  params.https_port = sockets.https.port == 443 ? 0 : sockets.https.port;
  ASSIGN_OR_RETURN(const auto world, sim::World::Create(params, flags.seed));
  ASSIGN_OR_RETURN(const uint64_t cache_bytes, ParseBytes(flags.cache));
  const sim::WorldSite site(*world, cache_bytes);
  std::unique_ptr<sim::HitLogWriter> log;
  if (!flags.log.empty()) {
    const sim::HitLogHeader header = {
        .profile = flags.profile, .seed = flags.seed, .parameters = sim::DescribeParams(params)};
    ASSIGN_OR_RETURN(log, sim::HitLogWriter::Create(Env::Posix(), flags.log, header));
    options.hits = log.get();
  }
  ASSIGN_OR_RETURN(const auto server, sim::SimServer::Start(options, std::move(sockets), site));
  if (!flags.ca.empty()) {
    RETURN_IF_ERROR(ReplaceFile(Env::Posix(), flags.ca, server->ca_pem()));
  }
  const std::vector<std::string> seeds = world->Seeds(flags.seeds);
  const sim::SimPorts ports = server->ports();
  const nlohmann::ordered_json ready = {{"ready", true},
                                        {"dns_port", ports.dns},
                                        {"http_port", ports.http},
                                        {"https_port", ports.https},
                                        {"ipv6", ports.v6},
                                        {"ca", flags.ca},
                                        {"profile", flags.profile},
                                        {"seed", flags.seed},
                                        {"pages", world->TotalPages()},
                                        {"seeds", seeds}};
  RETURN_IF_ERROR(TellReady(flags, ready.dump(), seeds));
  fmt::print(stderr,
             "serving '{}' (seed {}, {} domains, {} pages) on 127.0.0.0/8{}: DNS port {}, HTTP {}, HTTPS {}; "
             "Ctrl-C ends it\n",
             flags.profile, flags.seed, world->Domains(), world->TotalPages(), ports.v6 ? " and ::1" : "", ports.dns,
             ports.http, ports.https);
  WaitForEnd(signals, flags.max_seconds);
  server->Stop();
  fmt::print(stderr, "done: {} connections served\n", server->stats().connections);
  return log != nullptr ? log->Close() : Status();
}

}  // namespace

int RunSimServe(int argc, char** argv) {
  VerbApp app("sim serve",
              "Serves a simulated web on this machine's loopback addresses, reachable from nowhere else. When ready\n"
              "it prints one line of JSON: the ports, the CA to trust and the URLs to start from.");
  ServeFlags flags;
  std::string profiles;
  for (const std::string& name : sim::ProfileNames()) profiles += (profiles.empty() ? "" : ", ") + name;
  app->add_option("--profile", flags.profile, "Which world: " + profiles + " (default small)")->type_name("NAME");
  app->add_option("--seed", flags.seed, "A different world of the same kind (default 1)")->type_name("N");
  app->add_option("--set", flags.set, "Overrides a parameter of the profile; may be repeated")->type_name("KEY=VALUE");
  app->add_option("--params", flags.params, "More profiles, as a TOML file")->type_name("FILE");
  app->add_option("--log", flags.log, "Write every request, connection and DNS question here")->type_name("FILE");
  app->add_option("--ca", flags.ca, "Write the CA's certificate here, as PEM")->type_name("FILE");
  app->add_option("--seeds", flags.seeds, "Number of start pages in the ready line (default 1)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app->add_option(
         "--seeds-file", flags.seeds_file,
         "Write the start pages here, too, one URL per line, for 'portolan crawl --seeds'; -: standard output,\n"
         "which is closed after them; the ready line then goes to standard error")
      ->type_name("FILE");
  auto* privileged = app->add_flag("--privileged", flags.privileged, "The real ports 53, 80 and 443");
  for (const auto& [name, port] : {std::pair{"--dns-port", &flags.dns_port}, std::pair{"--http-port", &flags.http_port},
                                   std::pair{"--https-port", &flags.https_port}}) {
    app->add_option(name, *port, "Use this port (default: a free one)")->type_name("N")->excludes(privileged);
  }
  app->add_option("--threads", flags.threads, "Threads that serve (default 1)")->type_name("N");
  app->add_option("--cache", flags.cache, "Memory for a cache of pages (default 64M; 0: none)")
      ->type_name("SIZE")
      ->check(Checked(ParseBytes, "SIZE"));
  app->add_option("--max-seconds", flags.max_seconds, "End after this time")->type_name("S");
  app->add_flag("--no-http2", flags.no_http2, "HTTPS is HTTP/1.1 only");
  app.Footer(
      "Examples:\n"
      "  portolan sim serve --profile small\n"
      "  portolan sim serve --profile evil --seed 7 --log hits.tsv --ca ca.pem\n"
      "  portolan sim serve --profile demo --seeds 200 --seeds-file seeds.txt\n"
      "  portolan sim serve --profile web2007 --set pages=5000 --set https=1 --threads 2");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const Status status = Serve(flags);
  return status ? kExitOk : Complain(status.error());
}

}  // namespace portolan
