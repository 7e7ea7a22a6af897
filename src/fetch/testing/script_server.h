// ScriptServer: a web server that behaves as badly as a test wants, on a loopback port of its own.
//
// Each connection has a thread that runs the test's script with blocking sockets. The script reads requests and sends
// whatever bytes it likes, over TLS if the server has a context.

#pragma once

#include <openssl/ssl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace portolan {

class ScriptConnection {
 public:
  explicit ScriptConnection(int fd) : fd_(fd) {}
  ~ScriptConnection();
  ScriptConnection(const ScriptConnection&) = delete;
  ScriptConnection& operator=(const ScriptConnection&) = delete;

  bool Accept(SSL_CTX* context);  // the TLS handshake
  std::string ReadHead();         // a request up to its empty line; empty when the client is gone
  bool Send(std::string_view bytes);
  void Reset();                    // closes so that the other side sees a reset
  void Close();                    // of TLS without a goodbye
  void Goodbye();                  // of TLS: close_notify
  std::string Read(size_t bytes);  // exactly so many, not of TLS; empty when the client is gone
  void WaitForPeerEnd();           // until the client closes or the server is stopped
  bool tls_resumed() const;
  int fd() const { return fd_; }

 private:
  int fd_;
  SSL* ssl_ = nullptr;
};

class ScriptServer {
 public:
  using Script = std::function<void(ScriptConnection&)>;

  explicit ScriptServer(Script script, SSL_CTX* context = nullptr);
  ~ScriptServer();
  ScriptServer(const ScriptServer&) = delete;
  ScriptServer& operator=(const ScriptServer&) = delete;

  uint16_t port() const { return port_; }
  int connections() const { return connections_; }
  // "http://a.test:PORT" + path
  std::string Url(std::string_view path, std::string_view host = "a.test") const;

 private:
  void AcceptAll();

  const Script script_;
  SSL_CTX* const context_;
  int listener_ = -1;
  uint16_t port_ = 0;
  std::atomic<int> connections_{0};
  std::mutex mutex_;
  std::vector<int> open_;             // guarded by mutex_
  std::vector<std::thread> threads_;  // guarded by mutex_
  bool stopping_ = false;             // guarded by mutex_
  std::thread acceptor_;
};

// A port without a listener: it was free a moment ago.
uint16_t ClosedPort();

}  // namespace portolan
