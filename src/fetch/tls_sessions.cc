#include "fetch/tls_sessions.h"

#include "base/check.h"

namespace portolan {
namespace {

int ContextIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

}  // namespace

void TlsSessions::Attach(SSL_CTX* context) {
  if (max_sessions_ == 0) return;
  CHECK(SSL_CTX_set_ex_data(context, ContextIndex(), this) == 1);
  SSL_CTX_clear_options(context, SSL_OP_NO_TICKET);  // libcurl sets it; TLS 1.2 hardly resumes without tickets
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, OnNewSession);
  SSL_CTX_set_info_callback(context, OnState);
}

TlsSessions* TlsSessions::Of(const SSL* ssl) {
  return static_cast<TlsSessions*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ContextIndex()));
}

int TlsSessions::OnNewSession(SSL* ssl, SSL_SESSION* session) {
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  TlsSessions* sessions = Of(ssl);
  if (name == nullptr || sessions == nullptr) return 0;
  sessions->Keep(name, session);
  return 1;  // the reference is ours now
}

// The first point at which the name is known and the ClientHello is not yet written.
void TlsSessions::OnState(const SSL* ssl, int where, int /*value*/) {
  if (where != SSL_CB_HANDSHAKE_START || SSL_get_session(ssl) != nullptr) return;
  const char* name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  TlsSessions* sessions = Of(ssl);
  if (name == nullptr || sessions == nullptr) return;
  SSL_SESSION* session = sessions->Find(name);
  // The callback's type says const because it is meant for watching; OpenSSL itself hands over the live object.
  if (session != nullptr) SSL_set_session(const_cast<SSL*>(ssl), session);
}

void TlsSessions::Keep(std::string name, SSL_SESSION* session) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) {
    found->second->session.reset(session);
    used_.splice(used_.begin(), used_, found->second);
    return;
  }
  if (by_name_.size() >= max_sessions_) {
    by_name_.erase(used_.back().name);
    used_.pop_back();
  }
  used_.emplace_front(Kept{name, std::unique_ptr<SSL_SESSION, Free>(session)});
  by_name_.emplace(std::move(name), used_.begin());
}

SSL_SESSION* TlsSessions::Find(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  used_.splice(used_.begin(), used_, found->second);
  return SSL_SESSION_is_resumable(found->second->session.get()) == 1 ? found->second->session.get() : nullptr;
}

}  // namespace portolan
