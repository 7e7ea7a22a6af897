#include "fetch/testing/dns_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "base/check.h"

namespace portolan {
namespace {

constexpr int kTypeA = 1;
constexpr int kTypeCname = 5;
constexpr int kTypeAaaa = 28;

void Put16(std::string& out, int value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value);
}

void PutName(std::string& out, std::string_view name) {
  while (!name.empty()) {
    const size_t dot = std::min(name.find('.'), name.size());
    out += static_cast<char>(dot);
    out += name.substr(0, dot);
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  out += '\0';
}

void PutRecord(std::string& out, std::string_view owner, int type, uint32_t ttl, std::string_view data) {
  PutName(out, owner);
  Put16(out, type);
  Put16(out, 1);
  Put16(out, static_cast<int>(ttl >> 16));
  Put16(out, static_cast<int>(ttl & 0xffff));
  Put16(out, static_cast<int>(data.size()));
  out += data;
}

}  // namespace

DnsServer::DnsServer(Script script) : script_(std::move(script)) {
  fd_ = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  CHECK(fd_ >= 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
  socklen_t size = sizeof(address);
  CHECK(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { Serve(); });
}

DnsServer::~DnsServer() {
  // An empty datagram ends the thread.
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port_);
  sendto(fd_, "", 0, 0, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  thread_.join();
  close(fd_);
}

std::string DnsServer::address() const { return fmt::format("127.0.0.1:{}", port_); }

int DnsServer::questions(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return asked_[name];
}

int DnsServer::questions() {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::vector<DnsServer::Sender> DnsServer::senders() {
  const std::lock_guard lock(mutex_);
  return senders_;
}

void DnsServer::Serve() {
  std::array<char, 2048> buffer;
  for (;;) {
    sockaddr_in from{};
    socklen_t from_size = sizeof(from);
    const auto got = recvfrom(fd_, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &from_size);
    if (got == 0) return;
    if (got < 17) continue;
    const std::string_view query(buffer.data(), static_cast<size_t>(got));
    std::string name;
    size_t at = 12;
    while (at < query.size() && query[at] != 0) {
      const auto length = static_cast<size_t>(query[at]);
      if (!name.empty()) name += '.';
      name += query.substr(at + 1, length);
      at += length + 1;
    }
    const std::string_view question = query.substr(12, at + 5 - 12);
    const int type = query[at + 2];
    {
      const std::lock_guard lock(mutex_);
      if (type == kTypeA) ++asked_[name];
      ++count_;
      const int id = static_cast<uint8_t>(query[0]) << 8 | static_cast<uint8_t>(query[1]);
      senders_.push_back({.port = ntohs(from.sin_port), .id = static_cast<uint16_t>(id), .name = name});
    }
    const auto reply = script_(name, type == kTypeAaaa);
    if (!reply) continue;
    std::string records;
    int count = 0;
    std::string owner = name;
    if (!reply->alias.empty()) {
      std::string target;
      PutName(target, reply->alias);
      PutRecord(records, owner, kTypeCname, reply->alias_ttl, target);
      owner = reply->alias;
      ++count;
    }
    for (const Address& address : reply->addresses) {
      if (address.v6 != (type == kTypeAaaa)) continue;
      PutRecord(records, owner, type, reply->ttl,
                {reinterpret_cast<const char*>(address.bytes.data()), address.v6 ? size_t{16} : size_t{4}});
      ++count;
    }
    std::string out(query.substr(0, 2));
    Put16(out, 0x8180 | reply->rcode);
    Put16(out, 1);
    Put16(out, count);
    Put16(out, 0);
    Put16(out, 0);
    out += question;
    out += records;
    if (!reply->garbage.empty()) out = std::string(query.substr(0, 2)) + reply->garbage;
    sendto(fd_, out.data(), out.size(), 0, reinterpret_cast<sockaddr*>(&from), from_size);
  }
}

}  // namespace portolan
