#include "fetch/resolver.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace portolan {

Result<std::unique_ptr<Resolver>> Resolver::Create(const ResolverOptions& options, OnResolved on_resolved) {
  if (options.max_outstanding == 0 || options.max_addresses == 0 || options.min_ttl_s > options.max_ttl_s) {
    return Fail(ErrorCode::kInvalidArgument, "resolver: a bound of 0, or min_ttl above max_ttl");
  }
  ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Create());
  std::unique_ptr<Resolver> made(new Resolver(options, std::move(on_resolved), std::move(loop)));
  ASSIGN_OR_RETURN(made->channel_,
                   DnsChannel::Create(*made->loop_, made->options_,
                                      [self = made.get()](const std::string& name, const DnsAnswer& answer) {
                                        self->OnAnswer(name, answer);
                                      }));
  made->thread_ = std::thread([self = made.get()] {
    pthread_setname_np(pthread_self(), "resolve");
    self->loop_->Run();
  });
  return made;
}

Resolver::Resolver(const ResolverOptions& options, OnResolved on_resolved, std::unique_ptr<EventLoop> loop)
    : options_(options),
      on_resolved_(std::move(on_resolved)),
      loop_(std::move(loop)),
      mail_(UINT64_MAX, [this] { loop_->Post([this] { TakeMail(); }); }),
      hosts_(options.hosts_file),
      cache_(options.cache_entries) {}

Resolver::~Resolver() { Stop(); }

void Resolver::Resolve(ResolveTask&& task) { CHECK(mail_.Send(std::move(task)), "a question after the end"); }

void Resolver::Stop() {
  if (!thread_.joinable()) return;
  loop_->Post([this] {
    CancelAll();
    loop_->Stop();
  });
  thread_.join();
}

void Resolver::TakeMail() {
  for (ResolveTask& task : mail_.TryTake()) {
    if (stopping_) {
      Tell(task.host, FetchOutcome::kCancelled);
    } else {
      Take(std::move(task));
    }
  }
  AskWaiting();
}

bool Resolver::Allowed(const Address& address) const {
  return address.known() && (options_.allow_private || address.IsPublic());
}

std::optional<DnsFact> Resolver::FactWithoutAsking(const std::string& name, int64_t now_ns) {
  if (const auto literal = Address::Parse(name)) {
    return FactOf({.outcome = FetchOutcome::kAnswered, .addresses = {*literal}, .ttl_s = options_.max_ttl_s}, now_ns);
  }
  // Asked for again after min_ttl: the file may change.
  DnsAnswer here{.outcome = FetchOutcome::kAnswered, .addresses = {}, .ttl_s = options_.min_ttl_s};
  const auto add = [&](const Address& address) {
    if (options_.families == (address.v6 ? AddressFamilies::kV4Only : AddressFamilies::kV6Only)) return;
    here.addresses.push_back(address);
  };
  const std::vector<Address>* listed = options_.names_by_proxy ? nullptr : hosts_.Find(name, now_ns);
  if (listed != nullptr) std::ranges::for_each(*listed, add);
  if (here.addresses.empty() && IsLocalhost(name)) {
    add(*Address::Parse("127.0.0.1"));
    add(*Address::Parse("::1"));
  }
  std::optional<DnsFact> fact;
  if (!here.addresses.empty()) fact = FactOf(here, now_ns);
  if (options_.names_by_proxy && (!fact || fact->outcome == FetchOutcome::kAnswered)) {
    fact = DnsFact{.outcome = FetchOutcome::kAnswered,
                   .addresses = {Address::Unresolved(name, options_.key)},
                   .expires_ns = now_ns + options_.min_ttl_s * kSecond};
  }
  return fact;
}

void Resolver::Take(ResolveTask&& task) {
  const int64_t now = options_.clock->NowNs();
  if (const auto fact = FactWithoutAsking(task.name, now)) {
    ++counters_.literals;
    Tell(task.host, *fact, now, /*fresh=*/false);
    return;
  }
  const DnsFact* known = task.anew ? nullptr : cache_.Find(task.name, now);
  if (known != nullptr) {
    ++counters_.cached;
    Tell(task.host, *known, now, /*fresh=*/false);
    return;
  }
  if (waiting_hosts_ >= options_.max_waiting) {
    ++counters_.refused;
    Tell(task.host, FetchOutcome::kLocal);
    return;
  }
  ++waiting_hosts_;
  std::vector<uint64_t>& hosts = asked_[task.name];
  hosts.push_back(task.host);
  if (hosts.size() == 1) {
    waiting_.push_back(std::move(task.name));
  } else {
    ++counters_.joined;
  }
}

void Resolver::AskWaiting() {
  if (asking_) return;  // a name that c-ares refuses is answered from inside Ask
  asking_ = true;
  while (!stopping_ && !waiting_.empty() && channel_->outstanding() < options_.max_outstanding) {
    const std::string name = std::move(waiting_.front());
    waiting_.pop_front();
    ++counters_.asked;
    channel_->Ask(name);
  }
  asking_ = false;
}

DnsFact Resolver::FactOf(const DnsAnswer& answer, int64_t now_ns) const {
  DnsFact fact;
  fact.outcome = answer.outcome;
  uint32_t ttl = 0;
  switch (answer.outcome) {
    case FetchOutcome::kAnswered: {
      for (const Address& address : answer.addresses) {
        if (Allowed(address)) fact.addresses.push_back(address);
      }
      const bool v6_first = options_.families == AddressFamilies::kV6First;
      std::stable_partition(fact.addresses.begin(), fact.addresses.end(),
                            [&](const Address& address) { return address.v6 == v6_first; });
      if (fact.addresses.size() > options_.max_addresses) fact.addresses.resize(options_.max_addresses);
      ttl = std::clamp(answer.ttl_s, options_.min_ttl_s, options_.max_ttl_s);
      if (fact.addresses.empty()) {
        fact.outcome = FetchOutcome::kAddressForbidden;
        ttl = options_.negative_ttl_s;
      }
      break;
    }
    case FetchOutcome::kDnsNotFound:
      ttl = options_.negative_ttl_s;
      break;
    default:
      ttl = options_.failure_ttl_s;
      break;
  }
  fact.expires_ns = now_ns + ttl * kSecond;
  return fact;
}

void Resolver::OnAnswer(const std::string& name, const DnsAnswer& answer) {
  const auto found = asked_.find(name);
  CHECK(found != asked_.end());
  const std::vector<uint64_t> hosts = std::move(found->second);
  asked_.erase(found);
  waiting_hosts_ -= hosts.size();
  const int64_t now = options_.clock->NowNs();
  const DnsFact fact = FactOf(answer, now);
  // Our own faults say nothing about the name.
  if (FollowOf(answer.outcome, 0).retry != Retry::kNow) cache_.Put(name, fact);
  for (const uint64_t host : hosts) Tell(host, fact, now, /*fresh=*/true);
  AskWaiting();
}

void Resolver::Tell(uint64_t host, const DnsFact& fact, int64_t now_ns, bool fresh) {
  // Rounded up: an answer that is valid for another half second must not get 0 seconds.
  const int64_t left = std::max<int64_t>(0, fact.expires_ns - now_ns);
  on_resolved_({.host = host,
                .outcome = fact.outcome,
                .addresses = fact.addresses,
                .ttl_s = static_cast<uint32_t>((left + kSecond - 1) / kSecond),
                .fresh = fresh});
}

void Resolver::Tell(uint64_t host, FetchOutcome outcome) {
  on_resolved_({.host = host, .outcome = outcome, .addresses = {}, .ttl_s = 0, .fresh = false});
}

void Resolver::CancelAll() {
  stopping_ = true;
  mail_.Close();
  TakeMail();
  waiting_.clear();
  channel_->CancelAll();
  for (const auto& [name, hosts] : std::exchange(asked_, {})) {
    for (const uint64_t host : hosts) Tell(host, FetchOutcome::kCancelled);
  }
  waiting_hosts_ = 0;
}

}  // namespace portolan
