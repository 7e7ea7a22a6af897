#include "sim/server/sim_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

#include "sim/server/dns_service.h"
#include "sim/server/http_connection.h"
#include "sim/server/poller.h"
#include "sim/server/server_context.h"
#include "sim/server/tls_identity.h"

namespace portolan::sim {
namespace {

// As many as clients may open together: what is accepted in one round is read before any of it is answered.
constexpr int kAcceptRound = 1024;
constexpr int kTickMs = 250;  // how late an idle connection is noticed

}  // namespace

// What the threads share. Constant after Start but for what guards itself.
struct SimServer::Shared {
  Shared(const SimServerOptions& an_options, SimSockets some_sockets, const Site& a_site)
      : options(an_options), sockets(std::move(some_sockets)), site(a_site), visits(an_options.visit_entries) {}

  const SimServerOptions options;
  const SimSockets sockets;
  const Site& site;
  VisitTable visits;
  std::unique_ptr<TlsIdentity> tls;
  std::atomic<uint64_t> connections{0};  // accepted; also the next one's id
  std::atomic<uint64_t> open{0};
  std::atomic<bool> stopping{false};
};

class SimServer::Worker {
 public:
  static Result<std::unique_ptr<Worker>> Create(Shared& shared, bool dns) {
    ASSIGN_OR_RETURN(auto poller, Poller::Create());
    return std::unique_ptr<Worker>(new Worker(shared, std::move(poller), dns));
  }

  void Run() {
    thread_ = std::thread([this] { Loop(); });
  }
  void Wake() { poller_->Wake(); }
  void Join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  class Listener : public EventSource {
   public:
    Listener(Worker& worker, int fd, bool tls) : worker_(worker), fd_(fd), tls_(tls) { HandleLate(); }
    void OnReady(uint32_t) override { worker_.Accept(fd_, tls_); }
    void OnCaughtUp() override { worker_.StartAccepted(); }
    int fd() const { return fd_; }

   private:
    Worker& worker_;
    const int fd_;
    const bool tls_;
  };

  Worker(Shared& shared, std::unique_ptr<Poller> poller, bool dns)
      : shared_(shared),
        poller_(std::move(poller)),
        context_(shared.site, shared.options.clock != nullptr ? *shared.options.clock : Clock::Real(),
                 shared.options.hits, shared.visits, *shared.tls, *poller_, shared.options.idle_ns),
        most_connections_(std::max<size_t>(1, shared.options.most_connections / shared.options.threads)) {
    for (const OwnedFd& fd : shared.sockets.http.streams) {
      listeners_.push_back(std::make_unique<Listener>(*this, fd.get(), false));
    }
    for (const OwnedFd& fd : shared.sockets.https.streams) {
      listeners_.push_back(std::make_unique<Listener>(*this, fd.get(), true));
    }
    if (dns) dns_ = std::make_unique<DnsService>(context_, shared.sockets.dns);
  }

  void Loop() {
    // OpenSSL writes without MSG_NOSIGNAL.
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    Listen(true);
    size_t counted = 0;
    while (!shared_.stopping.load(std::memory_order_relaxed)) {
      poller_->RunOnce(kTickMs);
      const size_t size = list_.size();
      if (size != counted) shared_.open.fetch_add(size - std::exchange(counted, size), std::memory_order_relaxed);
      if (poller_->now_ns() - last_sweep_ns_ > kTickMs * kMillisecond) Sweep();
      if (!listening_ &&
          (no_room_ ? size < paused_at_ || poller_->now_ns() == last_sweep_ns_ : size < most_connections_)) {
        Listen(true);
      }
    }
    while (list_.first() != nullptr) list_.first()->Abandon();
    dns_.reset();
    poller_->RunOnce(0);
  }

  void Listen(bool on) {
    if (listening_ == on) return;
    listening_ = on;
    no_room_ = false;
    paused_at_ = list_.size();
    for (const auto& listener : listeners_) {
      if (on) {
        poller_->Add(listener->fd(), EPOLLIN | (shared_.options.threads > 1 ? EPOLLEXCLUSIVE : 0U), listener.get());
      } else {
        poller_->Remove(listener->fd());
      }
    }
  }

  void Accept(int listen_fd, bool tls) {
    for (int i = 0; i < kAcceptRound; ++i) {
      if (list_.size() + accepted_.size() >= most_connections_) return Listen(false);
      SocketAddress client;
      OwnedFd fd(::accept4(listen_fd, client.get(), &client.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!fd) {
        // Out of descriptors: the queue waits until one is given back, or for the next tick.
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
          Listen(false);
          no_room_ = true;
        }
        return;
      }
      SocketAddress local;
      if (::getsockname(fd.get(), local.get(), &local.size) != 0 || !IsLoopbackAddress(local)) continue;
      ConnectionFacts facts;
      facts.id = shared_.connections.fetch_add(1, std::memory_order_relaxed) + 1;
      facts.tls = tls;
      AppendAddress(local, facts.address);
      AppendAddress(client, facts.client);
      facts.port = local.port();
      SSL* ssl = tls ? shared_.tls->NewConnection() : nullptr;
      if (tls && ssl == nullptr) continue;
      accepted_.emplace_back(Transport(std::move(fd), ssl), std::move(facts));
    }
  }

  // After all that clients did before they opened these connections.
  void StartAccepted() {
    for (auto& [transport, facts] : accepted_) {
      facts.opened_ns = context_.clock.UnixNs();
      if (context_.hits != nullptr) context_.hits->OnOpen(facts.opened_ns, facts.id, facts.address, facts.port);
      HttpConnection::Start(context_, list_, std::move(transport), std::move(facts));
    }
    accepted_.clear();
  }

  void Sweep() {
    last_sweep_ns_ = poller_->now_ns();
    while (HttpConnection* first = list_.first()) {
      if (last_sweep_ns_ - first->last_active_ns() < context_.idle_ns) return;
      if (first->waits_for_timer()) {
        first->Touch();  // it is we who keep silent
      } else {
        first->Abandon();
      }
    }
  }

  Shared& shared_;
  const std::unique_ptr<Poller> poller_;
  ServerContext context_;
  const size_t most_connections_;
  ConnectionList list_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<std::pair<Transport, ConnectionFacts>> accepted_;  // within a round
  std::unique_ptr<DnsService> dns_;
  bool listening_ = false;
  bool no_room_ = false;  // not listening because the system had no descriptor left
  size_t paused_at_ = 0;  // connections at that time
  int64_t last_sweep_ns_ = 0;
  std::thread thread_;
};

Result<SimSockets> BindSimSockets(const SimServerOptions& options) {
  SimSockets sockets;
  ASSIGN_OR_RETURN(sockets.dns, BindLoopback(options.bind, options.dns_port, true, true));
  ASSIGN_OR_RETURN(sockets.http, BindLoopback(options.bind, options.http_port, true, false));
  ASSIGN_OR_RETURN(sockets.https, BindLoopback(options.bind, options.https_port, true, false));
  return sockets;
}

Result<std::unique_ptr<SimServer>> SimServer::Start(const SimServerOptions& options, const Site& site) {
  ASSIGN_OR_RETURN(SimSockets sockets, BindSimSockets(options));
  return Start(options, std::move(sockets), site);
}

Result<std::unique_ptr<SimServer>> SimServer::Start(const SimServerOptions& options, SimSockets sockets,
                                                    const Site& site) {
  if (options.threads < 1 || options.threads > 256) {
    return Fail(ErrorCode::kInvalidArgument, "the number of threads must be 1 to 256");
  }
  auto shared = std::make_unique<Shared>(options, std::move(sockets), site);
  ASSIGN_OR_RETURN(shared->tls, TlsIdentity::Create(site, options.http2));
  auto server = std::unique_ptr<SimServer>(new SimServer(std::move(shared)));
  for (size_t i = 0; i < options.threads; ++i) {
    ASSIGN_OR_RETURN(auto worker, Worker::Create(*server->shared_, i == 0));
    server->workers_.push_back(std::move(worker));
  }
  for (const auto& worker : server->workers_) worker->Run();
  return server;
}

SimServer::SimServer(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}

SimServer::~SimServer() { Stop(); }

SimPorts SimServer::ports() const {
  const SimSockets& sockets = shared_->sockets;
  return {.dns = sockets.dns.port,
          .http = sockets.http.port,
          .https = sockets.https.port,
          .v6 = sockets.http.v6 && sockets.https.v6 && sockets.dns.v6};
}

const std::string& SimServer::ca_pem() const { return shared_->tls->ca_pem(); }

SimStats SimServer::stats() const {
  return {.connections = shared_->connections.load(std::memory_order_relaxed),
          .open = shared_->open.load(std::memory_order_relaxed)};
}

void SimServer::Stop() {
  shared_->stopping.store(true, std::memory_order_relaxed);
  for (const auto& worker : workers_) worker->Wake();
  for (const auto& worker : workers_) worker->Join();
}

}  // namespace portolan::sim
