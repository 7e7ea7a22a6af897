#include "fetch/curl_transfer.h"

#include <fmt/core.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "fetch/forget_unsent.h"
#include "http/headers.h"

namespace portolan {
namespace {

// libcurl's own time limit only ends what ours did not.
constexpr int64_t kSafetyMs = 5'000;
thread_local bool giving_up = false;      // connections that libcurl closes now carry an abandoned request
constexpr long kUploadBuffer = 16 << 10;  // libcurl's least; a GET is smaller. NOLINT(google-runtime-int)

HttpVersion ProtocolOf(CURL* easy) {
  long version = 0;  // NOLINT(google-runtime-int)
  curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &version);
  switch (version) {
    case CURL_HTTP_VERSION_1_0:
      return HttpVersion::k10;
    case CURL_HTTP_VERSION_1_1:
      return HttpVersion::k11;
    case CURL_HTTP_VERSION_2_0:
      return HttpVersion::k2;
    default:
      return HttpVersion::kUnknown;
  }
}

// "TLSv1.3" as WARC-Protocol spells it.
std::string TlsName(std::string_view version) {
  if (!version.starts_with("TLSv")) return std::string(version);
  version.remove_prefix(4);
  return fmt::format("tls/{}", version == "1" ? "1.0" : version);
}

}  // namespace

Result<std::unique_ptr<CurlTransfer>> CurlTransfer::Create(const FetchOptions& options, const RequestFields& fields,
                                                           TlsSessions& sessions, ReceiveRoom& room, size_t slot,
                                                           int64_t* deadline) {
  std::unique_ptr<CurlTransfer> made(new CurlTransfer(options, fields, sessions, room, slot, deadline));
  RETURN_IF_ERROR(made->SetUp());
  return made;
}

CurlTransfer::~CurlTransfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
}

CurlTransfer* CurlTransfer::Of(CURL* easy) {
  CurlTransfer* transfer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return transfer;
}

Status CurlTransfer::SetUp() {
  easy_ = curl_easy_init();
  if (easy_ == nullptr) return Fail(ErrorCode::kBusy, "libcurl cannot make a handle");
  const FetchOptions& options = options_;
  CURLcode worst = CURLE_OK;
  const auto set = [&](CURLoption option, auto value) {
    if (const CURLcode code = curl_easy_setopt(easy_, option, value); code != CURLE_OK) worst = code;
  };
  const auto number = [](auto value) { return static_cast<long>(value); };  // NOLINT(google-runtime-int)
  set(CURLOPT_PRIVATE, this);
  set(CURLOPT_ERRORBUFFER, error_.data());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  set(CURLOPT_HTTP_CONTENT_DECODING, 0L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_HTTP_VERSION, number(options.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
  set(CURLOPT_TCP_NODELAY, 1L);
  set(CURLOPT_BUFFERSIZE, number(options.buffer_bytes));
  set(CURLOPT_UPLOAD_BUFFERSIZE, kUploadBuffer);
  // Names are resolved elsewhere. libcurl walks its own cache at the end of every fetch, so it is kept empty.
  set(CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  set(CURLOPT_CONNECTTIMEOUT_MS, number(options.limits.connect_ns / kMillisecond + kSafetyMs));
  // libcurl's clock keeps running while a transfer is stalled because memory is short.
  set(CURLOPT_TIMEOUT_MS, number(options.budget != nullptr ? 0 : options.limits.total_ns / kMillisecond + kSafetyMs));
  set(CURLOPT_MAXAGE_CONN, number(std::max<int64_t>(1, options.idle_ns / kSecond)));
  set(CURLOPT_PROXY, options.proxy.c_str());  // "" also keeps the environment's away

  set(CURLOPT_SSLVERSION, number(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, number(options.verify_tls ? 1 : 0));
  set(CURLOPT_SSL_VERIFYHOST, number(options.verify_tls ? 2 : 0));
  set(CURLOPT_SSL_SESSIONID_CACHE, 0L);  // TlsSessions does it
  // libcurl reads the certificate authorities once per loop, not once per connection, but only if there is no directory
  // of them.
  set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  if (!options.ca_file.empty()) set(CURLOPT_CAINFO, options.ca_file.c_str());

  set(CURLOPT_HEADERFUNCTION, OnHeaderLine);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, OnBody);
  set(CURLOPT_WRITEDATA, this);
  set(CURLOPT_PREREQFUNCTION, OnConnected);
  set(CURLOPT_PREREQDATA, this);
  set(CURLOPT_SSL_CTX_FUNCTION, OnTlsContext);
  set(CURLOPT_SSL_CTX_DATA, this);
  set(CURLOPT_OPENSOCKETFUNCTION, OnOpenSocket);
  set(CURLOPT_OPENSOCKETDATA, this);
  set(CURLOPT_CLOSESOCKETFUNCTION, OnCloseSocket);
  if (worst != CURLE_OK) {
    return Fail(ErrorCode::kUnsupported, fmt::format("libcurl refuses an option: {}", curl_easy_strerror(worst)));
  }
  return {};
}

void CurlTransfer::Begin(FetchTask&& task) {
  Exchange::Begin(std::move(task));
  error_[0] = '\0';
  socket_errno_ = 0;
  goodbye_.Watch(nullptr);
  const FetchTask& asked = response_.task;
  curl_easy_setopt(easy_, CURLOPT_URL, asked.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, options_.reuse_connections ? 0L : 1L);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, fields_.ListFor(asked, conditional_));
  if (!ProxyResolvesNames(options_.proxy)) {
    // Any host, any port: there, to the same port.
    connect_to_ = asked.address.v6 ? "::[" : "::";
    connect_to_ += asked.address.ToString();
    connect_to_ += asked.address.v6 ? "]:" : ":";
    connect_node_ = {connect_to_.data(), nullptr};
    curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, &connect_node_);
  }
}

int CurlTransfer::OnConnected(void* self, char* /*ip*/, char* /*local_ip*/, int /*port*/, int /*local_port*/) {
  return static_cast<CurlTransfer*>(self)->OnConnection() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

// Called again when the connection broke without a byte and libcurl wants to retry at once on a new one. The host has
// seen the first request, so the next one must keep its distance: the scheduler decides when. A kept connection that
// was closed is not a failure of the server; a server that refuses on a new one is tried as often as others that break
// off.
bool CurlTransfer::OnConnection() {
  if (phase_ != TransferPhase::kConnecting) {
    // Otherwise the new connection is kept unused, and the next fetch finds a kept one again.
    curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
    return kept_ ? Cut(FetchOutcome::kLocal, "the kept connection was closed")
                 : Cut(FetchOutcome::kReset, "the request was refused");
  }
  long connects = 0;  // NOLINT(google-runtime-int)
  curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &connects);
  Exchange::Connected(/*kept=*/connects == 0);
  if (response_.task.url.starts_with("https:")) {
    curl_tlssessioninfo* tls = nullptr;
    if (curl_easy_getinfo(easy_, CURLINFO_TLS_SSL_PTR, &tls) == CURLE_OK && tls != nullptr &&
        tls->backend == CURLSSLBACKEND_OPENSSL && tls->internals != nullptr) {
      auto* ssl = static_cast<SSL*>(tls->internals);
      goodbye_.Watch(ssl);
      response_.tls_version = TlsName(SSL_get_version(ssl));
      response_.tls_cipher = SSL_get_cipher_name(ssl);
    }
  }
  return true;
}

CURLcode CurlTransfer::OnTlsContext(CURL* /*easy*/, void* context, void* self) {
  auto* tls = static_cast<SSL_CTX*>(context);
  TlsGoodbye::Attach(tls);
  static_cast<CurlTransfer*>(self)->sessions_.Attach(tls);
  return CURLE_OK;
}

curl_socket_t CurlTransfer::OnOpenSocket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
  const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0) static_cast<CurlTransfer*>(self)->socket_errno_ = errno;
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

// Has no data: the connection may outlive the transfer that opened it.
int CurlTransfer::OnCloseSocket(void* /*none*/, curl_socket_t fd) {
  if (giving_up) ForgetUnsent(fd);
  return close(fd);
}

void CurlTransfer::GiveUp(CurlMulti& multi) {
  // HTTP/2 would keep the connection, with the request in it.
  curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
  giving_up = true;
  multi.Remove(easy_);
  giving_up = false;
}

// After an error libcurl keeps an HTTP/2 connection for the next request, even one that it can no longer read: the
// server would see that request, but its answer would be lost. After a reset the connection is closed for libcurl and
// for the server, which may still be sending. If only a stream failed, or we cut it, the server was told.
void CurlTransfer::SpoilConnection(CURLcode code) {
  if (decided_ || code == CURLE_HTTP2_STREAM) return;
  curl_socket_t fd = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(easy_, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd == CURL_SOCKET_BAD) return;
  const sockaddr nobody{.sa_family = AF_UNSPEC, .sa_data = {}};
  connect(fd, &nobody, sizeof(nobody));  // sends a reset; if it cannot, the connection is over already
}

size_t CurlTransfer::OnHeaderLine(char* bytes, size_t size, size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->HeaderLine({bytes, size * count}) ? size * count : 0;
}

bool CurlTransfer::GoOn() { return curl_easy_pause(easy_, CURLPAUSE_CONT) == CURLE_OK; }

size_t CurlTransfer::OnBody(char* bytes, size_t size, size_t count, void* self) {
  // libcurl keeps this piece and reads no more from the connection.
  if (!static_cast<CurlTransfer*>(self)->MayTake(size * count)) return CURL_WRITEFUNC_PAUSE;
  // One byte is too few for a whole piece and too many for an empty one: libcurl gives up either way.
  return static_cast<CurlTransfer*>(self)->Body({bytes, size * count}) ? size * count : (size * count == 0 ? 1 : 0);
}

// Ends of HTTP/1 bodies over TLS that libcurl accepts and we do not: without close_notify where nothing else ends the
// body; or inside a body whose length is too large for libcurl.
bool CurlTransfer::CutUnnoticed() {
  if (response_.tls_version.empty() || ProtocolOf(easy_) == HttpVersion::k2) return false;
  const auto length = head_.content_length();
  if (length && *length <= response_.body.size()) return false;
  response_.head = ParseResponseHead(head_.text(), options_.limits.head);
  const Framing framing = FramingOf(response_.head, false);
  if (framing.kind == BodyFraming::kLength) return response_.body.size() < framing.length;
  return framing.kind == BodyFraming::kUntilClose && !goodbye_.heard();
}

FetchResponse CurlTransfer::Finish(CURLcode code) {
  if (decided_) return Take(*decided_);
  if (code == CURLE_OK && phase_ == TransferPhase::kBody && CutUnnoticed()) {
    response_.detail = "the connection ended before the body was known to be whole";
    return Take(FetchOutcome::kDisconnected);
  }
  long os_error = 0;  // NOLINT(google-runtime-int)
  curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error);
  long proxy = CURLPX_OK;  // NOLINT(google-runtime-int)
  if (code == CURLE_PROXY) curl_easy_getinfo(easy_, CURLINFO_PROXY_ERROR, &proxy);
  if (code != CURLE_OK) response_.detail = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
  return Take(OutcomeOfTransfer({.code = code,
                                 .phase = phase_,
                                 .os_error = socket_errno_ != 0 ? socket_errno_ : static_cast<int>(os_error),
                                 .detail = response_.detail,
                                 .proxy = static_cast<CURLproxycode>(proxy)}));
}

FetchResponse CurlTransfer::Finish(FetchOutcome outcome, std::string_view detail) {
  response_.detail = detail;
  return Take(outcome);
}

FetchResponse CurlTransfer::Take(FetchOutcome outcome) {
  if (phase_ >= TransferPhase::kAsked) {
    const bool absolute =
        !options_.proxy.empty() && options_.proxy.starts_with("http") && response_.task.url.starts_with("http:");
    response_.request_head = fields_.HeadFor(response_.task, conditional_, absolute, RequestFields::Form::kArchived);
  }
  response_.version = ProtocolOf(easy_);
  return TakeResponse(outcome);
}

}  // namespace portolan
