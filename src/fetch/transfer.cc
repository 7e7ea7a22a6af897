#include "fetch/transfer.h"

#include <fmt/core.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace portolan {
namespace {

// A Content-Length is a promise of strangers: more than this is not reserved before the bytes come.
constexpr uint64_t kMaxReserve = uint64_t{1} << 20;
// libcurl's own time limit only ends what ours did not.
constexpr int64_t kSafetyMs = 5'000;
constexpr long kUploadBuffer = 16 << 10;  // libcurl's least; a GET is smaller. NOLINT(google-runtime-int)

HttpVersion VersionOf(long version) {  // NOLINT(google-runtime-int)
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

Result<std::unique_ptr<Transfer>> Transfer::Create(const Shared& shared, size_t slot, int64_t* deadline) {
  std::unique_ptr<Transfer> made(new Transfer(shared, slot, deadline));
  RETURN_IF_ERROR(made->SetUp());
  return made;
}

Transfer::~Transfer() {
  if (easy_ != nullptr) curl_easy_cleanup(easy_);
}

Transfer* Transfer::Of(CURL* easy) {
  Transfer* transfer = nullptr;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
  return transfer;
}

Status Transfer::SetUp() {
  easy_ = curl_easy_init();
  if (easy_ == nullptr) return Fail(ErrorCode::kBusy, "libcurl cannot make a handle");
  const FetchOptions& options = shared_.options;
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
  // Names are resolved elsewhere. libcurl walks its own cache at the end of every fetch, so it had better be empty.
  set(CURLOPT_DNS_CACHE_TIMEOUT, 0L);
  set(CURLOPT_CONNECTTIMEOUT_MS, number(options.limits.connect_ns / kMillisecond + kSafetyMs));
  set(CURLOPT_TIMEOUT_MS, number(options.limits.total_ns / kMillisecond + kSafetyMs));
  set(CURLOPT_MAXAGE_CONN, number(std::max<int64_t>(1, options.idle_ns / kSecond)));
  set(CURLOPT_PROXY, options.proxy.c_str());  // "" also keeps the environment's away

  set(CURLOPT_SSLVERSION, number(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, number(options.verify_tls ? 1 : 0));
  set(CURLOPT_SSL_VERIFYHOST, number(options.verify_tls ? 2 : 0));
  set(CURLOPT_SSL_SESSIONID_CACHE, 0L);  // TlsSessions does it
  // libcurl reads the authorities once a loop, not once a connection, but only where there is no directory of them.
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
  if (worst != CURLE_OK) {
    return Fail(ErrorCode::kUnsupported, fmt::format("libcurl refuses an option: {}", curl_easy_strerror(worst)));
  }
  return {};
}

void Transfer::Begin(FetchTask&& task) {
  response_ = {};
  response_.task = std::move(task);
  error_[0] = '\0';
  head_.Begin(shared_.options.limits.head);
  phase_ = TransferPhase::kConnecting;
  decided_.reset();
  socket_errno_ = 0;
  window_bytes_ = 0;
  response_.times.begin_ns = shared_.options.clock->NowNs();
  response_.times.begin_unix_ns = shared_.options.clock->UnixNs();

  const FetchTask& asked = response_.task;
  curl_easy_setopt(easy_, CURLOPT_URL, asked.url.c_str());
  curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, shared_.options.reuse_connections ? 0L : 1L);
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, shared_.fields.ListFor(asked, conditional_));
  if (shared_.options.proxy.empty()) {
    // Any host, any port: there, to the same port.
    connect_to_ = asked.address.v6 ? "::[" : "::";
    connect_to_ += asked.address.ToString();
    connect_to_ += asked.address.v6 ? "]:" : ":";
    connect_node_ = {connect_to_.data(), nullptr};
    curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, &connect_node_);
  }
  SetDeadline();
}

int Transfer::OnConnected(void* self, char* /*ip*/, char* /*local_ip*/, int /*port*/, int /*local_port*/) {
  return static_cast<Transfer*>(self)->Connected() ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

// Comes again when the connection broke without a byte and libcurl would ask once more on a new one, at once. The host
// has seen the first request, so the next one keeps its distance: whoever schedules decides. A kept connection that was
// closed is nobody's fault; a server that refuses on a new one is tried as often as others that break off.
bool Transfer::Connected() {
  if (phase_ != TransferPhase::kConnecting) {
    // Else the new connection is kept unused, and the next fetch finds a kept one again.
    curl_easy_setopt(easy_, CURLOPT_FORBID_REUSE, 1L);
    return kept_ ? Cut(FetchOutcome::kLocal, "the kept connection was closed")
                 : Cut(FetchOutcome::kReset, "the request was refused");
  }
  const int64_t now = shared_.options.clock->NowNs();
  long connects = 0;  // NOLINT(google-runtime-int)
  curl_easy_getinfo(easy_, CURLINFO_NUM_CONNECTS, &connects);
  kept_ = connects == 0;
  response_.times.connected_ns = connects == 0 ? response_.times.begin_ns : now;
  asked_ns_ = now;
  phase_ = TransferPhase::kAsked;
  if (response_.task.url.starts_with("https:")) {
    curl_tlssessioninfo* tls = nullptr;
    if (curl_easy_getinfo(easy_, CURLINFO_TLS_SSL_PTR, &tls) == CURLE_OK && tls != nullptr &&
        tls->backend == CURLSSLBACKEND_OPENSSL && tls->internals != nullptr) {
      const auto* ssl = static_cast<const SSL*>(tls->internals);
      response_.tls_version = TlsName(SSL_get_version(ssl));
      response_.tls_cipher = SSL_get_cipher_name(ssl);
    }
  }
  SetDeadline();
  return true;
}

CURLcode Transfer::OnTlsContext(CURL* /*easy*/, void* context, void* self) {
  static_cast<Transfer*>(self)->shared_.sessions.Attach(static_cast<SSL_CTX*>(context));
  return CURLE_OK;
}

curl_socket_t Transfer::OnOpenSocket(void* self, curlsocktype /*purpose*/, curl_sockaddr* address) {
  const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0) static_cast<Transfer*>(self)->socket_errno_ = errno;
  return fd < 0 ? CURL_SOCKET_BAD : fd;
}

size_t Transfer::OnHeaderLine(char* bytes, size_t size, size_t count, void* self) {
  return static_cast<Transfer*>(self)->HeaderLine({bytes, size * count}) ? size * count : 0;
}

size_t Transfer::OnBody(char* bytes, size_t size, size_t count, void* self) {
  // One byte is too few for a whole piece and too many for an empty one: libcurl gives up either way.
  return static_cast<Transfer*>(self)->Body({bytes, size * count}) ? size * count : (size * count == 0 ? 1 : 0);
}

bool Transfer::HeaderLine(std::string_view line) {
  const bool trailer = head_.whole();
  Received(shared_.options.clock->NowNs(), line.size());
  switch (head_.Line(line)) {
    case HeadCollector::Verdict::kGoing:
      break;
    case HeadCollector::Verdict::kWhole:
      phase_ = TransferPhase::kBody;
      if (const auto length = head_.content_length()) {
        response_.body.reserve(std::min({*length, shared_.options.limits.max_body, kMaxReserve}));
      }
      break;
    case HeadCollector::Verdict::kTooLarge:
      return trailer ? Cut(FetchOutcome::kBodyCut, "trailer too large")
                     : Cut(FetchOutcome::kHeadTooLarge, "more header bytes or lines than the limit");
    case HeadCollector::Verdict::kConflict:
      return Cut(FetchOutcome::kBadFraming, "Content-Lengths that differ");
    case HeadCollector::Verdict::kNotHttp:
      return Cut(FetchOutcome::kNotHttp, "no status line");
  }
  if (response_.wire_bytes > shared_.options.limits.max_wire_bytes) {
    return Cut(head_.whole() ? FetchOutcome::kBodyCut : FetchOutcome::kHeadTooLarge, "more bytes than the limit");
  }
  return true;
}

bool Transfer::Body(std::string_view bytes) {
  const FetchLimits& limits = shared_.options.limits;
  if (!head_.whole()) return Cut(FetchOutcome::kNotHttp, "a body without a head");
  Received(shared_.options.clock->NowNs(), bytes.size());
  const uint64_t room = limits.max_body - std::min<uint64_t>(limits.max_body, response_.body.size());
  response_.body.append(bytes.substr(0, room));
  if (bytes.size() > room) return Cut(FetchOutcome::kBodyCut, "body larger than the limit");
  if (response_.wire_bytes > limits.max_wire_bytes) return Cut(FetchOutcome::kBodyCut, "more bytes than the limit");
  return true;
}

bool Transfer::Cut(FetchOutcome outcome, std::string_view detail) {
  decided_ = outcome;
  response_.detail = detail;
  return false;
}

void Transfer::Received(int64_t now_ns, size_t bytes) {
  response_.wire_bytes += bytes;
  window_bytes_ += bytes;
  if (phase_ != TransferPhase::kAsked) return;
  phase_ = TransferPhase::kHead;
  response_.times.first_byte_ns = now_ns;
  window_ns_ = now_ns;
  SetDeadline();
}

void Transfer::SetDeadline() {
  const FetchLimits& limits = shared_.options.limits;
  const int64_t begin = response_.times.begin_ns;
  int64_t next = begin + limits.total_ns;
  if (phase_ == TransferPhase::kConnecting) {
    next = std::min(next, begin + limits.connect_ns);
  } else if (phase_ == TransferPhase::kAsked) {
    next = std::min(next, asked_ns_ + limits.first_byte_ns);
  } else if (limits.lowest_speed > 0) {
    next = std::min(next, window_ns_ + limits.speed_window_ns);
  }
  *deadline_ = next;
}

bool Transfer::TooSlow(int64_t now_ns) {
  const FetchLimits& limits = shared_.options.limits;
  if (limits.lowest_speed == 0 || now_ns < window_ns_ + limits.speed_window_ns) return false;
  const double seconds = static_cast<double>(now_ns - window_ns_) / kSecond;
  if (static_cast<double>(window_bytes_) < static_cast<double>(limits.lowest_speed) * seconds) return true;
  window_ns_ = now_ns;
  window_bytes_ = 0;
  return false;
}

std::optional<FetchOutcome> Transfer::CheckTime(int64_t now_ns) {
  const FetchLimits& limits = shared_.options.limits;
  const bool over = now_ns >= response_.times.begin_ns + limits.total_ns;
  switch (phase_) {
    case TransferPhase::kConnecting:
      if (over || now_ns >= response_.times.begin_ns + limits.connect_ns) return FetchOutcome::kConnectTimeout;
      break;
    case TransferPhase::kAsked:
      if (over || now_ns >= asked_ns_ + limits.first_byte_ns) return FetchOutcome::kFirstByteTimeout;
      break;
    case TransferPhase::kHead:
      if (over || TooSlow(now_ns)) return FetchOutcome::kFirstByteTimeout;
      break;
    case TransferPhase::kBody:
      if (over || TooSlow(now_ns)) return FetchOutcome::kTimeCut;
      break;
  }
  SetDeadline();
  return std::nullopt;
}

FetchResponse Transfer::Finish(CURLcode code) {
  if (decided_) return TakeResponse(*decided_);
  long os_error = 0;  // NOLINT(google-runtime-int)
  curl_easy_getinfo(easy_, CURLINFO_OS_ERRNO, &os_error);
  if (code != CURLE_OK) response_.detail = error_[0] != '\0' ? error_.data() : curl_easy_strerror(code);
  return TakeResponse(OutcomeOfTransfer({.code = code,
                                         .phase = phase_,
                                         .os_error = socket_errno_ != 0 ? socket_errno_ : static_cast<int>(os_error),
                                         .detail = response_.detail}));
}

FetchResponse Transfer::Finish(FetchOutcome outcome, std::string_view detail) {
  response_.detail = detail;
  return TakeResponse(outcome);
}

FetchResponse Transfer::TakeResponse(FetchOutcome outcome) {
  *deadline_ = kNoDeadline;
  response_.times.end_ns = shared_.options.clock->NowNs();
  response_.outcome = outcome;
  if (phase_ >= TransferPhase::kAsked) {
    const bool absolute = !shared_.options.proxy.empty() && shared_.options.proxy.starts_with("http") &&
                          response_.task.url.starts_with("http:");
    response_.request_head = shared_.fields.HeadFor(response_.task, conditional_, absolute);
  }
  if (HasAnswer(outcome) && head_.whole()) {
    long version = 0;  // NOLINT(google-runtime-int)
    curl_easy_getinfo(easy_, CURLINFO_HTTP_VERSION, &version);
    response_.version = VersionOf(version);
    response_.status = head_.status();
    response_.response_head = head_.TakeHead();
  } else {
    response_.body = {};
  }
  return std::move(response_);
}

}  // namespace portolan
