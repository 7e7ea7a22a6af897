// TlsSessions: TLS sessions of hosts seen before, so that the next handshake is a short one (RFC 8446 section 2.2).
//
// libcurl's own cache holds a handful of sessions and searches them one by one; a crawler connects to thousands of
// hosts. This one uses OpenSSL's callbacks instead: a session from a server is kept under the host name (SNI), and used
// when the next handshake with that name begins. Certificates and host names are checked as always.
//
// Thread: one owner, the loop whose connections use it. Memory bound: `max_sessions`, about 2 KiB each with a
// certificate of common size; the least recently used session is dropped. Names are ordered, not hashed, because
// outsiders choose them.

#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace portolan {

class TlsSessions {
 public:
  explicit TlsSessions(size_t max_sessions) : max_sessions_(max_sessions) {}
  TlsSessions(const TlsSessions&) = delete;
  TlsSessions& operator=(const TlsSessions&) = delete;

  // Makes connections of this context use the cache. REQUIRES: this outlives them.
  void Attach(SSL_CTX* context);

  size_t size() const { return by_name_.size(); }

 private:
  struct Free {
    void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
  };
  struct Kept {
    std::string name;
    std::unique_ptr<SSL_SESSION, Free> session;
  };

  static TlsSessions* Of(const SSL* ssl);
  static int OnNewSession(SSL* ssl, SSL_SESSION* session);
  static void OnState(const SSL* ssl, int where, int value);
  void Keep(std::string name, SSL_SESSION* session);
  SSL_SESSION* Find(const std::string& name);

  const size_t max_sessions_;
  std::list<Kept> used_;  // most recently used first
  std::map<std::string, std::list<Kept>::iterator> by_name_;
};

}  // namespace portolan
