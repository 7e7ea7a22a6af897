// DnsServer: a name server on a loopback UDP port that answers by the test's script.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "flow/address.h"

namespace portolan {

struct DnsReply {
  int rcode = 0;      // 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED
  std::string alias;  // a CNAME before the addresses, when not empty
  uint32_t alias_ttl = 3600;
  std::vector<Address> addresses;  // those of the question's family are sent
  uint32_t ttl = 300;
  std::string garbage;  // sent as it is instead, when not empty
};

class DnsServer {
 public:
  // Runs on the server's thread, for one question at a time; none: silence.
  using Script = std::function<std::optional<DnsReply>(const std::string& name, bool v6)>;

  explicit DnsServer(Script script);
  ~DnsServer();
  DnsServer(const DnsServer&) = delete;
  DnsServer& operator=(const DnsServer&) = delete;

  std::string address() const;             // "127.0.0.1:PORT"
  int questions(const std::string& name);  // A questions seen
  int questions();                         // all of both kinds
  // Where each datagram came from, and its number, in order.
  struct Sender {
    uint16_t port = 0;
    uint16_t id = 0;
    std::string name;
  };
  std::vector<Sender> senders();

 private:
  void Serve();

  const Script script_;
  int fd_ = -1;
  uint16_t port_ = 0;
  std::mutex mutex_;
  std::map<std::string, int> asked_;  // guarded by mutex_
  int count_ = 0;                     // guarded by mutex_
  std::vector<Sender> senders_;       // guarded by mutex_
  std::thread thread_;
};

}  // namespace portolan
