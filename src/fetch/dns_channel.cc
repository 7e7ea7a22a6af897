#include "fetch/dns_channel.h"

#include <ares.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "io/clock.h"

namespace portolan {
namespace {

// Many answers come at once when a crawl begins; the system's default buffer drops some of them.
constexpr int kReceiveBuffer = 1 << 20;

constexpr int64_t kShortestTick = 10 * kMillisecond;
constexpr int64_t kLongestTick = 200 * kMillisecond;

bool StartAres() {
  static const bool good = ares_library_init(ARES_LIB_INIT_ALL) == ARES_SUCCESS;
  return good;
}

FetchOutcome OutcomeOfAres(int status) {
  switch (status) {
    case ARES_SUCCESS:
      return FetchOutcome::kAnswered;
    case ARES_ENODATA:
    case ARES_ENOTFOUND:
    case ARES_EBADNAME:  // no name that the DNS could hold
    case ARES_EBADSTR:
    case ARES_ENONAME:
      return FetchOutcome::kDnsNotFound;
    case ARES_ETIMEOUT:
      return FetchOutcome::kDnsTimeout;
    case ARES_ENOMEM:
      return FetchOutcome::kLocal;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION:
      return FetchOutcome::kCancelled;
    default:  // SERVFAIL, REFUSED, FORMERR, garbage, no server that listens
      return FetchOutcome::kDnsFailed;
  }
}

// c-ares says "no server" when it could not make a socket, too.
bool OutOfDescriptors() {
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
  close(fd);
  return false;
}

int FamilyOf(AddressFamilies families) {
  if (families == AddressFamilies::kV4Only) return AF_INET;
  return families == AddressFamilies::kV6Only ? AF_INET6 : AF_UNSPEC;
}

}  // namespace

struct DnsChannel::Question {
  DnsChannel* channel;
  std::string name;
};

Result<std::unique_ptr<DnsChannel>> DnsChannel::Create(EventLoop& loop, const ResolverOptions& options,
                                                       OnAnswer on_answer) {
  if (!StartAres()) return Fail(ErrorCode::kUnsupported, "c-ares does not start");
  std::unique_ptr<DnsChannel> made(new DnsChannel(loop, options, std::move(on_answer)));
  ares_options settings{};
  std::string lookups = options.read_hosts_file ? "fb" : "b";
  settings.flags = ARES_FLAG_NOSEARCH | ARES_FLAG_STAYOPEN;
  settings.timeout = static_cast<int>(std::max<int64_t>(1, options.timeout_ns / kMillisecond));
  settings.tries = std::max(1, options.tries);
  settings.lookups = lookups.data();
  settings.sock_state_cb = OnSocketState;
  settings.sock_state_cb_data = made.get();
  settings.socket_receive_buffer_size = kReceiveBuffer;
  settings.ndomains = 0;
  const int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB |
                   ARES_OPT_SOCK_RCVBUF | ARES_OPT_DOMAINS |
                   (options.servers.size() > 1 ? ARES_OPT_ROTATE : ARES_OPT_NOROTATE);
  if (const int status = ares_init_options(&made->channel_, &settings, mask); status != ARES_SUCCESS) {
    made->channel_ = nullptr;
    return Fail(ErrorCode::kUnsupported, fmt::format("c-ares: {}", ares_strerror(status)));
  }
  if (!options.servers.empty()) {
    const std::string list = fmt::format("{}", fmt::join(options.servers, ","));
    if (const int status = ares_set_servers_ports_csv(made->channel_, list.c_str()); status != ARES_SUCCESS) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("DNS servers \"{}\": {}", list, ares_strerror(status)));
    }
  }
  return made;
}

DnsChannel::~DnsChannel() {
  if (channel_ != nullptr) ares_destroy(channel_);
  for (const auto& [fd, watch] : watches_) loop_.Cancel(watch);
  loop_.Cancel(ticking_);
}

void DnsChannel::Ask(const std::string& name) {
  ++outstanding_;
  if (ticking_ == EventLoop::Id{}) {
    const int64_t tick = std::clamp(options_.timeout_ns / 8, kShortestTick, kLongestTick);
    ticking_ = loop_.AddTimer(tick, [this] { Tick(); }, tick);
  }
  ares_addrinfo_hints hints{};
  hints.ai_family = FamilyOf(options_.families);
  hints.ai_flags = ARES_AI_NOSORT;
  auto* question = new Question{this, name};  // freed by OnResult, which always comes
  ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, OnResult, question);
}

void DnsChannel::CancelAll() { ares_cancel(channel_); }

void DnsChannel::OnResult(void* question, int status, int /*timeouts*/, ares_addrinfo* result) {
  const std::unique_ptr<Question> asked(static_cast<Question*>(question));
  DnsAnswer answer;
  answer.outcome = OutcomeOfAres(status);
  if (answer.outcome == FetchOutcome::kDnsFailed && OutOfDescriptors()) answer.outcome = FetchOutcome::kShortage;
  if (result != nullptr) {
    int64_t ttl = INT32_MAX;
    for (const ares_addrinfo_node* node = result->nodes; node != nullptr; node = node->ai_next) {
      Address address;
      if (node->ai_family == AF_INET) {
        sockaddr_in in{};
        std::memcpy(&in, node->ai_addr, sizeof(in));
        std::memcpy(address.bytes.data(), &in.sin_addr, 4);
      } else if (node->ai_family == AF_INET6) {
        sockaddr_in6 in{};
        std::memcpy(&in, node->ai_addr, sizeof(in));
        address = Address::V6(std::span<const uint8_t, 16>(in.sin6_addr.s6_addr));
      } else {
        continue;
      }
      ttl = std::min<int64_t>(ttl, std::max(0, node->ai_ttl));
      answer.addresses.push_back(address);
    }
    for (const ares_addrinfo_cname* alias = result->cnames; alias != nullptr; alias = alias->next) {
      ttl = std::min<int64_t>(ttl, std::max(0, alias->ttl));
    }
    answer.ttl_s = static_cast<uint32_t>(ttl);
    ares_freeaddrinfo(result);
    if (answer.outcome == FetchOutcome::kAnswered && answer.addresses.empty()) {
      answer.outcome = FetchOutcome::kDnsNotFound;
    }
  }
  --asked->channel->outstanding_;
  asked->channel->on_answer_(asked->name, answer);
}

void DnsChannel::OnSocketState(void* self, int fd, int readable, int writable) {
  static_cast<DnsChannel*>(self)->Watch(fd, readable != 0, writable != 0);
}

void DnsChannel::Watch(int fd, bool read, bool write) {
  const auto known = watches_.find(fd);
  if (!read && !write) {
    if (known == watches_.end()) return;
    loop_.Cancel(known->second);
    watches_.erase(known);
    return;
  }
  if (known != watches_.end()) {
    if (loop_.ChangeWatch(known->second, read, write)) return;
    watches_.erase(known);
  }
  auto watch = loop_.WatchFd(fd, read, write, [this, fd](EventLoop::Readiness ready) {
    // A socket in error is both to c-ares: it finds the error by reading or writing, and closes it.
    if (ready.failed) watches_.erase(fd);
    ares_process_fd(channel_, ready.readable || ready.failed ? fd : ARES_SOCKET_BAD,
                    ready.writable || ready.failed ? fd : ARES_SOCKET_BAD);
  });
  if (watch) watches_[fd] = *watch;
}

void DnsChannel::Tick() {
  ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  if (outstanding_ > 0) return;
  loop_.Cancel(ticking_);
  ticking_ = {};
}

}  // namespace portolan
