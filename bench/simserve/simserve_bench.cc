// The simulated web's server against nginx: pages per second on one core, over new connections and over kept ones.
//
// A simulated web that is slower than a crawler would be measured instead of it. The server makes up each page of
// `web2007` when it is asked for; nginx (one worker, sendfile, no access log) sends a file of the same mean size from
// the page cache. All run on one core, wrk on another, in turn; the medians of the rounds count. Every server is asked
// with the same kind of script: a list of requests made beforehand. "fresh" is the server without its cache of pages,
// as a crawl that asks for each page once meets it. CPU time a page is given too, since it is less disturbed by what
// else the machine does.

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/units.h"
#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"
#include "io/clock.h"
#include "io/rng.h"
#include "sim/server/server_fixture.h"
#include "sim/server/sim_server.h"
#include "sim/server/world_site.h"
#include "sim/world/world.h"

namespace portolan::bench {
namespace {

struct Flags {
  std::string profile = "web2007";
  uint64_t pages = 2000;
  double seconds = 3;
  size_t rounds = 5;
  size_t connections = 32;
  int server_core = 0;
  int client_core = 1;
  uint64_t cache_bytes = uint64_t{64} << 20;
};

struct PageUrl {
  std::string host;
  std::string path;
};

Result<std::string> Output(const std::string& command) {
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return Fail(ErrorCode::kIo, "popen: " + command);
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t count; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    text.append(buffer.data(), count);
  if (::pclose(pipe) != 0) return Fail(ErrorCode::kIo, command + ": " + text);
  return text;
}

// CPU time of a process and its children's threads, user and system, from /proc. -1 when it is not there.
double CpuSeconds(const std::string& stat_file) {
  std::ifstream file(stat_file);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return -1;
  std::istringstream fields(text.substr(name_end + 2));
  std::string field;
  double ticks = 0;
  for (int i = 3; i <= 15 && fields >> field; ++i) {
    if (i >= 14) ticks += std::stod(field);
  }
  return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

class Nginx {
 public:
  static Result<std::unique_ptr<Nginx>> Start(const std::string& dir, uint64_t file_bytes, int core) {
    // A free port: bound, asked for, and given back.
    uint16_t port = 0;
    {
      ASSIGN_OR_RETURN(const auto bound, sim::BindLoopback({.addresses = {"127.0.0.1"}}, 0, true, false));
      port = bound.port;
    }
    std::ofstream(dir + "/page.html") << std::string(file_bytes, 'x');
    std::ofstream(dir + "/nginx.conf") << fmt::format(
        "worker_processes 1;\ndaemon off;\nmaster_process off;\npid {0}/pid;\nerror_log {0}/error.log;\n"
        "events {{ worker_connections 4096; }}\n"
        "http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests 100000000;\n"
        "  types {{ text/html html; }}\n  client_body_temp_path {0}/t1; proxy_temp_path {0}/t2;\n"
        "  fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;\n"
        "  server {{ listen 127.0.0.1:{1} backlog=4096; root {0}; }}\n}}\n",
        dir, port);
    auto nginx = std::unique_ptr<Nginx>(new Nginx(port));
    nginx->pid_ = ::fork();
    if (nginx->pid_ < 0) return std::unexpected(Error::FromErrno(errno, "fork"));
    if (nginx->pid_ == 0) {
      const std::string cores = std::to_string(core);
      const std::string conf = dir + "/nginx.conf";
      ::execlp("taskset", "taskset", "-c", cores.c_str(), "nginx", "-p", dir.c_str(), "-e",
               (dir + "/error.log").c_str(), "-c", conf.c_str(), nullptr);
      ::_exit(127);
    }
    const int64_t start = Clock::Real().NowNs();
    while (!sim::RawClient("127.0.0.1", port).connected()) {
      if (Clock::Real().NowNs() - start > 10 * kSecond) return Fail(ErrorCode::kIo, "nginx does not start");
      std::this_thread::yield();
    }
    return nginx;
  }
  ~Nginx() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  uint16_t port() const { return port_; }
  double Cpu() const { return CpuSeconds(fmt::format("/proc/{}/stat", pid_)); }

 private:
  explicit Nginx(uint16_t port) : port_(port) {}
  const uint16_t port_;
  pid_t pid_ = -1;
};

std::string LuaString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// wrk asks for one after the other, each connection from the same list.
void WriteScript(const std::string& file, const std::vector<PageUrl>& urls, bool close) {
  std::ofstream out(file);
  out << "local urls = {\n";
  for (const PageUrl& url : urls) out << "{" << LuaString(url.host) << "," << LuaString(url.path) << "},\n";
  out << "}\nlocal requests = {}\nlocal at = 0\n"
      << "init = function(args)\n  for i, url in ipairs(urls) do\n"
      << "    requests[i] = wrk.format(\"GET\", url[2], {[\"Host\"] = url[1]"
      << (close ? ", [\"Connection\"] = \"close\"" : "") << "})\n  end\nend\n"
      << "request = function()\n  at = at % #requests + 1\n  return requests[at]\nend\n";
}

struct Measured {
  double per_s = 0;
  double cpu_us = 0;  // of the server, a page
};

Result<Measured> Drive(const Flags& flags, uint16_t port, const std::string& script,
                       const std::function<double()>& cpu) {
  const double before = cpu();
  ASSIGN_OR_RETURN(const std::string text,
                   Output(fmt::format("taskset -c {} wrk -t1 -c{} -d{}s --timeout 10s -s {} http://127.0.0.1:{}/ 2>&1",
                                      flags.client_core, flags.connections, flags.seconds, script, port)));
  const double used = cpu() - before;
  const auto number_after = [&](std::string_view words) {
    const size_t at = text.find(words);
    return at == std::string::npos ? -1.0 : std::strtod(text.c_str() + at + words.size(), nullptr);
  };
  Measured measured;
  measured.per_s = number_after("Requests/sec:");
  const size_t total_at = text.find(" requests in ");
  if (measured.per_s <= 0 || total_at == std::string::npos) return Fail(ErrorCode::kIo, "wrk says: " + text);
  if (text.find("Non-2xx") != std::string::npos) return Fail(ErrorCode::kCorrupt, "wrong answers: " + text);
  const size_t number_at = text.find_last_of(" \n", total_at - 1);
  measured.cpu_us = used * 1e6 / std::strtod(text.c_str() + number_at, nullptr);
  return measured;
}

std::set<std::string> Threads() {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) names.insert(entry.path());
  return names;
}

// The stat file of the thread that was not there before.
std::string NewThread(std::set<std::string>& before) {
  std::string found;
  for (const std::string& name : Threads()) {
    if (before.insert(name).second) found = name + "/stat";
  }
  return found;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// Pages that answer 200 at once, and the mean size of their bodies.
std::vector<PageUrl> PickPages(const sim::World& world, uint64_t count, double& mean_bytes) {
  Rng rng(1);
  std::vector<PageUrl> urls;
  double bytes = 0;
  for (uint64_t tries = 0; urls.size() < count && tries < count * 20; ++tries) {
    const sim::Place place = world.FromDense(rng.Below(world.TotalPages()));
    if (world.KindOf(place) != sim::PageKind::kNormal || world.HostIsTls(place.host)) continue;
    const std::string url = world.UrlOf(place);
    const size_t host_at = url.find("://") + 3;
    const size_t path_at = url.find('/', host_at);
    PageUrl page = {world.HostName(place.host), url.substr(path_at)};
    const sim::Answer answer =
        world.Respond({.host = page.host, .path_and_query = page.path, .unix_ns = Clock::Real().UnixNs()});
    if (answer.status != 200 || answer.fault != sim::WireFault::kNone || answer.cut_keep_alive || answer.http10)
      continue;
    bytes += static_cast<double>(answer.body.size());
    urls.push_back(std::move(page));
  }
  mean_bytes = urls.empty() ? 0 : bytes / static_cast<double>(urls.size());
  return urls;
}

std::string Dechunked(std::string_view body) {
  std::string out;
  for (;;) {
    const size_t line = body.find("\r\n");
    if (line == std::string_view::npos) return out;
    const size_t size = std::strtoul(std::string(body.substr(0, line)).c_str(), nullptr, 16);
    if (size == 0 || body.size() - line - 2 < size) return out;
    out += body.substr(line + 2, size);
    body.remove_prefix(line + 2 + size + 2);
  }
}

Status CheckAnswers(const sim::World& world, uint16_t port, const std::vector<PageUrl>& urls) {
  for (size_t i = 0; i < urls.size(); i += std::max<size_t>(1, urls.size() / 200)) {
    sim::RawClient client("127.0.0.1", port);
    client.Send("GET " + urls[i].path + " HTTP/1.1\r\nHost: " + urls[i].host + "\r\nConnection: close\r\n\r\n");
    const std::string all = client.Read();
    const size_t head = all.find("\r\n\r\n");
    const sim::Answer expected =
        world.Respond({.host = urls[i].host, .path_and_query = urls[i].path, .unix_ns = Clock::Real().UnixNs()});
    std::string body = head == std::string::npos ? "" : all.substr(head + 4);
    if (all.substr(0, head).find("chunked") != std::string::npos) body = Dechunked(body);
    if (!all.starts_with("HTTP/1.1 200 ") || body != expected.body) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}{}: not the world's answer", urls[i].host, urls[i].path));
    }
  }
  return {};
}

Result<nlohmann::ordered_json> RunSimserve(int argc, char** argv, Report& report) {
  Flags flags;
  CLI::App app("The simulated web's server against nginx, on one core");
  app.add_option("--profile", flags.profile, "The world");
  app.add_option("--pages", flags.pages, "Pages asked for in turn")->check(CLI::PositiveNumber);
  app.add_option("--seconds", flags.seconds, "A run");
  app.add_option("--rounds", flags.rounds, "Runs of each")->check(CLI::PositiveNumber);
  app.add_option("--connections", flags.connections, "Of wrk");
  app.add_option("--cache-bytes", flags.cache_bytes, "Memory for a cache of pages");
  app.add_option("--server-core", flags.server_core, "Core of the servers");
  app.add_option("--client-core", flags.client_core, "Core of wrk");
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (std::thread::hardware_concurrency() < 2) flags.client_core = flags.server_core;

  ASSIGN_OR_RETURN(const ScratchDir dir, ScratchDir::Create("simserve"));
  // The server's thread inherits the core of the thread that starts it.
  cpu_set_t all_cores;
  ::sched_getaffinity(0, sizeof all_cores, &all_cores);
  cpu_set_t one_core;
  CPU_ZERO(&one_core);
  CPU_SET(static_cast<size_t>(flags.server_core), &one_core);
  ::sched_setaffinity(0, sizeof one_core, &one_core);

  sim::SimServerOptions options;
  ASSIGN_OR_RETURN(sim::SimSockets sockets, sim::BindSimSockets(options));
  ASSIGN_OR_RETURN(sim::SimSockets fresh_sockets, sim::BindSimSockets(options));
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile(flags.profile));
  params.http_port = sockets.http.port;
  params.https_port = sockets.https.port;
  ASSIGN_OR_RETURN(const auto world, sim::World::Create(params, 1));
  const sim::WorldSite site(*world, flags.cache_bytes);
  const sim::WorldSite fresh_site(*world);
  std::set<std::string> threads = Threads();
  ASSIGN_OR_RETURN(const auto server, sim::SimServer::Start(options, std::move(sockets), site));
  const std::string server_stat = NewThread(threads);
  ASSIGN_OR_RETURN(const auto fresh, sim::SimServer::Start(options, std::move(fresh_sockets), fresh_site));
  const std::string fresh_stat = NewThread(threads);
  ::sched_setaffinity(0, sizeof all_cores, &all_cores);

  double mean_bytes = 0;
  const std::vector<PageUrl> urls = PickPages(*world, flags.pages, mean_bytes);
  if (urls.empty()) return Fail(ErrorCode::kInvalidArgument, "no page of this world answers 200 over HTTP");
  RETURN_IF_ERROR(CheckAnswers(*world, server->ports().http, urls));
  ASSIGN_OR_RETURN(const auto nginx, Nginx::Start(dir.path(), static_cast<uint64_t>(mean_bytes), flags.server_core));
  report.Line("{}: {} pages of {} on average; server on core {}, wrk on core {} with {} connections", flags.profile,
              urls.size(), FormatBytes(static_cast<uint64_t>(mean_bytes)), flags.server_core, flags.client_core,
              flags.connections);

  nlohmann::ordered_json figures = {{"profile", flags.profile}, {"pages", urls.size()},
                                    {"mean_bytes", mean_bytes}, {"cache_bytes", flags.cache_bytes},
                                    {"rounds", flags.rounds},   {"seconds", flags.seconds}};
  for (const bool close : {true, false}) {
    const std::string mode = close ? "close" : "keepalive";
    const std::string sim_script = dir.path() + "/sim.lua";
    const std::string nginx_script = dir.path() + "/nginx.lua";
    WriteScript(sim_script, urls, close);
    WriteScript(nginx_script, std::vector<PageUrl>(urls.size(), {"localhost", "/page.html"}), close);
    struct Rival {
      std::string name;
      uint16_t port;
      std::string script;
      std::function<double()> cpu;
      std::vector<double> rates = {};
      std::vector<double> cpu_us = {};
    };
    std::array rivals = {
        Rival{"sim", server->ports().http, sim_script, [&] { return CpuSeconds(server_stat); }},
        Rival{"fresh", fresh->ports().http, sim_script, [&] { return CpuSeconds(fresh_stat); }},
        Rival{"nginx", nginx->port(), nginx_script, [&] { return nginx->Cpu(); }},
    };
    for (size_t round = 0; round < flags.rounds; ++round) {
      for (Rival& rival : rivals) {
        ASSIGN_OR_RETURN(const Measured measured, Drive(flags, rival.port, rival.script, rival.cpu));
        rival.rates.push_back(measured.per_s);
        rival.cpu_us.push_back(measured.cpu_us);
      }
    }
    const double nginx_rate = Median(rivals.back().rates);
    for (const Rival& rival : rivals) {
      const double rate = Median(rival.rates);
      const double cpu_us = Median(rival.cpu_us);
      figures[rival.name + "_" + mode + "_per_s"] = rate;
      figures[rival.name + "_" + mode + "_cpu_us"] = cpu_us;
      figures[rival.name + "_" + mode + "_ratio"] = rate / nginx_rate;
      report.Line("{:<10} {:<6} {:>8.0f} pages/s  {:>6.1f} us CPU a page  {:.2f} of nginx", mode, rival.name, rate,
                  cpu_us, rate / nginx_rate);
    }
  }
  fresh->Stop();
  server->Stop();
  return figures;
}

PORTOLAN_BENCHMARK("simserve", "the simulated web's server: pages per second on one core, against nginx", RunSimserve);

}  // namespace
}  // namespace portolan::bench
