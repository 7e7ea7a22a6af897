// NatsServer: a real nats-server on a loopback port, with a directory of its own that survives Kill and Start.
// It does not outlive the test, however that ends, and holds nothing of it open.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/child_process.h"

namespace portolan {

class NatsServer {
 public:
  static bool Installed();

  // `flags` come after those for the port and JetStream ("-js" is left out with jetstream = false). Not started.
  explicit NatsServer(std::vector<std::string> flags = {}, bool jetstream = true);
  ~NatsServer();
  NatsServer(const NatsServer&) = delete;
  NatsServer& operator=(const NatsServer&) = delete;

  // Starts it and waits until its port answers. False: it did not within ten seconds.
  bool Start();
  void Kill();  // kill -9

  const std::string& dir() const { return dir_; }
  uint16_t port() const { return port_; }
  std::string url(const std::string& user_info = {}) const;

 private:
  const std::vector<std::string> flags_;
  const bool jetstream_;
  std::string dir_;
  uint16_t port_ = 0;
  std::unique_ptr<ChildProcess> process_;
};

}  // namespace portolan
