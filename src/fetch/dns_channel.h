// DnsChannel: questions to DNS servers with c-ares, on an EventLoop.
//
// c-ares retries by itself: each server `tries` times, with a time limit that doubles from round to round; a name's A
// and AAAA records are asked for together. This class tells it which sockets are ready and when time has passed.
//
// Each question has a c-ares channel (a Line) for itself, and so a socket for itself, on a source port that the kernel
// chooses anew at random: a forger must guess that port and the 16-bit query id (RFC 5452). If questions shared a
// socket, only the id would have to be guessed. c-ares 1.18 can neither limit the questions per socket nor vary the
// case of names (0x20). A line whose question is answered closes its socket and serves another question.
//
// Thread: the loop's; the destructor when the loop does not run. Memory bound: about 75 KB per line; one line per
// outstanding question, which the caller bounds, and up to kIdleLines idle ones.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "fetch/fetch_options.h"
#include "flow/address.h"
#include "flow/outcome.h"
#include "io/event_loop.h"

struct ares_channeldata;
struct ares_addrinfo;
struct ares_addr_port_node;

namespace portolan {

struct DnsAnswer {
  // kAnswered, kDnsNotFound, kDnsFailed, kDnsTimeout, kLocal, kCancelled, kShortage
  FetchOutcome outcome = FetchOutcome::kDnsFailed;
  std::vector<Address> addresses;  // as the servers sent them
  uint32_t ttl_s = 0;              // the shortest of all records on the way
};

class DnsChannel {
 public:
  // Called once for each question, perhaps inside Ask.
  using OnAnswer = std::function<void(const std::string& name, const DnsAnswer& answer)>;

  static Result<std::unique_ptr<DnsChannel>> Create(EventLoop& loop, const ResolverOptions& options,
                                                    OnAnswer on_answer);
  ~DnsChannel();
  DnsChannel(const DnsChannel&) = delete;
  DnsChannel& operator=(const DnsChannel&) = delete;

  void Ask(const std::string& name);
  // Every outstanding question is answered with kCancelled.
  void CancelAll();
  size_t outstanding() const { return outstanding_; }

 private:
  static constexpr size_t kIdleLines = 64;

  struct Line {
    explicit Line(DnsChannel& to) : owner(to) {}
    ~Line();
    DnsChannel& owner;
    ares_channeldata* channel = nullptr;
    std::string name;    // of the question
    bool asked = false;  // and not answered
  };

  DnsChannel(EventLoop& loop, const ResolverOptions& options, OnAnswer on_answer)
      : loop_(loop), options_(options), on_answer_(std::move(on_answer)) {}

  Result<std::unique_ptr<Line>> MakeLine();
  static void OnSocketState(void* line, int fd, int readable, int writable);
  static void OnResult(void* line, int status, int timeouts, ares_addrinfo* result);
  void Answer(Line& line, const DnsAnswer& answer);
  void Watch(Line& line, int fd, bool read, bool write);
  // To be called after every call into c-ares: a line without a question becomes free for the next. Not inside such a
  // call, where the socket is still open.
  void Settle(Line& line);
  void Tick();

  EventLoop& loop_;
  const ResolverOptions& options_;
  const OnAnswer on_answer_;
  ares_addr_port_node* servers_ = nullptr;  // as the first line found them
  std::unordered_map<Line*, std::unique_ptr<Line>> busy_;
  std::vector<std::unique_ptr<Line>> free_;
  std::unordered_map<int, EventLoop::Id> watches_;  // by descriptor
  EventLoop::Id ticking_{};
  size_t outstanding_ = 0;
};

}  // namespace portolan
