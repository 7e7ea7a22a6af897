#include "sim/server/tls_identity.h"

#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstring>

namespace portolan::sim {
namespace {

constexpr long kDay = 24 * 3600;
constexpr size_t kMostName = 253;  // of a DNS name

std::unexpected<Error> TlsFailure(std::string_view what) {
  char text[256] = "";
  ERR_error_string_n(ERR_get_error(), text, sizeof text);
  return Fail(ErrorCode::kIo, fmt::format("{}: {}", what, text));
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  if (extension == nullptr) return false;
  const bool added = X509_add_ext(certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

bool SetRandomSerial(X509* certificate) {
  unsigned char bytes[16];
  if (RAND_bytes(bytes, sizeof bytes) != 1) return false;
  bytes[0] &= 0x7f;
  BIGNUM* number = BN_bin2bn(bytes, sizeof bytes, nullptr);
  const bool done = number != nullptr && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr;
  BN_free(number);
  return done;
}

bool SetCommonName(X509_NAME* to, std::string_view name) {
  name = name.substr(0, 64);  // ub-common-name of RFC 5280
  return X509_NAME_add_entry_by_txt(to, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(name.data()),
                                    static_cast<int>(name.size()), -1, 0) == 1;
}

// Names come from clients: only what can be in a subjectAltName without a second reading.
bool IsPlainName(std::string_view name) {
  if (name.empty() || name.size() > kMostName) return false;
  for (const char c : name) {
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_')) return false;
  }
  return true;
}

}  // namespace

TlsIdentity::~TlsIdentity() = default;

Result<std::unique_ptr<TlsIdentity>> TlsIdentity::Create(const Site& site, bool http2, size_t most_certificates) {
  auto identity = std::unique_ptr<TlsIdentity>(new TlsIdentity(site, http2, most_certificates));
  RETURN_IF_ERROR(identity->Init());
  return identity;
}

Status TlsIdentity::Init() {
  ca_key_.reset(EVP_EC_gen("P-256"));
  host_key_.reset(EVP_EC_gen("P-256"));
  if (!ca_key_ || !host_key_) return TlsFailure("making keys");
  ca_.reset(X509_new());
  if (!ca_ || X509_set_version(ca_.get(), X509_VERSION_3) != 1 || !SetRandomSerial(ca_.get()) ||
      X509_gmtime_adj(X509_getm_notBefore(ca_.get()), -kDay) == nullptr ||
      X509_gmtime_adj(X509_getm_notAfter(ca_.get()), 365 * kDay) == nullptr ||
      X509_set_pubkey(ca_.get(), ca_key_.get()) != 1 ||
      !SetCommonName(X509_get_subject_name(ca_.get()), "Portolan simulated web") ||
      X509_set_issuer_name(ca_.get(), X509_get_subject_name(ca_.get())) != 1 ||
      !AddExtension(ca_.get(), ca_.get(), NID_basic_constraints, "critical,CA:TRUE") ||
      !AddExtension(ca_.get(), ca_.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !AddExtension(ca_.get(), ca_.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(ca_.get(), ca_key_.get(), EVP_sha256()) == 0) {
    return TlsFailure("making the CA");
  }
  BIO* text = BIO_new(BIO_s_mem());
  char* data = nullptr;
  if (text != nullptr && PEM_write_bio_X509(text, ca_.get()) == 1) {
    const long size = BIO_get_mem_data(text, &data);
    ca_pem_.assign(data, static_cast<size_t>(size));
  }
  BIO_free(text);
  if (ca_pem_.empty()) return TlsFailure("writing the CA");

  context_.reset(SSL_CTX_new(TLS_server_method()));
  const X509Ptr fallback = Make("localhost", Certificate::kGood);
  if (!context_ || !fallback || SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION) != 1 ||
      SSL_CTX_use_certificate(context_.get(), fallback.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context_.get(), host_key_.get()) != 1) {
    return TlsFailure("setting up TLS");
  }
  SSL_CTX_set_mode(context_.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context_.get(), SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION);
  // Tickets only: sessions are kept by clients, none here.
  SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_OFF);
  static constexpr unsigned char kSessionContext[] = "portolan-sim";
  SSL_CTX_set_session_id_context(context_.get(), kSessionContext, sizeof kSessionContext - 1);
  SSL_CTX_set_tlsext_servername_callback(context_.get(), &TlsIdentity::OnServerName);
  SSL_CTX_set_tlsext_servername_arg(context_.get(), this);
  SSL_CTX_set_alpn_select_cb(context_.get(), &TlsIdentity::OnAlpn, this);
  return {};
}

TlsIdentity::X509Ptr TlsIdentity::Make(std::string_view name, Certificate kind) const {
  const std::string shown = kind == Certificate::kWrongHost ? "another-host.test" : std::string(name);
  const bool expired = kind == Certificate::kExpired;
  const bool self_signed = kind == Certificate::kSelfSigned;
  X509Ptr certificate(X509_new());
  X509* c = certificate.get();
  if (c == nullptr) return nullptr;
  X509* issuer = self_signed ? c : ca_.get();
  if (X509_set_version(c, X509_VERSION_3) != 1 || !SetRandomSerial(c) ||
      X509_gmtime_adj(X509_getm_notBefore(c), expired ? -60 * kDay : -kDay) == nullptr ||
      X509_gmtime_adj(X509_getm_notAfter(c), expired ? -30 * kDay : 90 * kDay) == nullptr ||
      X509_set_pubkey(c, host_key_.get()) != 1 || !SetCommonName(X509_get_subject_name(c), shown) ||
      X509_set_issuer_name(c, X509_get_subject_name(issuer)) != 1 ||
      !AddExtension(c, issuer, NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(c, issuer, NID_ext_key_usage, "serverAuth") ||
      !AddExtension(c, issuer, NID_subject_alt_name, "DNS:" + shown) ||
      X509_sign(c, self_signed ? host_key_.get() : ca_key_.get(), EVP_sha256()) == 0) {
    return nullptr;
  }
  return certificate;
}

bool TlsIdentity::Show(std::string_view name, SSL* ssl) {
  const std::lock_guard lock(mutex_);
  auto found = by_name_.find(name);
  if (found == by_name_.end()) {
    X509Ptr certificate = Make(name, site_.CertificateOf(name));
    if (!certificate) return false;
    ++certificates_made_;
    if (made_.size() >= most_certificates_) {
      by_name_.erase(made_.back().name);
      made_.pop_back();
    }
    made_.push_front({std::string(name), std::move(certificate)});
    found = by_name_.emplace(made_.front().name, made_.begin()).first;
  } else {
    made_.splice(made_.begin(), made_, found->second);
  }
  // The connection takes its own reference.
  return SSL_use_cert_and_key(ssl, found->second->certificate.get(), host_key_.get(), nullptr, 1) == 1;
}

int TlsIdentity::OnServerName(SSL* ssl, int* alert, void* self) {
  const char* given = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (given == nullptr) return SSL_TLSEXT_ERR_NOACK;
  std::string name(given, ::strnlen(given, kMostName + 1));
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (name.ends_with('.')) name.pop_back();
  if (!IsPlainName(name) || !static_cast<TlsIdentity*>(self)->Show(name, ssl)) {
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  return SSL_TLSEXT_ERR_OK;
}

int TlsIdentity::OnAlpn(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                        unsigned int in_size, void* self) {
  static constexpr unsigned char kOffered[] = "\x02h2\x08http/1.1";
  const size_t skip = static_cast<const TlsIdentity*>(self)->http2_ ? 0 : 3;
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kOffered + skip, sizeof kOffered - 1 - skip, in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;  // as most servers: HTTP/1.1 without a word
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

uint64_t TlsIdentity::certificates_made() const {
  const std::lock_guard lock(mutex_);
  return certificates_made_;
}

}  // namespace portolan::sim
