// TlsGoodbye: whether the server ended a TLS connection itself (close_notify), or TCP just ended.
//
// A body that lasts until the end of the connection is whole only in the first case: anybody on the way can end TCP
// (RFC 8446 section 6.1). libcurl takes either end for the body's, and has closed the connection before it says so;
// OpenSSL tells of the alert when it comes.
//
// Thread: one owner, the loop whose connection it is. Invariant: a connection that was watched before another tells
// nothing any more.

#pragma once

#include <openssl/ssl.h>

namespace portolan {

class TlsGoodbye {
 public:
  TlsGoodbye() = default;
  TlsGoodbye(const TlsGoodbye&) = delete;
  TlsGoodbye& operator=(const TlsGoodbye&) = delete;

  // Makes connections of this context tell of goodbyes.
  static void Attach(SSL_CTX* context);

  // From now on of this connection; null: of none. REQUIRES: this outlives it.
  void Watch(SSL* connection);
  bool heard() const { return heard_; }

 private:
  static void OnMessage(int sent, int version, int type, const void* bytes, size_t size, SSL* connection, void* none);

  const SSL* connection_ = nullptr;
  bool heard_ = false;
};

}  // namespace portolan
