// portolan index serve: the parts of an index for searchers on other machines.

#include <fmt/core.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/index_parts.h"
#include "cli/verb_app.h"
#include "index/index_current.h"
#include "io/env.h"
#include "io/stop_signals.h"
#include "search/index_server.h"
#include "serve/listen_address.h"

namespace portolan {
namespace {

struct IndexServeFlags {
  std::string dir;
  std::string listen = "127.0.0.1:8019";
  bool json = false;
};

// Set by another thread; a wait for it ends at once then.
class StopFlag {
 public:
  void Set() {
    const std::lock_guard lock(mutex_);
    set_ = true;
    changed_.notify_all();
  }
  // Whether it was set within that time.
  bool WaitFor(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return set_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool set_ = false;
};

// Until `stop`. A new generation of the index is served by a new server on the same port.
Status ServeIndex(const IndexServeFlags& flags, StopFlag& stop) {
  ASSIGN_OR_RETURN(const ListenAddress address, ListenAddress::Parse(flags.listen));
  Env& env = Env::Posix();
  const std::string index_dir = IndexDirOf(flags.dir);
  ASSIGN_OR_RETURN(std::vector<std::string> dirs, IndexPartPaths(env, index_dir));
  ASSIGN_OR_RETURN(auto server, IndexServer::Start(dirs, address.host, address.port));
  const uint16_t port = server->port();
  if (flags.json) {
    fmt::print("{{\"address\":{},\"parts\":{}}}\n", JsonQuote(fmt::format("{}:{}", address.host, port)), dirs.size());
  } else {
    fmt::print("{} is served on {}:{} until Ctrl-C: {} parts\n", Printable(index_dir), address.host, port, dirs.size());
  }
  std::fflush(stdout);
  while (!stop.WaitFor(std::chrono::seconds(1))) {
    if (!server->Runs()) return Fail(ErrorCode::kIo, "xapian-tcpsrv has ended");
    const auto now = IndexPartPaths(env, index_dir);
    if (!now || *now == dirs) continue;  // one that cannot be read now is read again in a second
    dirs = *now;
    server->Stop();
    ASSIGN_OR_RETURN(server, IndexServer::Start(dirs, address.host, port));
  }
  server->Stop();
  return {};
}

}  // namespace

int RunIndexServe(int argc, char** argv) {
  VerbApp app("index serve",
              "Serves the search index of a crawl to 'portolan search --remote' and 'portolan serve --remote', by\n"
              "Xapian's remote protocol (the program xapian-tcpsrv does it). It only reads, and serves what a build\n"
              "beside it commits.");
  IndexServeFlags flags;
  app->add_option("dir", flags.dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_option("--listen", flags.listen, "Where: an address of this machine only; port 0: any that is free")
      ->type_name("ADDRESS:PORT")
      ->capture_default_str();
  app->add_flag("--json", flags.json, "Say where as one JSON object: {\"address\":…,\"parts\":…}");
  app.Footer(
      "The protocol has no passwords, and whoever connects can read the whole index: so only this machine may "
      "connect.\n"
      "From another machine, go through a tunnel, such as 'ssh -L 8019:127.0.0.1:8019 machine'.\n\n"
      "Examples:\n"
      "  portolan index serve crawl-example.org --listen 127.0.0.1:8019\n"
      "  portolan search crawl-of-another whale --remote 127.0.0.1:8019");
  if (const auto code = app.Parse(argc, argv)) return *code;
  StopFlag stop;
  const StopSignals signals([&](int) { stop.Set(); });
  const Status served = ServeIndex(flags, stop);
  return served ? kExitOk : Complain(served.error());
}

}  // namespace portolan
