// Resolver: resolves names to addresses with c-ares, on a thread of its own, with a cache that obeys the time to live.
//
// A question is answered by the first of these that applies: an IP literal is its own answer; the hosts file; localhost
// is this machine; the cache; an outstanding question for the same name, which it joins; a new question to a server,
// which may have to wait for its turn. Search domains are off. Addresses that are not public are removed here, so that
// no other part of the crawler sees them (unless options.allow_private).
//
// If a proxy resolves names, no server is asked and the hosts file is not used: only the proxy knows the address of a
// name, so it cannot be checked here. Literals and localhost are checked.
//
// Failures are cached too, for a shorter time, because every URL of a host whose servers are down would ask again.
//
// Thread: Resolve from any thread, never waits; answers come on the resolver's thread. Stop from the owner's.
// Memory bound: cache_entries, max_outstanding questions, max_waiting that wait (beyond it kLocal).

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "fetch/dns_cache.h"
#include "fetch/dns_channel.h"
#include "fetch/fetch_options.h"
#include "fetch/hosts_file.h"
#include "flow/fetch.h"
#include "io/event_loop.h"
#include "io/mailbox.h"

namespace portolan {

class Resolver {
 public:
  using OnResolved = std::function<void(Resolution&&)>;

  static Result<std::unique_ptr<Resolver>> Create(const ResolverOptions& options, OnResolved on_resolved);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Since the beginning. Any thread.
  struct Counters {
    std::atomic<uint64_t> asked{0};     // questions to the servers, retries not counted
    std::atomic<uint64_t> cached{0};    // answered by the cache
    std::atomic<uint64_t> joined{0};    // joined an outstanding question
    std::atomic<uint64_t> literals{0};  // IP addresses as names, names of the hosts file, names for a proxy
    std::atomic<uint64_t> refused{0};   // at max_waiting
  };
  const Counters& counters() const { return counters_; }

  // REQUIRES: Stop was not called.
  void Resolve(ResolveTask&& task);
  // Ends every question in kCancelled and joins the thread. A second call does nothing.
  void Stop();

 private:
  Resolver(const ResolverOptions& options, OnResolved on_resolved, std::unique_ptr<EventLoop> loop);

  void TakeMail();
  void Take(ResolveTask&& task);
  // The answers that need no name server.
  std::optional<DnsFact> FactWithoutAsking(const std::string& name, int64_t now_ns);
  bool Allowed(const Address& address) const;
  void AskWaiting();
  void OnAnswer(const std::string& name, const DnsAnswer& answer);
  DnsFact FactOf(const DnsAnswer& answer, int64_t now_ns) const;
  void Tell(uint64_t host, const DnsFact& fact, int64_t now_ns, bool fresh);
  void Tell(uint64_t host, FetchOutcome outcome);
  void CancelAll();

  const ResolverOptions options_;
  const OnResolved on_resolved_;
  const std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<DnsChannel> channel_;
  Mailbox<ResolveTask> mail_;
  HostsFile hosts_;
  DnsCache cache_;
  Counters counters_;
  std::map<std::string, std::vector<uint64_t>>
      asked_;                        // hosts that wait for a name whose question waits or is outstanding
  std::deque<std::string> waiting_;  // names whose question is not sent yet
  size_t waiting_hosts_ = 0;         // in asked_
  bool asking_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace portolan
