// CurlTransfer: a fetch on a libcurl easy handle, which is reused for the next fetch. For TLS, HTTP/2 and proxies.
//
// Thread: the loop's. Memory bound: Exchange's, and libcurl's buffer.

#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fetch/curl_multi.h"
#include "fetch/curl_outcome.h"
#include "fetch/exchange.h"
#include "fetch/tls_goodbye.h"
#include "fetch/tls_sessions.h"

namespace portolan {

class CurlTransfer : public Exchange {
 public:
  // See Exchange; `sessions` must outlive this, too.
  static Result<std::unique_ptr<CurlTransfer>> Create(const FetchOptions& options, const RequestFields& fields,
                                                      TlsSessions& sessions, ReceiveRoom& room, size_t slot,
                                                      int64_t* deadline);
  ~CurlTransfer() override;

  CURL* easy() const { return easy_; }
  static CurlTransfer* Of(CURL* easy);

  // Prepares the handle. REQUIRES: no fetch runs.
  void Begin(FetchTask&& task);
  // libcurl ended it. REQUIRES: the handle is still in its multi, which knows errno and version.
  FetchResponse Finish(CURLcode code);
  // We ended it.
  FetchResponse Finish(FetchOutcome outcome, std::string_view detail);
  // Takes it out of `multi` before its end; bytes that were not sent yet are never sent.
  void GiveUp(CurlMulti& multi);
  // It was stalled (Exchange) and may continue: libcurl hands over what it kept. False: it is over, take it with
  // Finish(CURLcode). REQUIRES: not from inside libcurl.
  bool GoOn();
  // It ended in an error: its connection, if libcurl keeps it, must not be used again.
  void SpoilConnection(CURLcode code);

 private:
  CurlTransfer(const FetchOptions& options, const RequestFields& fields, TlsSessions& sessions, ReceiveRoom& room,
               size_t slot, int64_t* deadline)
      : Exchange(options, fields, room, slot, deadline), sessions_(sessions) {}
  Status SetUp();

  static size_t OnHeaderLine(char* bytes, size_t size, size_t count, void* self);
  static size_t OnBody(char* bytes, size_t size, size_t count, void* self);
  static int OnConnected(void* self, char* ip, char* local_ip, int port, int local_port);
  static CURLcode OnTlsContext(CURL* easy, void* context, void* self);
  static curl_socket_t OnOpenSocket(void* self, curlsocktype purpose, curl_sockaddr* address);

  static int OnCloseSocket(void* none, curl_socket_t fd);

  bool OnConnection();  // false: give up
  bool CutUnnoticed();
  FetchResponse Take(FetchOutcome outcome);

  TlsSessions& sessions_;
  CURL* easy_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_{};
  std::string connect_to_;
  curl_slist connect_node_{};
  int socket_errno_ = 0;  // of a socket that could not be made
  TlsGoodbye goodbye_;
};

}  // namespace portolan
