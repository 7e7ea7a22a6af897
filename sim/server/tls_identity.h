// TlsIdentity: the certificates of the simulated web, and the TLS setup that shows them.
//
// At start a CA is made in memory (P-256, never written but for its certificate). Each host gets its certificate when a
// client first names it by SNI: good, expired, self-signed, or for another host. All hosts share one key, so that a
// certificate costs one signature. Without SNI the certificate is for "localhost".
//
// TLS 1.2 and 1.3, ALPN "h2" (if wanted) and "http/1.1", session tickets for resumption.
//
// Thread: any. Memory bound: `most_certificates` certificates of about 1 KiB; the least recently used one is dropped
// and made again when needed.

#pragma once

#include <openssl/ssl.h>

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "sim/server/site.h"

namespace portolan::sim {

class TlsIdentity {
 public:
  static constexpr size_t kMostCertificates = 4096;

  // REQUIRES: `site` outlives it.
  static Result<std::unique_ptr<TlsIdentity>> Create(const Site& site, bool http2,
                                                     size_t most_certificates = kMostCertificates);
  ~TlsIdentity();

  // The CA's certificate as PEM: what a client has to trust.
  const std::string& ca_pem() const { return ca_pem_; }

  // A new server side of a connection; nullptr when out of memory.
  SSL* NewConnection() const { return SSL_new(context_.get()); }

  uint64_t certificates_made() const;

 private:
  template <auto free>
  struct Freed {
    template <typename T>
    void operator()(T* p) const {
      free(p);
    }
  };
  using Key = std::unique_ptr<EVP_PKEY, Freed<&EVP_PKEY_free>>;
  using X509Ptr = std::unique_ptr<X509, Freed<&X509_free>>;
  using Context = std::unique_ptr<SSL_CTX, Freed<&SSL_CTX_free>>;
  struct Made {
    std::string name;
    X509Ptr certificate;
  };

  TlsIdentity(const Site& site, bool http2, size_t most_certificates)
      : site_(site), http2_(http2), most_certificates_(most_certificates) {}
  Status Init();
  X509Ptr Make(std::string_view name, Certificate kind) const;
  // Puts the certificate of the name into the connection.
  bool Show(std::string_view name, SSL* ssl);
  static int OnServerName(SSL* ssl, int* alert, void* self);
  static int OnAlpn(SSL* ssl, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                    unsigned int in_size, void* self);

  const Site& site_;
  const bool http2_;
  const size_t most_certificates_;
  Key ca_key_;
  Key host_key_;
  X509Ptr ca_;
  std::string ca_pem_;
  Context context_;

  mutable std::mutex mutex_;
  std::list<Made> made_;                                                     // mutex_; asked for last in front
  std::unordered_map<std::string_view, std::list<Made>::iterator> by_name_;  // mutex_
  uint64_t certificates_made_ = 0;                                           // mutex_
};

}  // namespace portolan::sim
