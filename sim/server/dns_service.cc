#include "sim/server/dns_service.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace portolan::sim {
namespace {

constexpr size_t kMostMessage = 0xffff;
constexpr int kRound = 256;  // datagrams or connections before others have their turn

uint64_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

}  // namespace

std::optional<DnsService::Reply> DnsService::Answer(std::string_view packet, bool datagram) {
  const auto query = ParseDnsQuery(packet);
  if (!query) return std::nullopt;
  DnsAnswer answer;
  DnsRcode rcode = query->verdict;
  if (rcode == DnsRcode::kNoError) {
    answer = context_.site.Resolve(query->name);
    if (answer.fault == DnsFault::kNotFound) rcode = DnsRcode::kNxDomain;
    if (answer.fault == DnsFault::kServFail) rcode = DnsRcode::kServFail;
  }
  const bool silent = answer.fault == DnsFault::kSilent;
  if (context_.hits != nullptr) {
    context_.hits->OnDns(context_.clock.UnixNs(), query->name, DnsTypeName(query->type),
                         silent ? -1 : static_cast<int>(rcode));
  }
  Reply reply;
  if (!silent) {
    reply.bytes = EncodeDnsAnswer(*query, rcode, &answer, datagram ? query->udp_bytes : kMostMessage);
    if (answer.fault == DnsFault::kSlow) reply.delay_ns = answer.delay_ns;
  }
  return reply;
}

bool DnsService::MayWait() {
  if (waiting_ < kMostWaiting) return true;
  ++hurried_;
  return false;
}

// One UDP socket.
class DnsService::Datagrams : public EventSource {
 public:
  Datagrams(DnsService& service, int fd) : service_(service), fd_(fd) {
    service_.context_.poller.Add(fd_, EPOLLIN, this);
  }
  ~Datagrams() override {
    service_.context_.poller.ClearTimer(this);
    service_.context_.poller.Remove(fd_);
  }

  void OnReady(uint32_t) override {
    for (int i = 0; i < kRound; ++i) {
      Peer peer;
      iovec part = {service_.context_.scratch.data(), service_.context_.scratch.size()};
      msghdr message{};
      message.msg_name = peer.client.get();
      message.msg_namelen = sizeof peer.client.storage;
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = peer.control;
      message.msg_controllen = sizeof peer.control;
      const ssize_t count = ::recvmsg(fd_, &message, 0);
      if (count < 0) {
        if (errno == EINTR) continue;
        return;
      }
      peer.client.size = message.msg_namelen;
      peer.control_bytes = message.msg_controllen;
      if (!CameToLoopback(message)) continue;
      auto reply = service_.Answer({service_.context_.scratch.data(), static_cast<size_t>(count)}, /*datagram=*/true);
      if (!reply || reply->bytes.empty()) continue;
      if (reply->delay_ns > 0 && service_.MayWait()) {
        ++service_.waiting_;
        peer.bytes = std::move(reply->bytes);
        waiting_.emplace(service_.context_.poller.now_ns() + reply->delay_ns, std::move(peer));
        service_.context_.poller.SetTimer(this, waiting_.begin()->first);
      } else {
        Send(peer, reply->bytes);
      }
    }
  }

  void OnTimer() override {
    while (!waiting_.empty() && waiting_.begin()->first <= service_.context_.poller.now_ns()) {
      Send(waiting_.begin()->second, waiting_.begin()->second.bytes);
      waiting_.erase(waiting_.begin());
      --service_.waiting_;
    }
    if (!waiting_.empty()) service_.context_.poller.SetTimer(this, waiting_.begin()->first);
  }

 private:
  // Who asked, and at which of our addresses: the control message of the question is that of the answer.
  struct Peer {
    SocketAddress client;
    alignas(cmsghdr) char control[128] = {};
    size_t control_bytes = 0;
    std::string bytes;  // the answer, while it waits
  };

  // Also makes the control message one for sending.
  static bool CameToLoopback(msghdr& message) {
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
      SocketAddress local;
      if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
        auto* info = reinterpret_cast<in_pktinfo*>(CMSG_DATA(c));
        auto* v4 = reinterpret_cast<sockaddr_in*>(&local.storage);
        v4->sin_family = AF_INET;
        v4->sin_addr = info->ipi_addr;
        info->ipi_spec_dst = info->ipi_addr;
        info->ipi_ifindex = 0;
        return IsLoopbackAddress(local);
      }
      if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
        const auto* info = reinterpret_cast<const in6_pktinfo*>(CMSG_DATA(c));
        auto* v6 = reinterpret_cast<sockaddr_in6*>(&local.storage);
        v6->sin6_family = AF_INET6;
        v6->sin6_addr = info->ipi6_addr;
        return IsLoopbackAddress(local);
      }
    }
    return false;
  }

  // A full socket buffer loses the answer, as on a real network.
  void Send(Peer& peer, std::string& bytes) const {
    iovec part = {bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_name = peer.client.get();
    message.msg_namelen = peer.client.size;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = peer.control;
    message.msg_controllen = peer.control_bytes;
    static_cast<void>(::sendmsg(fd_, &message, MSG_NOSIGNAL));
  }

  DnsService& service_;
  const int fd_;
  std::multimap<int64_t, Peer> waiting_;
};

// One TCP client: two bytes of length before each message; one question at a time.
class DnsService::Client : public EventSource {
 public:
  Client(DnsService& service, OwnedFd fd) : service_(service), fd_(std::move(fd)) {
    service_.clients_.insert(this);
    service_.context_.poller.SetTimer(this, service_.context_.poller.now_ns() + kIdleNs);
    if (!service_.context_.poller.Add(fd_.get(), EPOLLIN | EPOLLRDHUP, this)) Close();
  }

  void OnReady(uint32_t events) override {
    if ((events & (EPOLLERR | EPOLLHUP)) != 0) return Close();
    if (waiting_) {
      if ((events & EPOLLRDHUP) != 0) Close();
      return;
    }
    if (!output_.empty()) {
      if (!Flush() || !output_.empty()) return;
    }
    char* scratch = service_.context_.scratch.data();
    const ssize_t count = ::recv(fd_.get(), scratch, service_.context_.scratch.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return Close();
    input_.append(scratch, static_cast<size_t>(count));
    service_.context_.poller.SetTimer(this, service_.context_.poller.now_ns() + kIdleNs);
    Serve();
  }

  void OnTimer() override {
    if (!waiting_) return Close();  // idle
    waiting_ = false;
    --service_.waiting_;
    service_.context_.poller.SetTimer(this, service_.context_.poller.now_ns() + kIdleNs);
    if (Flush() && output_.empty()) Serve();
  }

  void Close() {
    if (!fd_) return;
    service_.context_.poller.Remove(fd_.get());  // before closing: a forked process may hold it too
    fd_.Reset();
    if (waiting_) --service_.waiting_;
    service_.clients_.erase(this);
    service_.context_.poller.Retire(std::unique_ptr<EventSource>(this));
  }

 private:
  void Serve() {
    while (fd_ && input_.size() >= 2) {
      const size_t size = ByteAt(input_, 0) << 8 | ByteAt(input_, 1);
      if (input_.size() - 2 < size) break;
      auto reply = service_.Answer(std::string_view(input_).substr(2, size), /*datagram=*/false);
      input_.erase(0, 2 + size);
      if (!reply) return Close();
      if (reply->bytes.empty()) continue;
      output_ += static_cast<char>(reply->bytes.size() >> 8);
      output_ += static_cast<char>(reply->bytes.size() & 255);
      output_ += reply->bytes;
      if (reply->delay_ns > 0 && service_.MayWait()) {
        waiting_ = true;
        ++service_.waiting_;
        service_.context_.poller.SetTimer(this, service_.context_.poller.now_ns() + reply->delay_ns);
        SetInterest(EPOLLRDHUP);
        return;
      }
      if (!Flush() || !output_.empty()) return;
    }
    if (fd_) SetInterest(EPOLLIN | EPOLLRDHUP);
  }

  // False when the client is gone.
  bool Flush() {
    while (!output_.empty()) {
      const ssize_t count = ::send(fd_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
      if (count >= 0) {
        output_.erase(0, static_cast<size_t>(count));
      } else if (errno == EAGAIN) {
        SetInterest(EPOLLOUT);
        return true;
      } else if (errno != EINTR) {
        Close();
        return false;
      }
    }
    return true;
  }

  void SetInterest(uint32_t events) { service_.context_.poller.Modify(fd_.get(), events, this); }

  DnsService& service_;
  OwnedFd fd_;
  std::string input_;
  std::string output_;
  bool waiting_ = false;  // for a slow answer's time
};

class DnsService::Listener : public EventSource {
 public:
  Listener(DnsService& service, int fd) : service_(service), fd_(fd) {
    HandleLate();
    service_.context_.poller.Add(fd_, EPOLLIN, this);
  }
  ~Listener() override { service_.context_.poller.Remove(fd_); }

  void OnReady(uint32_t) override {
    for (int i = 0; i < kRound; ++i) {
      OwnedFd client(::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!client) return;
      SocketAddress local;
      if (service_.clients_.size() >= kMostClients || ::getsockname(client.get(), local.get(), &local.size) != 0 ||
          !IsLoopbackAddress(local)) {
        continue;
      }
      new Client(service_, std::move(client));  // owns itself until Close
    }
  }

 private:
  DnsService& service_;
  const int fd_;
};

DnsService::DnsService(ServerContext& context, const BoundPort& port) : context_(context) {
  for (const OwnedFd& fd : port.datagrams) datagrams_.push_back(std::make_unique<Datagrams>(*this, fd.get()));
  for (const OwnedFd& fd : port.streams) listeners_.push_back(std::make_unique<Listener>(*this, fd.get()));
}

DnsService::~DnsService() {
  listeners_.clear();
  const std::vector<Client*> clients(clients_.begin(), clients_.end());
  for (Client* client : clients) client->Close();
}

}  // namespace portolan::sim
