#include "fetch/tls_goodbye.h"

#include "base/check.h"

namespace portolan {
namespace {

int ConnectionIndex() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

}  // namespace

void TlsGoodbye::Attach(SSL_CTX* context) { SSL_CTX_set_msg_callback(context, OnMessage); }

void TlsGoodbye::Watch(SSL* connection) {
  connection_ = connection;
  heard_ = false;
  if (connection != nullptr) CHECK(SSL_set_ex_data(connection, ConnectionIndex(), this) == 1);
}

void TlsGoodbye::OnMessage(int sent, int /*version*/, int type, const void* bytes, size_t size, SSL* connection,
                           void* /*none*/) {
  constexpr size_t kAlertBytes = 2;  // level, description
  if (sent != 0 || type != SSL3_RT_ALERT || size != kAlertBytes) return;
  if (static_cast<const unsigned char*>(bytes)[1] != SSL3_AD_CLOSE_NOTIFY) return;
  auto* watcher = static_cast<TlsGoodbye*>(SSL_get_ex_data(connection, ConnectionIndex()));
  if (watcher != nullptr && watcher->connection_ == connection) watcher->heard_ = true;
}

}  // namespace portolan
