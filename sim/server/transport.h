// Transport: the bytes of one accepted connection, plain or through TLS, never blocking.
//
// Thread: one owner. Memory bound: for TLS about 10 KiB of OpenSSL's own state per connection; idle buffers are
// released.

#pragma once

#include <openssl/ssl.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "sim/server/loopback_socket.h"

namespace portolan::sim {

class Transport {
 public:
  // What Read, Write and Handshake give when it is not a number of bytes.
  static constexpr ssize_t kWantRead = -1;   // call again when the socket is readable
  static constexpr ssize_t kWantWrite = -2;  // … writable
  static constexpr ssize_t kGone = -3;       // reset, or a failure of TLS

  // With `ssl` (taken over) TLS.
  Transport(OwnedFd fd, SSL* ssl);

  int fd() const { return fd_.get(); }
  bool tls() const { return ssl_ != nullptr; }

  // 1 when done. Plain: at once.
  ssize_t Handshake();
  bool negotiated_h2() const;

  ssize_t Read(char* to, size_t size);                                // 0 at the end
  ssize_t Write(std::string_view bytes, std::string_view then = {});  // plain: both in one call

  // Sends close_notify (TLS) and FIN. The socket can still be read.
  void ShutdownWrite();
  // Closes with RST instead of FIN; whatever is in flight may be lost.
  void Reset();
  void Close();

 private:
  struct SslFree {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  ssize_t SslResult(int result);

  OwnedFd fd_;
  std::unique_ptr<SSL, SslFree> ssl_;
  bool broken_ = false;  // TLS must not be used any more, not even for goodbye
};

}  // namespace portolan::sim
