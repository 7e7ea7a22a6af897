// DnsChannel: questions to DNS servers with c-ares, on an EventLoop.
//
// c-ares retries by itself: each server `tries` times, with a time limit that doubles from round to round; a name's A
// and AAAA records are asked for together. This gives it sockets that are ready and the passing of time.
//
// Thread: the loop's; the destructor when the loop does not run. Memory bound: the questions that are out, which the
// caller bounds.

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

namespace portolan {

struct DnsAnswer {
  // kAnswered, kDnsNotFound, kDnsFailed, kDnsTimeout, kLocal, kCancelled, kShortage
  FetchOutcome outcome = FetchOutcome::kDnsFailed;
  std::vector<Address> addresses;  // as the servers sent them
  uint32_t ttl_s = 0;              // the shortest of all records on the way
};

class DnsChannel {
 public:
  // Called for each question once, perhaps from inside Ask.
  using OnAnswer = std::function<void(const std::string& name, const DnsAnswer& answer)>;

  static Result<std::unique_ptr<DnsChannel>> Create(EventLoop& loop, const ResolverOptions& options,
                                                    OnAnswer on_answer);
  ~DnsChannel();
  DnsChannel(const DnsChannel&) = delete;
  DnsChannel& operator=(const DnsChannel&) = delete;

  void Ask(const std::string& name);
  // Every question that is out is answered with kCancelled.
  void CancelAll();
  size_t outstanding() const { return outstanding_; }

 private:
  struct Question;
  DnsChannel(EventLoop& loop, const ResolverOptions& options, OnAnswer on_answer)
      : loop_(loop), options_(options), on_answer_(std::move(on_answer)) {}

  static void OnSocketState(void* self, int fd, int readable, int writable);
  static void OnResult(void* question, int status, int timeouts, ares_addrinfo* result);
  void Watch(int fd, bool read, bool write);
  void Tick();

  EventLoop& loop_;
  const ResolverOptions& options_;
  const OnAnswer on_answer_;
  ares_channeldata* channel_ = nullptr;
  std::unordered_map<int, EventLoop::Id> watches_;
  EventLoop::Id ticking_{};
  size_t outstanding_ = 0;
};

}  // namespace portolan
