// TlsGoodbye: whether the server ended a TLS connection itself (close_notify), or TCP just ended.
//
// A body that lasts until the end of the connection is whole only in the first case: anyone on the network path can end
// TCP (RFC 8446 section 6.1). libcurl accepts either end as the body's, and has closed the connection before it reports
// it; OpenSSL reports the alert when it arrives.
//
// Thread: one owner, the loop whose connection it is. Invariant: only the connection that was watched last is reported.

#pragma once

#include <openssl/ssl.h>

namespace portolan {

class TlsGoodbye {
 public:
  TlsGoodbye() = default;
  TlsGoodbye(const TlsGoodbye&) = delete;
  TlsGoodbye& operator=(const TlsGoodbye&) = delete;

  // Makes connections of this context report close_notify.
  static void Attach(SSL_CTX* context);

  // Watches this connection from now on; null: none. REQUIRES: this outlives it.
  void Watch(SSL* connection);
  bool heard() const { return heard_; }

 private:
  static void OnMessage(int sent, int version, int type, const void* bytes, size_t size, SSL* connection, void* none);

  const SSL* connection_ = nullptr;
  bool heard_ = false;
};

}  // namespace portolan
