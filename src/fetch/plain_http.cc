#include "fetch/plain_http.h"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fetch/forget_unsent.h"

namespace portolan {
namespace {

// The most sockets that one turn of the loop handles, and the most pieces that it reads from one, so that the others do
// not wait long.
constexpr int kMaxReady = 64;
constexpr int kMaxReads = 4;

socklen_t SocketAddress(const Address& address, uint16_t port, sockaddr_storage& out) {
  out = {};
  if (address.v6) {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&out);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    memcpy(&v6->sin6_addr, address.bytes.data(), 16);
    return sizeof(*v6);
  }
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out);
  v4->sin_family = AF_INET;
  v4->sin_port = htons(port);
  memcpy(&v4->sin_addr, address.bytes.data(), 4);
  return sizeof(*v4);
}

}  // namespace

Result<std::unique_ptr<PlainHttp>> PlainHttp::Create(EventLoop& loop, const FetchOptions& options, OnDone on_done) {
  std::unique_ptr<PlainHttp> made(new PlainHttp(loop, options, std::move(on_done)));
  made->set_ = epoll_create1(EPOLL_CLOEXEC);
  if (made->set_ < 0) return std::unexpected(Error::FromErrno(errno, "epoll_create1"));
  ASSIGN_OR_RETURN(made->watch_, loop.WatchFd(made->set_, /*read=*/true, /*write=*/false,
                                              [self = made.get()](EventLoop::Readiness) { self->OnReady(); }));
  return made;
}

PlainHttp::~PlainHttp() {
  while (!idle_.empty()) DropIdle(idle_.begin());
  for (size_t fd = 0; fd < sockets_.size(); ++fd) {
    if (sockets_[fd].transfer != nullptr) close(static_cast<int>(fd));
  }
  loop_.Cancel(watch_);
  if (set_ >= 0) close(set_);
}

std::string PlainHttp::KeyOf(const PlainTransfer& transfer) {
  const Address& address = transfer.task().address;
  std::string key(OriginOf(transfer.task().url));
  key.append(reinterpret_cast<const char*>(address.bytes.data()), address.v6 ? 16 : 4);
  return key;
}

void PlainHttp::Start(PlainTransfer& transfer) {
  if (transfer.port() == 0) {
    transfer.Refuse(FetchOutcome::kNotHttp, "the URL has no readable port");
    return FailLater(transfer);
  }
  const int kept = options_.reuse_connections ? TakeKept(KeyOf(transfer)) : -1;
  const int fd = kept >= 0 ? kept : Connect(transfer);
  if (fd < 0) return;
  Socket& socket = sockets_[static_cast<size_t>(fd)];
  socket.transfer = &transfer;
  socket.sent = 0;
  transfer.set_socket(fd);
  if (kept < 0) return;
  transfer.OnConnected(/*kept=*/true);
  // The answer, or the error if the server is gone, is reported by the epoll set either way.
  if (Send(fd, transfer)) {
    socket.transfer = nullptr;
    CloseSocket(fd);
    FailLater(transfer);
  } else if (socket.sent < transfer.request().size()) {
    Watch(fd, EPOLLOUT, /*known=*/true);
  }
}

int PlainHttp::TakeKept(const std::string& key) {
  for (auto found = kept_.find(key); found != kept_.end(); found = kept_.find(key)) {
    const int fd = found->second->fd;
    char byte = 0;
    const bool alive = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (!alive) {
      DropIdle(found->second);
      continue;
    }
    idle_.erase(found->second);
    kept_.erase(found);
    sockets_[static_cast<size_t>(fd)].is_idle = false;
    return fd;
  }
  return -1;
}

int PlainHttp::Connect(PlainTransfer& transfer) {
  sockaddr_storage address;
  const socklen_t size = SocketAddress(transfer.task().address, transfer.port(), address);
  int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (fd < 0 && (errno == EMFILE || errno == ENFILE) && !idle_.empty()) {
    DropIdle(idle_.begin());  // frees a descriptor for the new connection
    fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  }
  if (fd < 0 || (connect(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 && errno != EINPROGRESS)) {
    transfer.OnError(errno);
    if (fd >= 0) close(fd);
    FailLater(transfer);
    return -1;
  }
  if (static_cast<size_t>(fd) >= sockets_.size()) sockets_.resize(static_cast<size_t>(fd) + 64);
  ++sockets_[static_cast<size_t>(fd)].round;
  Watch(fd, EPOLLOUT, /*known=*/false);
  return fd;
}

// A socket that cannot be watched is noticed by the fetch's own time limits.
void PlainHttp::Watch(int fd, uint32_t events, bool known) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = uint64_t{sockets_[static_cast<size_t>(fd)].round} << 32 | static_cast<uint32_t>(fd);
  epoll_ctl(set_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
}

// Out of the set: a socket in it that is not read would report its end again and again.
void PlainHttp::Unwatch(int fd) { epoll_ctl(set_, EPOLL_CTL_DEL, fd, nullptr); }

void PlainHttp::Resume(PlainTransfer& transfer) { Watch(transfer.socket(), EPOLLIN, /*known=*/false); }

void PlainHttp::OnReady() {
  std::array<epoll_event, kMaxReady> events;
  const int count = epoll_wait(set_, events.data(), kMaxReady, 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<size_t>(i)];
    const auto fd = static_cast<int>(event.data.u64 & 0xffffffff);
    const Socket& socket = sockets_[static_cast<size_t>(fd)];
    // Handling the earlier sockets may have closed this one and given its number to another.
    if (socket.round != event.data.u64 >> 32) continue;
    if (socket.is_idle) {
      DropIdle(socket.idle);  // closed, or it sent unexpected bytes
    } else if (socket.transfer != nullptr) {
      OnEvent(fd, event.events);
    }
  }
}

void PlainHttp::OnEvent(int fd, uint32_t events) {
  Socket& socket = sockets_[static_cast<size_t>(fd)];
  PlainTransfer& transfer = *socket.transfer;
  const bool asking = socket.sent < transfer.request().size();
  bool over = false;
  if (asking && (events & (EPOLLERR | EPOLLHUP)) != 0) {
    int os_error = 0;
    socklen_t size = sizeof(os_error);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &os_error, &size);
    over = os_error != 0 ? transfer.OnError(os_error) : transfer.OnClosed();
  } else if (asking) {
    if (socket.sent == 0 && transfer.connecting()) transfer.OnConnected(/*kept=*/false);
    over = Send(fd, transfer);
    if (!over && socket.sent == transfer.request().size()) Watch(fd, EPOLLIN, /*known=*/true);
  } else {
    over = Read(fd, transfer);
  }
  if (over) End(fd, transfer);
}

bool PlainHttp::Send(int fd, PlainTransfer& transfer) {
  Socket& socket = sockets_[static_cast<size_t>(fd)];
  const std::string_view left = transfer.request().substr(socket.sent);
  const ssize_t sent = send(fd, left.data(), left.size(), MSG_NOSIGNAL);
  if (sent >= 0) {
    socket.sent += static_cast<size_t>(sent);
    return false;
  }
  if (errno == EAGAIN || errno == EINTR) return false;
  return transfer.OnError(errno);
}

bool PlainHttp::Read(int fd, PlainTransfer& transfer) {
  for (int i = 0; i < kMaxReads; ++i) {
    const size_t most = transfer.MayReceive(buffer_.size());
    if (most == 0) {
      Unwatch(fd);
      return false;
    }
    const ssize_t got = recv(fd, buffer_.data(), most, 0);
    if (got > 0) {
      if (transfer.Feed({buffer_.data(), static_cast<size_t>(got)})) return true;
      // A piece that does not fill the buffer is the last for now.
      if (static_cast<size_t>(got) < most) break;
    } else if (got == 0) {
      return transfer.OnClosed();
    } else if (errno == EAGAIN || errno == EINTR) {
      break;
    } else {
      return transfer.OnError(errno);
    }
  }
  transfer.GiveBackUnused();
  return false;  // the epoll set reports the rest
}

void PlainHttp::End(int fd, PlainTransfer& transfer) {
  sockets_[static_cast<size_t>(fd)].transfer = nullptr;
  if (transfer.reusable() && options_.reuse_connections && options_.idle_connections > 0) {
    Keep(fd, KeyOf(transfer));
  } else {
    CloseSocket(fd);
  }
  on_done_(transfer);
}

void PlainHttp::Keep(int fd, std::string key) {
  if (idle_.size() >= options_.idle_connections) DropIdle(idle_.begin());
  idle_.push_back({fd, options_.clock->NowNs(), std::move(key)});
  Socket& socket = sockets_[static_cast<size_t>(fd)];
  socket.idle = std::prev(idle_.end());
  socket.is_idle = true;
  kept_.emplace(socket.idle->key, socket.idle);
}

void PlainHttp::DropIdle(IdleList::iterator idle) {
  const auto [begin, end] = kept_.equal_range(idle->key);
  kept_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == idle; }));
  const int fd = idle->fd;
  sockets_[static_cast<size_t>(fd)].is_idle = false;
  idle_.erase(idle);
  CloseSocket(fd);
}

// Closing takes it out of the set. Events that were read already belong to an older round.
void PlainHttp::CloseSocket(int fd) {
  ++sockets_[static_cast<size_t>(fd)].round;
  close(fd);
}

void PlainHttp::Abandon(PlainTransfer& transfer) {
  std::erase(failed_, &transfer);
  for (size_t fd = 0; fd < sockets_.size(); ++fd) {
    if (sockets_[fd].transfer != &transfer) continue;
    sockets_[fd].transfer = nullptr;
    ForgetUnsent(static_cast<int>(fd));
    CloseSocket(static_cast<int>(fd));
    return;
  }
}

void PlainHttp::CloseIdle(int64_t now_ns) {
  while (!idle_.empty() && now_ns - idle_.front().since_ns > options_.idle_ns) DropIdle(idle_.begin());
}

void PlainHttp::FailLater(PlainTransfer& transfer) {
  failed_.push_back(&transfer);
  if (std::exchange(failing_posted_, true)) return;
  loop_.AddTimer(0, [this] {
    failing_posted_ = false;
    for (PlainTransfer* failed : std::exchange(failed_, {})) on_done_(*failed);
  });
}

}  // namespace portolan
