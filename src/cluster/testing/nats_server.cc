#include "cluster/testing/nats_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "base/check.h"

namespace portolan {
namespace {

constexpr const char* kProgram = "/usr/sbin/nats-server";

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

bool Answers(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  const bool connected = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return connected;
}

}  // namespace

bool NatsServer::Installed() { return access(kProgram, X_OK) == 0; }

NatsServer::NatsServer(std::vector<std::string> flags, bool jetstream)
    : flags_(std::move(flags)), jetstream_(jetstream), port_(FreeLoopbackPort()) {
  std::string name = (std::filesystem::temp_directory_path() / "portolan-nats-XXXXXX").string();
  CHECK(mkdtemp(name.data()) != nullptr);
  dir_ = name;
}

NatsServer::~NatsServer() {
  Kill();
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

std::string NatsServer::url(const std::string& user_info) const {
  return fmt::format("nats://{}127.0.0.1:{}", user_info.empty() ? "" : user_info + "@", port_);
}

bool NatsServer::Start() {
  std::vector<std::string> words = {kProgram, "-a", "127.0.0.1", "-p", std::to_string(port_), "-l", dir_ + "/log"};
  if (jetstream_) words.insert(words.end(), {"-js", "-sd", dir_});
  words.insert(words.end(), flags_.begin(), flags_.end());
  auto started = ChildProcess::Start({.words = words, .environment = {}, .output = dir_ + "/said"});
  if (!started) return false;
  process_ = *std::move(started);
  for (int i = 0; i < 1000 && !process_->Ended(); ++i) {
    if (Answers(port_)) return true;
    poll(nullptr, 0, 10);
  }
  return false;
}

void NatsServer::Kill() { process_.reset(); }

}  // namespace portolan
