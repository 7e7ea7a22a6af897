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

constexpr int64_t kShortestDnsTick = 10 * kMillisecond;
constexpr int64_t kLongestDnsTick = 200 * kMillisecond;

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
    case ARES_EBADNAME:  // not a valid DNS name
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

// c-ares reports "no server" also when it could not make a socket.
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

DnsChannel::Line::~Line() {
  if (channel != nullptr) ares_destroy(channel);
}

Result<std::unique_ptr<DnsChannel>> DnsChannel::Create(EventLoop& loop, const ResolverOptions& options,
                                                       OnAnswer on_answer) {
  if (!StartAres()) return Fail(ErrorCode::kUnsupported, "c-ares does not start");
  std::unique_ptr<DnsChannel> made(new DnsChannel(loop, options, std::move(on_answer)));
  // The first line shows whether c-ares takes the options.
  ASSIGN_OR_RETURN(auto first, made->MakeLine());
  made->free_.push_back(std::move(first));
  return made;
}

Result<std::unique_ptr<DnsChannel::Line>> DnsChannel::MakeLine() {
  auto line = std::make_unique<Line>(*this);
  ares_options settings{};
  char dns_only[] = "b";  // the resolver reads the hosts file itself
  settings.flags = ARES_FLAG_NOSEARCH;
  settings.timeout = static_cast<int>(std::max<int64_t>(1, options_.timeout_ns / kMillisecond));
  settings.tries = std::max(1, options_.tries);
  settings.lookups = dns_only;
  settings.sock_state_cb = OnSocketState;
  settings.sock_state_cb_data = line.get();
  settings.ndomains = 0;
  int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB |
             ARES_OPT_DOMAINS | (options_.servers.size() > 1 ? ARES_OPT_ROTATE : ARES_OPT_NOROTATE);
  // The first line reads the system's settings, the others have its servers: reading takes longer than asking, and a
  // file that cannot be opened because descriptors are short would silently mean a server on this machine.
  if (servers_ != nullptr) mask |= ARES_OPT_SERVERS | ARES_OPT_SORTLIST | ARES_OPT_NDOTS;
  if (const int status = ares_init_options(&line->channel, &settings, mask); status != ARES_SUCCESS) {
    line->channel = nullptr;
    return Fail(ErrorCode::kUnsupported, fmt::format("c-ares: {}", ares_strerror(status)));
  }
  int status = ARES_SUCCESS;
  if (servers_ != nullptr) {
    status = ares_set_servers_ports(line->channel, servers_);
  } else {
    const std::string list = fmt::format("{}", fmt::join(options_.servers, ","));
    if (!list.empty()) status = ares_set_servers_ports_csv(line->channel, list.c_str());
    if (status != ARES_SUCCESS) {
      return Fail(ErrorCode::kInvalidArgument, fmt::format("DNS servers \"{}\": {}", list, ares_strerror(status)));
    }
    status = ares_get_servers_ports(line->channel, &servers_);
  }
  if (status != ARES_SUCCESS) return Fail(ErrorCode::kUnsupported, fmt::format("c-ares: {}", ares_strerror(status)));
  return line;
}

DnsChannel::~DnsChannel() {
  busy_.clear();
  free_.clear();
  if (servers_ != nullptr) ares_free_data(servers_);
  for (const auto& [fd, watch] : watches_) loop_.Cancel(watch);
  loop_.Cancel(ticking_);
}

void DnsChannel::Ask(const std::string& name) {
  if (ticking_ == EventLoop::Id{}) {
    const int64_t tick = std::clamp(options_.timeout_ns / 8, kShortestDnsTick, kLongestDnsTick);
    ticking_ = loop_.AddTimer(tick, [this] { Tick(); }, tick);
  }
  if (free_.empty()) {
    auto made = MakeLine();
    if (!made) {
      const FetchOutcome ours = OutOfDescriptors() ? FetchOutcome::kShortage : FetchOutcome::kLocal;
      return on_answer_(name, {.outcome = ours, .addresses = {}, .ttl_s = 0});
    }
    free_.push_back(*std::move(made));
  }
  Line& line = *free_.back();
  busy_.emplace(&line, std::move(free_.back()));
  free_.pop_back();
  ++outstanding_;
  line.name = name;
  line.asked = true;
  ares_addrinfo_hints hints{};
  hints.ai_family = FamilyOf(options_.families);
  hints.ai_flags = ARES_AI_NOSORT;
  ares_getaddrinfo(line.channel, line.name.c_str(), nullptr, &hints, OnResult, &line);
  Settle(line);
}

void DnsChannel::Settle(Line& line) {
  if (line.asked) return;
  const auto found = busy_.find(&line);
  if (found == busy_.end()) return;
  if (free_.size() < kIdleLines) free_.push_back(std::move(found->second));
  busy_.erase(found);
}

void DnsChannel::CancelAll() {
  std::vector<Line*> lines;
  for (const auto& [line, owned] : busy_) lines.push_back(line);
  for (Line* line : lines) {
    ares_cancel(line->channel);
    Settle(*line);
  }
}

void DnsChannel::OnResult(void* asked, int status, int /*timeouts*/, ares_addrinfo* result) {
  Line& line = *static_cast<Line*>(asked);
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
  line.owner.Answer(line, answer);
}

void DnsChannel::Answer(Line& line, const DnsAnswer& answer) {
  line.asked = false;
  --outstanding_;
  on_answer_(std::string(std::move(line.name)), answer);
}

void DnsChannel::OnSocketState(void* line, int fd, int readable, int writable) {
  Line& of = *static_cast<Line*>(line);
  of.owner.Watch(of, fd, readable != 0, writable != 0);
}

void DnsChannel::Watch(Line& line, int fd, bool read, bool write) {
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
  auto watch = loop_.WatchFd(fd, read, write, [this, of = &line, fd](EventLoop::Readiness ready) {
    // A socket in error is reported as readable and writable: c-ares finds the error by reading or writing, and closes
    // it.
    if (ready.failed) watches_.erase(fd);
    ares_process_fd(of->channel, ready.readable || ready.failed ? fd : ARES_SOCKET_BAD,
                    ready.writable || ready.failed ? fd : ARES_SOCKET_BAD);
    Settle(*of);
  });
  if (watch) watches_[fd] = *watch;
}

void DnsChannel::Tick() {
  std::vector<Line*> lines;
  for (const auto& [line, owned] : busy_) lines.push_back(line);
  for (Line* line : lines) {
    ares_process_fd(line->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    Settle(*line);
  }
  if (outstanding_ > 0) return;
  loop_.Cancel(ticking_);
  ticking_ = {};
}

}  // namespace portolan
