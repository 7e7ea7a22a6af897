#include "serve/http_server.h"

#include <fmt/core.h>
#include <httplib.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "base/log.h"
#include "base/text.h"
#include "io/process.h"
#include "serve/connection.h"

namespace portolan {
namespace {

constexpr int kBacklog = 128;
constexpr size_t kLoggedTarget = 300;

// What a connection's bytes look like to the library.
class LibraryStream : public httplib::Stream {
 public:
  explicit LibraryStream(Connection& connection) : connection_(connection) {}
  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* to, size_t size) override { return connection_.Read(to, size); }
  ssize_t write(const char* from, size_t size) override {
    return connection_.Write({from, size}) ? static_cast<ssize_t>(size) : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override { get_remote_ip_and_port(ip, port); }
  socket_t socket() const override { return connection_.socket(); }

 private:
  Connection& connection_;
};

// What our handlers know about the request that their thread is at.
struct RequestState {
  Connection* connection;
  std::optional<Answer> refused;
  bool reusable = false;  // the request was read to its end
};
thread_local RequestState* t_request = nullptr;
thread_local bool t_no_room = false;  // the connection that comes next finds no place

// The threads, and a bounded queue of connections for them.
class Workers : public httplib::TaskQueue {
 public:
  Workers(const HttpLimits& limits, PollSwitch& crowd) : limits_(limits), crowd_(crowd), idle_(limits.threads) {
    for (size_t i = 0; i < limits.threads; ++i) threads_.emplace_back([this] { Work(); });
  }

  void enqueue(std::function<void()> connection) override {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() < limits_.waiting + idle_) {
        waiting_.push_back(std::move(connection));
        if (waiting_.size() > idle_) crowd_.TurnOn();
        more_.notify_one();
        return;
      }
    }
    t_no_room = true;
    connection();
    t_no_room = false;
  }

  void shutdown() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      more_.notify_all();
    }
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  void Work() {
    NameThread("serve");
    std::unique_lock lock(mutex_);
    for (;;) {
      more_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      const std::function<void()> connection = std::move(waiting_.front());
      waiting_.pop_front();
      --idle_;
      if (waiting_.size() <= idle_) crowd_.TurnOff();
      lock.unlock();
      connection();
      lock.lock();
      ++idle_;
    }
  }

  const HttpLimits limits_;
  PollSwitch& crowd_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable more_;
  std::deque<std::function<void()>> waiting_;
  size_t idle_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

std::string PlainAnswer(const Answer& answer, std::string_view reason) {
  return fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                     answer.status, reason, answer.type, answer.body.size(), answer.body);
}

std::string PathOfTarget(std::string_view target) { return Printable(target.substr(0, kLoggedTarget)); }

void LogRequest(std::string_view method, std::string_view target, int status, size_t bytes, int64_t began_ns) {
  if (!LogEnabled(LogLevel::kDebug)) return;
  Log(LogLevel::kDebug, "request",
      {{"method", method},
       {"target", PathOfTarget(target)},
       {"status", status},
       {"bytes", bytes},
       {"us", (Clock::Real().NowNs() - began_ns) / kMicrosecond}});
}

void Fill(Answer answer, httplib::Response& response) {
  response.status = answer.status;
  response.body = std::move(answer.body);
  response.set_header("Content-Type", answer.type);
  if (!answer.allow.empty()) response.set_header("Allow", answer.allow);
  if (!answer.policy.empty()) {
    response.headers.erase("Content-Security-Policy");  // the default
    response.set_header("Content-Security-Policy", answer.policy);
  }
}

}  // namespace

class HttpServer::Impl : public httplib::Server {
 public:
  Impl(Router& router, const HttpLimits& limits) : router_(router), limits_(limits) {
    // Not SO_REUSEPORT, with which two servers would share a port.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
      ::fcntl(socket, F_SETFD, FD_CLOEXEC);
    });
    set_tcp_nodelay(true);
    set_payload_max_length(kMaxBody);
    set_default_headers({{"Cache-Control", "no-store"},
                         {"X-Content-Type-Options", "nosniff"},
                         {"Content-Security-Policy", "default-src 'none'"}});
    new_task_queue = [this]() -> httplib::TaskQueue* {
      const std::lock_guard lock(mutex_);
      started_ = true;
      if (stopped_) CloseListener();
      return new Workers(limits_, crowd_);
    };
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (t_request->refused) {
        Fill(*std::move(t_request->refused), response);
        return HandlerResponse::Handled;
      }
      if (request.method == "POST") return HandlerResponse::Unhandled;  // its body is read first
      t_request->reusable = true;
      Fill(router_.Handle(RawOf(request)), response);
      return HandlerResponse::Handled;
    });
    // Of a path that takes one: others were refused.
    Post("/.*", [this](const httplib::Request& request, httplib::Response& response) {
      t_request->reusable = true;
      RawRequest raw = RawOf(request);
      raw.body = request.body;
      Fill(router_.Handle(raw), response);
    });
    // What the library refuses itself.
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      const bool too_large = response.status == 413 || t_request->connection->body_too_large();
      Fill(
          too_large ? ErrorAnswer(413, "body_too_large", fmt::format("a body has at most {} bytes", kMaxBody))
          : response.status == 414
              ? ErrorAnswer(414, "target_too_long", "the request's first line is longer than 8,192 bytes: use POST")
              : ErrorAnswer(response.status < 500 ? 400 : response.status, "bad_request",
                            "the request cannot be read: its first line, a field (over 8,192 bytes?) or the framing of "
                            "its body is broken"),
          response);
    });
    set_exception_handler([](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
      Fill(ErrorAnswer(500, "internal", "the server failed"), response);
    });
    set_logger([](const httplib::Request& request, const httplib::Response& response) {
      LogRequest(request.method, request.target, response.status, response.body.size(),
                 t_request->connection->began_ns());
    });
  }

  Result<uint16_t> BindTo(const ListenAddress& address) {
    errno = 0;
    const int port = address.port == 0                          ? bind_to_any_port(address.host)
                     : bind_to_port(address.host, address.port) ? address.port
                                                                : -1;
    const int error = errno;
    const std::string where = fmt::format("{}:{}", address.UrlHost(), address.port);
    if (port <= 0 && error == EADDRINUSE) {
      return Fail(ErrorCode::kIo, fmt::format("{} is in use by another program: choose another port, or port 0 for any "
                                              "that is free",
                                              where));
    }
    if (port <= 0) return std::unexpected(Error::FromErrno(error == 0 ? EIO : error, "listen on " + where));
    // The library asks for five.
    ::listen(svr_sock_, kBacklog);
    return static_cast<uint16_t>(port);
  }

  Status Run() {
    const bool ended_well = listen_after_bind();
    const std::lock_guard lock(mutex_);
    if (ended_well || stopped_) return {};
    return Fail(ErrorCode::kIo, "the system refuses to accept connections");
  }

  void Stop() {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    stop_.TurnOn();
    if (started_) CloseListener();
  }

 private:
  void CloseListener() {
    if (svr_sock_ != INVALID_SOCKET) stop();
  }

  static RawRequest RawOf(const httplib::Request& request) {
    return {.method = request.method,
            .target = request.target,
            .host = FieldOf(request, "Host"),
            .content_type = FieldOf(request, "Content-Type"),
            .content_encoding = FieldOf(request, "Content-Encoding"),
            .content_length = FieldOf(request, "Content-Length"),
            .chunked = request.headers.contains("Transfer-Encoding"),
            .body = {}};
  }

  static std::string_view FieldOf(const httplib::Request& request, const char* name) {
    const auto found = request.headers.find(name);
    return found == request.headers.end() ? std::string_view() : std::string_view(found->second);
  }

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, limits_, stop_, crowd_);
    if (t_no_room) {
      const std::string answer =
          PlainAnswer(ErrorAnswer(503, "too_many_connections", "all connections are in use: try again later"),
                      "Service Unavailable");
      ::send(socket, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      ::shutdown(socket, SHUT_WR);
      LogRequest("", "", 503, answer.size(), Clock::Real().NowNs());
    } else {
      Serve(connection);
    }
    ::close(socket);
    return true;
  }

  void Serve(Connection& connection) {
    LibraryStream stream(connection);
    for (;;) {
      const Connection::Head head = connection.ReadHead();
      if (head == Connection::Head::kNone) return;
      if (head != Connection::Head::kComplete) {
        const bool slow = head == Connection::Head::kTooSlow;
        const Answer answer =
            slow ? ErrorAnswer(408, "too_slow", "the head of the request did not come in time")
                 : ErrorAnswer(431, "head_too_large",
                               fmt::format("the head of a request has at most {} bytes", limits_.head_bytes));
        connection.Write(PlainAnswer(answer, slow ? "Request Timeout" : "Request Header Fields Too Large"));
        connection.Flush();
        LogRequest("", "", answer.status, answer.body.size(), connection.began_ns());
        break;
      }
      RequestState state{.connection = &connection, .refused = {}};
      t_request = &state;
      bool closed = false;
      const bool went_well =
          process_request(stream, false, closed, [&](httplib::Request& request) { Prepare(request, state); });
      t_request = nullptr;
      if (!connection.Flush()) return;
      if (!went_well || closed || !state.reusable) break;
    }
    connection.Linger();
  }

  // Once its head is parsed.
  void Prepare(httplib::Request& request, RequestState& state) {
    request.ranges.clear();
    request.headers.erase("Accept-Encoding");
    const RawRequest raw = RawOf(request);
    state.refused = router_.Refuse(raw);
    const bool bodiless = request.method == "GET" || request.method == "HEAD";
    if (state.refused && bodiless && !raw.chunked && (raw.content_length.empty() || raw.content_length == "0")) {
      state.reusable = true;
    } else if (state.refused) {  // its body stays unread
      request.headers.erase("Connection");
      request.set_header("Connection", "close");
    }
  }

  Router& router_;
  const HttpLimits limits_;
  PollSwitch stop_;
  PollSwitch crowd_;
  std::mutex mutex_;  // guards what follows
  bool started_ = false;
  bool stopped_ = false;
};

Result<std::unique_ptr<HttpServer>> HttpServer::Bind(const ListenAddress& address, Router& router,
                                                     const HttpLimits& limits) {
  auto impl = std::make_unique<Impl>(router, limits);
  ASSIGN_OR_RETURN(const uint16_t port, impl->BindTo(address));
  router.SetAddress(address.UrlHost(), port);
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(impl)));
  server->port_ = port;
  return server;
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;
Status HttpServer::Run() { return impl_->Run(); }
void HttpServer::Stop() { impl_->Stop(); }

}  // namespace portolan
