// portolan serve: what a crawl has made, over HTTP on this machine.

#include <fmt/core.h>

#include <string>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/crawl_place.h"
#include "cli/graph_parts.h"
#include "cli/index_parts.h"
#include "cli/search_place.h"
#include "cli/shard_dirs.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/map_faults.h"
#include "io/stop_signals.h"
#include "serve/graph_room.h"
#include "serve/http_server.h"
#include "serve/router.h"
#include "serve/search_room.h"

namespace portolan {
namespace {

struct ServeVerbFlags {
  std::string dir;
  std::string listen = "127.0.0.1:8017";
  size_t threads = HttpLimits().threads;
  bool json = false;
  RemoteFlags remotes;
};

Status ServeCrawl(const ServeVerbFlags& flags, bool quiet) {
  ASSIGN_OR_RETURN(const ListenAddress address, ListenAddress::Parse(flags.listen));
  Env& env = Env::Posix();
  if (!env.Exists(JoinPath(flags.dir, kConfigFile)) && !env.Exists(GraphDirOf(flags.dir)) &&
      !env.Exists(IndexDirOf(flags.dir)) && ShardDirsIn(flags.dir).empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: there is neither a crawl nor a link graph nor a search index here", flags.dir));
  }
  ASSIGN_OR_RETURN(const SearcherOptions searcher, SearcherOptionsOf(flags.dir, flags.remotes));
  MakeWritesFailQuietly();
  SurviveMapFaults();
  GraphRoom graph(env, Clock::Real(), GraphDirOf(flags.dir));
  SearchRoom search(env, Clock::Real(), searcher);
  Router router(flags.dir);
  router.Add(search);
  router.Add(graph);
  HttpLimits limits;
  limits.threads = flags.threads;
  ASSIGN_OR_RETURN(const auto server, HttpServer::Bind(address, router, limits));
  // From here on threads are made.
  const StopSignals signals([&](int) { server->Stop(); });
  const std::string url = fmt::format("http://{}:{}/", address.UrlHost(), server->port());
  if (flags.json) {
    fmt::print("{{\"url\":{},\"port\":{}}}\n", JsonQuote(url), server->port());
  } else {
    fmt::print("{} is served on {} until Ctrl-C\n", Printable(flags.dir), url);
    for (Room* const room : std::initializer_list<Room*>{&search, &graph}) {
      const Result<std::string> health = room->Health();
      fmt::print("  {}: {}\n", room->name(), Printable(health ? *health : health.error().message()));
    }
  }
  std::fflush(stdout);
  RETURN_IF_ERROR(server->Run());
  if (!quiet) fmt::print(stderr, "stopped\n");
  return {};
}

}  // namespace

int RunServe(int argc, char** argv) {
  VerbApp app("serve",
              "Serves a crawl's search and its link graph over HTTP, to people and programs on this machine: which\n"
              "pages have some words; who links to a page, host or domain, one by one or in batches. An index or a\n"
              "graph that is built meanwhile is served without a restart.");
  ServeVerbFlags flags;
  app->add_option("dir", flags.dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_option("--listen", flags.listen, "Where: an address of this machine only; port 0: any that is free")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  app->add_option("--threads", flags.threads, "Connections that are served at once")
      ->type_name("N")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  flags.remotes.AddTo(app);
  app->add_flag("--json", flags.json, "Say where as one JSON object: {\"url\":…,\"port\":…}");
  app.Footer(
      "GET / lists what is served. docs/serve.md has the requests, the answers and all bounds.\n\n"
      "Examples:\n"
      "  portolan serve crawl-example.org --listen 127.0.0.1:8017\n"
      "  curl -G http://127.0.0.1:8017/search --data-urlencode 'q=\"white whale\" lang:en' -d json=1\n"
      "  curl 'http://127.0.0.1:8017/graph/in?url=example.org&level=host&limit=10'\n"
      "  curl -G http://127.0.0.1:8017/graph/out --data-urlencode 'url=https://example.org/?a=1&b=2'\n"
      "  curl http://127.0.0.1:8017/graph/in --json '[\"https://example.org/\",\"https://example.org/about\"]'");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const Status served = ServeCrawl(flags, app.quiet());
  return served ? kExitOk : Complain(served.error());
}

}  // namespace portolan
