// TestCa: a certificate authority for one test, and servers' certificates signed by it or by nobody else.

#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

namespace portolan {

class TestCa {
 public:
  TestCa();
  ~TestCa();
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;

  enum class Kind { kGood, kExpired, kSelfSigned };
  // A server's context for the host name. Belongs to the caller (SSL_CTX_free).
  SSL_CTX* MakeContext(const std::string& host, Kind kind = Kind::kGood) const;
  // The same as PEM files: `key_path` and `cert_path`.
  void WriteServerFiles(const std::string& host, const std::string& cert_path, const std::string& key_path) const;
  // PEM of the authority, for FetchOptions::ca_file. Removed with this object.
  const std::string& ca_file() const { return ca_file_; }

 private:
  EVP_PKEY* key_ = nullptr;
  X509* certificate_ = nullptr;
  std::string ca_file_;
};

}  // namespace portolan
