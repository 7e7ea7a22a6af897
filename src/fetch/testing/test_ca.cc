#include "fetch/testing/test_ca.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/check.h"

namespace portolan {
namespace {

constexpr long kDay = 24 * 3600;  // NOLINT(google-runtime-int): OpenSSL's type

X509* Make(EVP_PKEY* key, const std::string& name, bool authority, long from, long to, X509* issuer,  // NOLINT
           EVP_PKEY* issuer_key) {
  static long serial = 1;  // NOLINT(google-runtime-int)
  X509* made = X509_new();
  CHECK(made != nullptr);
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made), from);
  X509_gmtime_adj(X509_getm_notAfter(made), to);
  X509_set_pubkey(made, key);
  X509_NAME* subject = X509_get_subject_name(made);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(made, issuer != nullptr ? X509_get_subject_name(issuer) : subject);
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer != nullptr ? issuer : made, made, nullptr, nullptr, 0);
  const auto extend = [&](int id, const std::string& value) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
    CHECK(extension != nullptr);
    X509_add_ext(made, extension, -1);
    X509_EXTENSION_free(extension);
  };
  extend(NID_basic_constraints, authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!authority) extend(NID_subject_alt_name, "DNS:" + name);
  CHECK(X509_sign(made, issuer_key, EVP_sha256()) > 0);
  return made;
}

}  // namespace

TestCa::TestCa() {
  key_ = EVP_EC_gen("P-256");
  certificate_ = Make(key_, "Test authority", true, -kDay, kDay, nullptr, key_);
  std::string path = (std::filesystem::temp_directory_path() / "portolan-ca-XXXXXX").string();
  const int fd = mkstemp(path.data());
  CHECK(fd >= 0);
  FILE* file = fdopen(fd, "w");
  PEM_write_X509(file, certificate_);
  std::fclose(file);
  ca_file_ = path;
}

TestCa::~TestCa() {
  unlink(ca_file_.c_str());
  X509_free(certificate_);
  EVP_PKEY_free(key_);
}

SSL_CTX* TestCa::MakeContext(const std::string& host, Kind kind) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  const bool alone = kind == Kind::kSelfSigned;
  X509* certificate = Make(key, host, false, -10 * kDay, kind == Kind::kExpired ? -kDay : kDay,
                           alone ? nullptr : certificate_, alone ? key : key_);
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  CHECK(SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1);
  X509_free(certificate);
  EVP_PKEY_free(key);
  return context;
}

void TestCa::WriteServerFiles(const std::string& host, const std::string& cert_path,
                              const std::string& key_path) const {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = Make(key, host, false, -kDay, kDay, certificate_, key_);
  FILE* file = std::fopen(cert_path.c_str(), "w");
  CHECK(file != nullptr && PEM_write_X509(file, certificate) == 1);
  std::fclose(file);
  file = std::fopen(key_path.c_str(), "w");
  CHECK(file != nullptr && PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  std::fclose(file);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

}  // namespace portolan
