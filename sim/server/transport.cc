#include "sim/server/transport.h"

#include <openssl/err.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace portolan::sim {

Transport::Transport(OwnedFd fd, SSL* ssl) : fd_(std::move(fd)), ssl_(ssl) {
  if (ssl_) {
    SSL_set_fd(ssl_.get(), fd_.get());
    SSL_set_accept_state(ssl_.get());
  }
}

ssize_t Transport::SslResult(int result) {
  if (result > 0) return result;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return kWantRead;
    case SSL_ERROR_WANT_WRITE:
      return kWantWrite;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    default:
      broken_ = true;
      return kGone;
  }
}

ssize_t Transport::Handshake() {
  if (!ssl_) return 1;
  ERR_clear_error();
  return SslResult(SSL_do_handshake(ssl_.get()));
}

bool Transport::negotiated_h2() const {
  if (!ssl_) return false;
  const unsigned char* name = nullptr;
  unsigned int size = 0;
  SSL_get0_alpn_selected(ssl_.get(), &name, &size);
  return std::string_view(reinterpret_cast<const char*>(name), size) == "h2";
}

ssize_t Transport::Read(char* to, size_t size) {
  if (ssl_) {
    ERR_clear_error();
    return SslResult(SSL_read(ssl_.get(), to, static_cast<int>(std::min<size_t>(size, INT_MAX))));
  }
  for (;;) {
    const ssize_t count = ::recv(fd_.get(), to, size, 0);
    if (count >= 0) return count;
    if (errno == EAGAIN) return kWantRead;
    if (errno != EINTR) return kGone;
  }
}

ssize_t Transport::Write(std::string_view bytes, std::string_view then) {
  if (ssl_) {
    const std::string_view first = bytes.empty() ? then : bytes;
    ERR_clear_error();
    const ssize_t count =
        SslResult(SSL_write(ssl_.get(), first.data(), static_cast<int>(std::min<size_t>(first.size(), INT_MAX))));
    return count == 0 ? kGone : count;
  }
  iovec parts[2] = {{const_cast<char*>(bytes.data()), bytes.size()}, {const_cast<char*>(then.data()), then.size()}};
  msghdr message{};
  message.msg_iov = bytes.empty() ? parts + 1 : parts;
  message.msg_iovlen = bytes.empty() || then.empty() ? 1 : 2;
  for (;;) {
    const ssize_t count = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (count >= 0) return count;
    if (errno == EAGAIN) return kWantWrite;
    if (errno != EINTR) return kGone;
  }
}

void Transport::ShutdownWrite() {
  if (ssl_ && !broken_ && SSL_is_init_finished(ssl_.get())) {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
  }
  ::shutdown(fd_.get(), SHUT_WR);
}

void Transport::Reset() {
  const linger hard = {.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  Close();
}

void Transport::Close() {
  ssl_.reset();
  fd_.Reset();
}

}  // namespace portolan::sim
