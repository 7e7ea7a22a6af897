// TLS as OpenSSL's client sees it: each kind of certificate, ALPN, resumption, and what happens to garbage.

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string>

#include "sim/server/server_fixture.h"
#include "sim/server/tls_identity.h"

namespace portolan::sim {
namespace {

struct SslDeleter {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL_SESSION* session) const { SSL_SESSION_free(session); }
};

class TlsServerTest : public testing::Test {
 protected:
  void SetUp() override {
    site_.certificates = {{"expired.test", Certificate::kExpired},
                          {"self.test", Certificate::kSelfSigned},
                          {"wrong.test", Certificate::kWrongHost}};
    site_.pages["/"].body = "hello";
    site_.on_request = [](const Request& request) { EXPECT_TRUE(request.tls); };
    Answer& cut = site_.pages["/reset"];
    cut.body = std::string(5000, 'b');
    cut.fault = WireFault::kResetInBody;
    cut.fault_at = 100;
    auto server = SimServer::Start({.hits = &sink_, .visit_entries = 64}, site_);
    ASSERT_TRUE(server.has_value()) << server.error().ToString();
    server_ = *std::move(server);

    context_.reset(SSL_CTX_new(TLS_client_method()));
    BIO* pem = BIO_new_mem_buf(server_->ca_pem().data(), static_cast<int>(server_->ca_pem().size()));
    X509* ca = PEM_read_bio_X509(pem, nullptr, nullptr, nullptr);
    BIO_free(pem);
    ASSERT_NE(ca, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), ca);
    X509_free(ca);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_NONE, nullptr);  // the verdict is looked at by the test
  }

  struct Session {
    std::unique_ptr<RawClient> socket;
    std::unique_ptr<SSL, SslDeleter> ssl;
    bool connected = false;
    long verdict = -1;
    std::string alpn;
  };

  Session Connect(const std::string& name, const std::string& alpn = "", SSL_SESSION* resume = nullptr,
                  int version = 0) {
    Session session;
    session.socket = std::make_unique<RawClient>("127.0.0.1", server_->ports().https);
    session.ssl.reset(SSL_new(context_.get()));
    SSL* ssl = session.ssl.get();
    if (version != 0) SSL_set_max_proto_version(ssl, version);
    SSL_set_fd(ssl, session.socket->fd());
    if (!name.empty()) {
      SSL_set_tlsext_host_name(ssl, name.c_str());
      SSL_set1_host(ssl, name.c_str());
    }
    if (!alpn.empty()) {
      SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(alpn.data()), static_cast<unsigned>(alpn.size()));
    }
    if (resume != nullptr) SSL_set_session(ssl, resume);
    session.connected = SSL_connect(ssl) == 1;
    session.verdict = SSL_get_verify_result(ssl);
    const unsigned char* chosen = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(ssl, &chosen, &size);
    session.alpn.assign(reinterpret_cast<const char*>(chosen), size);
    return session;
  }

  static std::string Exchange(Session& session, const std::string& request) {
    SSL_write(session.ssl.get(), request.data(), static_cast<int>(request.size()));
    std::string all;
    char buffer[4096];
    for (;;) {
      const int count = SSL_read(session.ssl.get(), buffer, sizeof buffer);
      if (count <= 0) return all;
      all.append(buffer, static_cast<size_t>(count));
    }
  }

  TableSite site_;
  ListSink sink_;
  std::unique_ptr<SimServer> server_;
  std::unique_ptr<SSL_CTX, SslDeleter> context_;
};

TEST_F(TlsServerTest, EachKindOfCertificateIsWhatItSays) {
  EXPECT_EQ(Connect("good.test").verdict, X509_V_OK);
  EXPECT_EQ(Connect("Good.Test.").verdict, X509_V_ERR_HOSTNAME_MISMATCH);  // the client's own reading of the dot
  EXPECT_EQ(Connect("expired.test").verdict, X509_V_ERR_CERT_HAS_EXPIRED);
  EXPECT_EQ(Connect("self.test").verdict, X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT);
  EXPECT_EQ(Connect("wrong.test").verdict, X509_V_ERR_HOSTNAME_MISMATCH);
}

TEST_F(TlsServerTest, AnswersOverBothVersions) {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    Session session = Connect("good.test", "", nullptr, version);
    ASSERT_TRUE(session.connected);
    EXPECT_EQ(SSL_version(session.ssl.get()), version);
    const std::string all = Exchange(session, Get("/") + Get("/", "Connection: close\r\n"));
    EXPECT_TRUE(all.ends_with("\r\n\r\nhello"));
    EXPECT_EQ(SSL_get_shutdown(session.ssl.get()) & SSL_RECEIVED_SHUTDOWN, SSL_RECEIVED_SHUTDOWN);  // close_notify
  }
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 2; }));
  EXPECT_EQ(sink_.hits().size(), 4U);
  EXPECT_TRUE(sink_.hits()[0].hit.tls);
}

TEST_F(TlsServerTest, AlpnIsNegotiated) {
  EXPECT_EQ(Connect("good.test", "\x02h2\x08http/1.1").alpn, "h2");
  EXPECT_EQ(Connect("good.test", "\x08http/1.1").alpn, "http/1.1");
  EXPECT_EQ(Connect("good.test", "\x03xyz").alpn, "");
  EXPECT_EQ(Connect("good.test").alpn, "");
}

TEST_F(TlsServerTest, SessionsAreResumed) {
  Session first = Connect("good.test");
  ASSERT_TRUE(first.connected);
  EXPECT_EQ(SSL_session_reused(first.ssl.get()), 0);
  Exchange(first, Get("/", "Connection: close\r\n"));  // tickets of TLS 1.3 come after the handshake
  const std::unique_ptr<SSL_SESSION, SslDeleter> ticket(SSL_get1_session(first.ssl.get()));
  Session second = Connect("good.test", "", ticket.get());
  ASSERT_TRUE(second.connected);
  EXPECT_EQ(SSL_session_reused(second.ssl.get()), 1);
  EXPECT_TRUE(Exchange(second, Get("/", "Connection: close\r\n")).ends_with("hello"));
}

TEST_F(TlsServerTest, FaultsWorkThroughTls) {
  Session session = Connect("good.test");
  const std::string all = Exchange(session, Get("/reset"));
  EXPECT_TRUE(all.ends_with(std::string(100, 'b'))) << all;
  EXPECT_EQ(SSL_get_shutdown(session.ssl.get()) & SSL_RECEIVED_SHUTDOWN, 0);
}

TEST_F(TlsServerTest, WhatIsNoTlsIsClosed) {
  RawClient client("127.0.0.1", server_->ports().https);
  ASSERT_TRUE(client.Send(Get("/")));
  client.Read();
  EXPECT_NE(client.ending(), Ending::kOpen);
  EXPECT_FALSE(Connect("bad name!").connected);
  EXPECT_TRUE(Connect("good.test").connected);  // and others do not notice
}

TEST_F(TlsServerTest, CertificatesAreMadeOnceAndKeptWithinTheBound) {
  constexpr size_t kMost = 16;
  auto identity = TlsIdentity::Create(site_, true, kMost);
  ASSERT_TRUE(identity.has_value());
  const auto shake = [&](const std::string& name) {
    std::unique_ptr<SSL, SslDeleter> client(SSL_new(context_.get()));
    std::unique_ptr<SSL, SslDeleter> server((*identity)->NewConnection());
    BIO* a = nullptr;
    BIO* b = nullptr;
    ASSERT_EQ(BIO_new_bio_pair(&a, 0, &b, 0), 1);
    SSL_set_bio(client.get(), a, a);
    SSL_set_bio(server.get(), b, b);
    SSL_set_connect_state(client.get());
    SSL_set_accept_state(server.get());
    SSL_set_tlsext_host_name(client.get(), name.c_str());
    SSL_do_handshake(client.get());  // ClientHello
    SSL_do_handshake(server.get());  // the certificate is chosen
  };
  shake("a.test");
  shake("a.test");
  EXPECT_EQ((*identity)->certificates_made(), 1U);
  for (size_t i = 0; i < kMost; ++i) shake("h" + std::to_string(i) + ".test");
  EXPECT_EQ((*identity)->certificates_made(), 1 + kMost);
  shake("h5.test");
  EXPECT_EQ((*identity)->certificates_made(), 1 + kMost);
  shake("a.test");  // pushed out, made again
  EXPECT_EQ((*identity)->certificates_made(), 2 + kMost);
}

}  // namespace
}  // namespace portolan::sim
