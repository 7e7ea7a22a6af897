#include "bench/crawl/rivals.h"

#include <fmt/core.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "io/clock.h"
#include "io/env.h"
#include "io/rng.h"
#include "sim/hits/hit_log_reader.h"
#include "sim/oracle/judge_log.h"

namespace portolan::bench {
namespace {

constexpr int kWrkConnections = 64;

std::string LuaString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// wrk counts what it did when it is done; the script's `done` puts it into a file.
void WriteWrkScript(const sim::World& world, uint64_t pages, const std::string& script, const std::string& result) {
  Rng rng(1);
  std::ofstream out(script);
  out << "local urls = {\n";
  uint64_t found = 0;
  for (uint64_t tries = 0; found < pages && tries < pages * 20; ++tries) {
    const sim::Place place = world.FromDense(rng.Below(world.TotalPages()));
    if (world.KindOf(place) != sim::PageKind::kNormal || world.HostIsTls(place.host)) continue;
    const std::string url = world.UrlOf(place);
    const std::string path = url.substr(url.find('/', url.find("://") + 3));
    out << "{" << LuaString(world.HostName(place.host)) << "," << LuaString(path) << "},\n";
    ++found;
  }
  out << "}\nlocal requests = {}\nlocal at = 0\n"
         "init = function(args)\n  for i, url in ipairs(urls) do\n"
         "    requests[i] = wrk.format(\"GET\", url[2], {[\"Host\"] = url[1], [\"Connection\"] = \"close\"})\n"
         "  end\nend\n"
         "request = function()\n  at = at % #requests + 1\n  return requests[at]\nend\n"
         "done = function(summary, latency, requests)\n"
         "  local file = io.open("
      << LuaString(result)
      << ", \"w\")\n"
         "  file:write(summary.requests, \" \", summary.duration, \" \", summary.errors.status)\n"
         "  file:close()\nend\n";
}

class PageCount : public sim::HitSink {
 public:
  void OnHit(const sim::Hit& hit) override {
    if (hit.status / 100 == 2 && hit.path_and_query != "/robots.txt") ++pages;
    if (first_ns == 0) first_ns = hit.unix_ns;
    last_ns = hit.end_ns;
  }
  void OnOpen(int64_t, uint64_t, std::string_view, uint16_t) override {}
  void OnClose(int64_t, uint64_t) override {}
  void OnDns(int64_t, std::string_view, std::string_view, int) override {}

  uint64_t pages = 0;
  int64_t first_ns = 0;
  int64_t last_ns = 0;
};

Error Refused(std::string_view what) {
  return {ErrorCode::kUnsupported, fmt::format("{}: {}", what, std::strerror(errno))};
}

// This process from now on has a network with nothing but loopback, and its own files for name lookups.
Status EnterNamespaces(const std::string& dir) {
  const uid_t uid = ::getuid();
  const gid_t gid = ::getgid();
  if (uid != 0) {
    if (::unshare(CLONE_NEWUSER) != 0) return std::unexpected(Refused("user namespace"));
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
    std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
  }
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) return std::unexpected(Refused("network and mount namespaces"));
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return std::unexpected(Refused("mounts"));
  const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  const bool up = ::ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  ::close(socket);
  if (!up) return std::unexpected(Refused("loopback"));
  std::ofstream(dir + "/resolv.conf") << "nameserver 127.0.0.1\noptions timeout:1 attempts:2\n";
  std::ofstream(dir + "/nsswitch.conf") << "hosts: dns\n";
  for (const std::string name : {"resolv.conf", "nsswitch.conf"}) {
    const std::string from = JoinPath(dir, name);
    if (::mount(from.c_str(), ("/etc/" + name).c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return std::unexpected(Refused("/etc/" + name));
    }
  }
  return {};
}

}  // namespace

Result<WrkFigures> RunWrk(const ServedWorld& served, uint64_t pages, double seconds, int core, const std::string& dir) {
  const std::string script = dir + "/wrk.lua";
  const std::string result = dir + "/wrk.txt";
  WriteWrkScript(served.world(), pages, script, result);
  const double server_before = served.CpuSeconds();
  ASSIGN_OR_RETURN(const ProgramEnd end, RunProgram(core,
                                                    {"wrk", "-t1", fmt::format("-c{}", kWrkConnections),
                                                     fmt::format("-d{:.0f}s", seconds), "--timeout", "10s", "-s",
                                                     script, fmt::format("http://127.0.0.1:{}/", served.http_port())},
                                                    dir, seconds + 20));
  const double server = served.CpuSeconds() - server_before;
  std::ifstream file(result);
  double requests = 0;
  double micros = 0;
  uint64_t wrong = 0;
  if (!(file >> requests >> micros >> wrong) || requests == 0) return Fail(ErrorCode::kIo, "wrk tells nothing");
  if (wrong > 0) return Fail(ErrorCode::kCorrupt, fmt::format("wrk: {} answers were no 2xx or 3xx", wrong));
  return WrkFigures{requests / micros * 1e6, requests / end.cpu_seconds, server * 1e6 / requests};
}

Result<Wget2Figures> RunWget2(const WorldChoice& choice, uint32_t threads, double seconds, int server_core,
                              int client_core, const std::string& dir) {
  ASSIGN_OR_RETURN(const auto child, Child::Start(-1, [&](const Child::Parent& parent) -> Result<Child::Json> {
                     parent.say_ready();
                     const auto skipped = [](const Error& error) { return Child::Json{{"skipped", error.message()}}; };
                     if (const Status status = EnterNamespaces(dir); !status) return skipped(status.error());
                     WorldChoice real = choice;
                     real.real_ports = true;
                     const std::string log = dir + "/wget2.tsv";
                     const std::string ca = dir + "/wget2.pem";
                     const std::string into = dir + "/wget2";
                     RETURN_IF_ERROR(Env::Posix().CreateDirs(into));
                     ASSIGN_OR_RETURN(const auto served, ServedWorld::Start(real, {.log = log, .ca = ca}, server_core));
                     std::vector<std::string> words = {"wget2",
                                                       "--quiet",
                                                       "--recursive",
                                                       "--level=inf",
                                                       "--span-hosts",
                                                       "--robots=on",
                                                       "--no-hsts",
                                                       "--no-cookies",
                                                       "--tries=1",
                                                       "--timeout=10",
                                                       "--ca-certificate=" + ca,
                                                       fmt::format("--max-threads={}", threads)};
                     // The same beginning as the crawler's.
                     for (const std::string& url : served->world().Seeds(100)) words.push_back(url);
                     const auto end = RunProgram(client_core, words, into, seconds);
                     if (!end) return skipped(end.error());
                     ASSIGN_OR_RETURN(const double server_cpu, served->Stop());
                     ASSIGN_OR_RETURN(const auto reader, sim::HitLogReader::Open(Env::Posix(), log));
                     PageCount count;
                     RETURN_IF_ERROR(sim::ReadHits(*reader, count));
                     return Child::Json{{"pages", count.pages},
                                        {"seconds", end->seconds},
                                        {"cpu_seconds", end->cpu_seconds},
                                        {"server_cpu_seconds", server_cpu}};
                   }));
  ASSIGN_OR_RETURN(const ChildEnd end, child->Wait());
  if (end.value.contains("skipped")) return Fail(ErrorCode::kUnsupported, end.value["skipped"].get<std::string>());
  Wget2Figures figures;
  figures.pages = end.value["pages"];
  const auto pages = static_cast<double>(figures.pages);
  figures.per_s = pages / end.value["seconds"].get<double>();
  figures.per_cpu_s = pages / end.value["cpu_seconds"].get<double>();
  return figures;
}

}  // namespace portolan::bench
