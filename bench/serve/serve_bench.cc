// Look-ups in a link graph over HTTP on loopback, one by one over a kept connection and in batches, beside direct calls
// in this process.
//
// A made graph: pages of 1,000 hosts that link to ten others, half of them of their own host, each with an anchor text.
// Asked are random pages, in both directions, ten links each. Before it is timed, what the server says is compared with
// what the direct calls give. The server runs in this process on a thread of its own; the client waits for each answer.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "bench/benchmark.h"
#include "bench/flags.h"
#include "bench/scratch_dir.h"
#include "flow/output_records.h"
#include "follow/graph_build.h"
#include "follow/graph_look.h"
#include "io/clock.h"
#include "io/env.h"
#include "outputs/outputs.h"
#include "serve/graph_room.h"
#include "serve/http_server.h"

namespace portolan::bench {
namespace {

constexpr uint64_t kHosts = 1000;
constexpr uint64_t kLinksPerPage = 10;
constexpr size_t kBatch = 1000;

std::string PageUrl(uint64_t page) {
  return fmt::format("https://www.host{}.example/articles/{}/page-{}.html", page % kHosts, page % 17, page);
}

Status MakeGraph(const std::string& dir, uint64_t pages) {
  Env& env = Env::Posix();
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, dir + "/state"));
  OutputsOptions options;
  options.links.files = {.dir = dir + "/links", .names = {}, .file_size = 256 << 20};
  options.links.enabled = true;
  options.threads = false;
  ASSIGN_OR_RETURN(const auto outputs, Outputs::Open(env, Clock::Real(), manifest, options));
  std::mt19937_64 random(1);
  for (uint64_t page = 0; page < pages; ++page) {
    PageResult result;
    result.outcome = FetchOutcome::kAnswered;
    result.status = 200;
    OutputItem item{.output = OutputId::kLinks, .records = {}};
    const std::string url = PageUrl(page);
    AppendLinkPage(item.records, url, 1);
    for (uint64_t link = 0; link < kLinksPerPage; ++link) {
      uint64_t target = random() % pages;
      if (link % 2 == 0) target = std::min(target / kHosts * kHosts + page % kHosts, pages - 1);
      AppendLink(item.records, PageUrl(target), 0, fmt::format("read more about {}", target % 100));
    }
    result.outputs.push_back(std::move(item));
    outputs->Write(result, {.url = url});
  }
  RETURN_IF_ERROR(manifest.Commit(outputs->Checkpointables()));
  ASSIGN_OR_RETURN(const auto built,
                   BuildGraph(env, LinkLogSource(dir + "/state", dir + "/links"), dir + "/graph", {}));
  return built.built ? Status() : Fail(ErrorCode::kCorrupt, "the graph was not built");
}

// A client of one connection.
class Client {
 public:
  static Result<std::unique_ptr<Client>> Connect(uint16_t port) {
    auto client = std::make_unique<Client>();
    client->fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (client->fd_ < 0 || ::connect(client->fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
      return std::unexpected(Error::FromErrno(errno, "connect"));
    }
    const int yes = 1;
    ::setsockopt(client->fd_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    client->host_ = fmt::format("localhost:{}", port);
    return client;
  }
  ~Client() {
    if (fd_ >= 0) ::close(fd_);
  }

  // The body of the answer.
  Result<std::string> Ask(std::string_view target, const std::string* body) {
    std::string request =
        fmt::format("{} {} HTTP/1.1\r\nHost: {}\r\n", body == nullptr ? "GET" : "POST", target, host_);
    if (body != nullptr) {
      request += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body->size());
    }
    request += "\r\n";
    if (body != nullptr) request += *body;
    for (std::string_view rest = request; !rest.empty();) {
      const ssize_t sent = ::send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent <= 0) return std::unexpected(Error::FromErrno(errno, "send"));
      rest.remove_prefix(static_cast<size_t>(sent));
    }
    std::string answer;
    size_t whole = std::string::npos;
    size_t head = 0;
    char piece[1 << 16];
    while (whole == std::string::npos || answer.size() < whole) {
      const ssize_t got = ::recv(fd_, piece, sizeof(piece), 0);
      if (got <= 0) return std::unexpected(Error::FromErrno(got == 0 ? ECONNRESET : errno, "receive"));
      answer.append(piece, static_cast<size_t>(got));
      if (whole != std::string::npos) continue;
      const size_t end = answer.find("\r\n\r\n");
      if (end == std::string::npos) continue;
      head = end + 4;
      constexpr std::string_view kLength = "Content-Length: ";
      const size_t field = answer.find(kLength);
      size_t length = 0;
      if (field > end) return Fail(ErrorCode::kCorrupt, "an answer has no length");
      std::from_chars(answer.data() + field + kLength.size(), answer.data() + end, length);
      whole = head + length;
    }
    if (!answer.starts_with("HTTP/1.1 200 ")) return Fail(ErrorCode::kCorrupt, answer.substr(0, 500));
    return answer.substr(head);
  }

 private:
  int fd_ = -1;
  std::string host_;
};

std::string TargetOf(GraphDirection direction, const std::string* url) {
  std::string target = direction == GraphDirection::kForward ? "/graph/out?limit=10" : "/graph/in?limit=10";
  // These URLs have no byte that must be encoded.
  return url == nullptr ? target : target + "&url=" + *url;
}

Result<std::vector<std::string>> Direct(GraphLook& look, const std::string& url) {
  std::vector<std::string> links;
  ASSIGN_OR_RETURN(const GraphLook::Found found, look.Find(url));
  const auto node = found.node;
  if (!node) return Fail(ErrorCode::kNotFound, url);
  ASSIGN_OR_RETURN([[maybe_unused]] const uint64_t total, look.Each(*node, 0, 10, [&](const GraphLook::Link& link) {
    links.push_back(link.name + " " + std::string(link.anchor));
    return true;
  }));
  return links;
}

std::vector<std::string> LinksOf(const nlohmann::json& answer) {
  std::vector<std::string> links;
  for (const auto& link : answer["links"]) {
    links.push_back(link["url"].get<std::string>() + " " + link["anchor"].get<std::string>());
  }
  return links;
}

Result<nlohmann::ordered_json> MeasureServer(const std::string& graph_dir, uint16_t port,
                                             const std::vector<std::string>& urls, Report& report) {
  ASSIGN_OR_RETURN(const auto files, GraphFiles::Open(Env::Posix(), graph_dir));
  nlohmann::ordered_json figures;
  report.Line("{:<12} {:>12} {:>14} {:>14}", "us per URL", "direct", "one by one", "batches");
  for (const GraphDirection direction : {GraphDirection::kForward, GraphDirection::kTransposed}) {
    ASSIGN_OR_RETURN(const auto view, LinkView::Open(*files, GraphLevel::kPages, direction));
    ASSIGN_OR_RETURN(GraphLook look, GraphLook::Open(*view));
    std::vector<std::string> bodies;
    for (size_t begin = 0; begin < urls.size(); begin += kBatch) {
      std::string body = "[";
      for (size_t i = begin; i < std::min(begin + kBatch, urls.size()); ++i) {
        body += (body.size() > 1 ? "," : "") + JsonQuote(urls[i]);
      }
      bodies.push_back(body + "]");
    }
    // The answers first.
    ASSIGN_OR_RETURN(auto client, Client::Connect(port));
    ASSIGN_OR_RETURN(const std::string batch, client->Ask(TargetOf(direction, nullptr), &bodies.front()));
    const auto results = nlohmann::json::parse(batch)["results"];
    for (size_t i = 0; i < std::min(kBatch, urls.size()); ++i) {
      ASSIGN_OR_RETURN(const auto expected, Direct(look, urls[i]));
      ASSIGN_OR_RETURN(const std::string one, client->Ask(TargetOf(direction, &urls[i]), nullptr));
      if (expected != LinksOf(results[i]) || expected != LinksOf(nlohmann::json::parse(one))) {
        return Fail(ErrorCode::kCorrupt, fmt::format("the server gives other links of {}", urls[i]));
      }
    }
    const auto per_url_us = [&](int64_t start) {
      return static_cast<double>(Clock::Real().NowNs() - start) * 1e-3 / static_cast<double>(urls.size());
    };
    int64_t start = Clock::Real().NowNs();
    for (const std::string& url : urls) {
      ASSIGN_OR_RETURN([[maybe_unused]] const auto links, Direct(look, url));
    }
    const double direct_us = per_url_us(start);
    // The server closes a connection that is idle for so long.
    ASSIGN_OR_RETURN(client, Client::Connect(port));
    start = Clock::Real().NowNs();
    for (const std::string& url : urls) {
      ASSIGN_OR_RETURN([[maybe_unused]] const auto answer, client->Ask(TargetOf(direction, &url), nullptr));
    }
    const double single_us = per_url_us(start);
    start = Clock::Real().NowNs();
    for (const std::string& body : bodies) {
      ASSIGN_OR_RETURN([[maybe_unused]] const auto answer, client->Ask(TargetOf(direction, nullptr), &body));
    }
    const double batch_us = per_url_us(start);
    const std::string name = direction == GraphDirection::kForward ? "out" : "in";
    report.Line("{:<12} {:>12.1f} {:>14.1f} {:>14.1f}", name, direct_us, single_us, batch_us);
    figures[name + "_direct_us"] = direct_us;
    figures[name + "_single_us"] = single_us;
    figures[name + "_batch_us"] = batch_us;
    figures[name + "_single_per_s"] = 1e6 / single_us;
    figures[name + "_batch_per_s"] = 1e6 / batch_us;
  }
  return figures;
}

Result<nlohmann::ordered_json> RunServeBench(int argc, char** argv, Report& report) {
  CLI::App app("Look-ups in a link graph over HTTP, one by one and in batches, beside direct calls", "serve");
  uint64_t pages = 50'000;
  uint64_t queries = 20'000;
  app.add_option("--pages", pages, "Pages of the graph, with ten links each")->capture_default_str();
  app.add_option("--queries", queries, "Pages that are asked for")->capture_default_str();
  RETURN_IF_ERROR(ParseFlags(app, argc, argv));
  if (pages == 0 || queries == 0) return Fail(ErrorCode::kInvalidArgument, "--pages and --queries are above 0");
  ASSIGN_OR_RETURN(const ScratchDir scratch, ScratchDir::Create("serve"));
  RETURN_IF_ERROR(MakeGraph(scratch.path(), pages));
  const std::string graph_dir = scratch.path() + "/graph";
  GraphRoom room(Env::Posix(), Clock::Real(), graph_dir);
  Router router("bench");
  router.Add(room);
  ASSIGN_OR_RETURN(const auto server, HttpServer::Bind({.host = "127.0.0.1", .port = 0}, router));
  std::thread serving([&] { (void)server->Run(); });
  std::mt19937_64 random(2);
  std::vector<std::string> urls;
  for (uint64_t i = 0; i < queries; ++i) urls.push_back(PageUrl(random() % pages));
  auto figures = MeasureServer(graph_dir, server->port(), urls, report);
  server->Stop();
  serving.join();
  if (!figures) return figures;
  (*figures)["pages"] = pages;
  (*figures)["links"] = pages * kLinksPerPage;
  (*figures)["queries"] = queries;
  return figures;
}

}  // namespace

PORTOLAN_BENCHMARK("serve", "look-ups in a link graph over HTTP, one by one and in batches; beside direct calls",
                   RunServeBench);

}  // namespace portolan::bench
