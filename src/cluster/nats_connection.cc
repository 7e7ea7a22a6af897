#include "cluster/nats_connection.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/check.h"
#include "cluster/late_calls.h"
#include "io/env.h"

namespace portolan {

struct NatsConnection::State {
  explicit State(const Clock& c) : clock(c) {}
  const Clock& clock;
  std::mutex mutex;
  NatsStatus status;  // guarded by mutex

  void Set(NatsState state, std::string reason) {
    const std::lock_guard lock(mutex);
    if (status.state == NatsState::kClosed) return;
    if (state == NatsState::kConnected && status.state == NatsState::kAway) ++status.reconnects;
    status.state = state;
    status.since_ns = clock.NowNs();
    if (!reason.empty() || state == NatsState::kConnected) status.reason = std::move(reason);
  }
};

namespace {

using ConnectionState = LateCalls<void>;

std::string LastError(natsConnection* connection) {
  const char* text = nullptr;
  const natsStatus status = natsConnection_GetLastError(connection, &text);
  if (status == NATS_OK) return {};
  return text != nullptr && *text != '\0' ? text : natsStatus_GetText(status);
}

// libnats puts its own source line before what it says.
std::string_view WithoutPlace(std::string_view text) {
  const size_t end = text.find("): ");
  return text.starts_with('(') && end != std::string_view::npos ? text.substr(end + 3) : text;
}

// A server that refuses a certificate does so after the handshake of TLS 1.3: it only hangs up. One that dies while it
// is spoken to looks the same, but not again and again.
constexpr uint32_t kHangsUp = 3;

bool HungUp(natsStatus status) {
  return status == NATS_PROTOCOL_ERROR || status == NATS_IO_ERROR || status == NATS_CONNECTION_CLOSED ||
         status == NATS_STALE_CONNECTION;
}

bool UsesTls(const NatsOptions& options) {
  return !options.ca_file.empty() || !options.certificate_file.empty() ||
         options.url.find("tls://") != std::string::npos;
}

bool ServerIsAway(natsStatus status) {
  return status == NATS_NO_SERVER || status == NATS_TIMEOUT || status == NATS_IO_ERROR ||
         status == NATS_CONNECTION_CLOSED || status == NATS_STALE_CONNECTION || status == NATS_CONNECTION_DISCONNECTED;
}

}  // namespace

std::string NatsUrlForPeople(std::string_view url) {
  std::string out;
  while (!url.empty()) {
    const size_t comma = std::min(url.find(','), url.size());
    const std::string_view one = url.substr(0, comma);
    const size_t scheme = one.find("://");
    const size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    const size_t at = one.rfind('@');
    if (!out.empty()) out += ',';
    out += one.substr(0, begin);
    out += one.substr(at == std::string_view::npos ? begin : at + 1);
    url.remove_prefix(std::min(comma + 1, url.size()));
  }
  return out;
}

Error NatsError(int status_number, int code_number, std::string_view what) {
  const natsStatus status = static_cast<natsStatus>(status_number);
  const jsErrCode js = static_cast<jsErrCode>(code_number);
  ErrorCode code = ErrorCode::kIo;
  std::string detail = natsStatus_GetText(status);
  natsStatus last = NATS_OK;
  const char* text = nats_GetLastError(&last);
  if (last == status && text != nullptr && *text != '\0') detail = WithoutPlace(text);
  if (js == JSNotEnabledErr || js == JSNotEnabledForAccountErr) {
    code = ErrorCode::kUnsupported;
    detail = "JetStream is off: start nats-server with -js, or enable it for this account";
  } else if (js == JSStreamNotFoundErr || js == JSNoMessageFoundErr || status == NATS_NOT_FOUND) {
    code = ErrorCode::kNotFound;
  } else if (js == JSStorageResourcesExceededErr || js == JSMemoryResourcesExceededErr ||
             js == JSAccountResourcesExceededErr || js == JSInsufficientResourcesErr) {
    code = ErrorCode::kNoSpace;
  } else if (js == JSStreamNameExistErr) {
    code = ErrorCode::kExists;
  } else if (ServerIsAway(status) || status == NATS_NO_RESPONDERS) {
    code = ErrorCode::kClosed;
  } else if (status == NATS_CONNECTION_AUTH_FAILED || status == NATS_NOT_PERMITTED || status == NATS_SSL_ERROR ||
             status == NATS_SECURE_CONNECTION_WANTED || status == NATS_SECURE_CONNECTION_REQUIRED ||
             status == NATS_INVALID_ARG || status == NATS_ADDRESS_MISSING) {
    code = ErrorCode::kInvalidArgument;
  }
  return Error(code, fmt::format("{}: {}", what, detail));
}

NatsConnection::NatsConnection(const NatsOptions& options, const Clock& clock)
    : options_(options), clock_(clock), state_(std::make_shared<State>(clock)) {
  callback_ = ConnectionState::Add(state_);
}

NatsConnection::~NatsConnection() {
  ConnectionState::Remove(callback_);
  jsCtx_Destroy(jetstream_);
  natsConnection_Destroy(connection_);
}

NatsStatus NatsConnection::status() const {
  const std::lock_guard lock(state_->mutex);
  return state_->status;
}

Result<std::unique_ptr<NatsConnection>> NatsConnection::Connect(const NatsOptions& options, const Clock& clock,
                                                                const std::function<bool(const NatsWait&)>& waiting) {
  const int64_t begin = clock.NowNs();
  NatsWait wait;
  uint32_t hang_ups = 0;
  while (true) {
    std::unique_ptr<NatsConnection> connection(new NatsConnection(options, clock));
    Status opened = connection->Open();
    if (opened) opened = connection->CheckJetStream();
    if (opened) return connection;
    Error error = std::move(opened).error();
    hang_ups = connection->hung_up_ ? hang_ups + 1 : 0;
    if (hang_ups == kHangsUp) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("NATS at {}: the server hangs up after the TLS handshake: it wants a certificate of this "
                              "program that its authority has signed (--nats-cert, --nats-key)",
                              NatsUrlForPeople(options.url)));
    }
    if (error.code() != ErrorCode::kClosed) return std::unexpected<Error>(std::move(error));
    connection.reset();
    ++wait.attempts;
    wait.waited_ns = clock.NowNs() - begin;
    wait.reason = error.message();
    if (!waiting || !waiting(wait)) return std::unexpected<Error>(std::move(error));
  }
}

Status NatsConnection::Open() {
  const std::string what = fmt::format("NATS at {}", NatsUrlForPeople(options_.url));
  natsOptions* raw = nullptr;
  natsStatus s = natsOptions_Create(&raw);
  const std::unique_ptr<natsOptions, void (*)(natsOptions*)> options(raw, natsOptions_Destroy);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, what));
  std::vector<std::string> urls;
  for (std::string_view rest = options_.url; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (comma > 0) urls.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (urls.empty()) return Fail(ErrorCode::kInvalidArgument, "NATS: no URL (nats://HOST:4222)");
  std::vector<const char*> servers;
  for (const std::string& url : urls) servers.push_back(url.c_str());
  const auto set = [&](natsStatus status) {
    if (s == NATS_OK) s = status;
  };
  set(natsOptions_SetServers(raw, servers.data(), static_cast<int>(servers.size())));
  if (!options_.name.empty()) set(natsOptions_SetName(raw, options_.name.c_str()));
  set(natsOptions_SetTimeout(raw, options_.request_ns / kMillisecond));
  set(natsOptions_SetMaxReconnect(raw, -1));
  set(natsOptions_SetReconnectWait(raw, options_.retry_ns / kMillisecond));
  set(natsOptions_SetReconnectBufSize(raw, static_cast<int>(options_.pending_bytes)));
  set(natsOptions_SetMaxPendingMsgs(raw, static_cast<int>(options_.pending_messages)));
  set(natsOptions_SetWriteDeadline(raw, options_.request_ns / kMillisecond));
  // A server that hangs is noticed within half a minute.
  set(natsOptions_SetPingInterval(raw, 10'000));
  set(natsOptions_SetMaxPingsOut(raw, 2));
  void* closure = ConnectionState::Closure(callback_);
  const auto away = [](natsConnection* connection, void* number) {
    if (const auto state = std::static_pointer_cast<State>(ConnectionState::Find(number))) {
      state->Set(NatsState::kAway, LastError(connection));
    }
  };
  const auto back = [](natsConnection*, void* number) {
    if (const auto state = std::static_pointer_cast<State>(ConnectionState::Find(number))) {
      state->Set(NatsState::kConnected, {});
    }
  };
  const auto closed = [](natsConnection* connection, void* number) {
    if (const auto state = std::static_pointer_cast<State>(ConnectionState::Find(number))) {
      state->Set(NatsState::kClosed, LastError(connection));
    }
  };
  set(natsOptions_SetDisconnectedCB(raw, away, closure));
  set(natsOptions_SetReconnectedCB(raw, back, closure));
  set(natsOptions_SetClosedCB(raw, closed, closure));
  if (!options_.credentials_file.empty()) {
    // libnats looks at it when it connects, and has no status of its own for a file that it cannot use.
    const auto text = ReadWholeFile(Env::Posix(), options_.credentials_file);
    if (!text) return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: {}", what, text.error().message()));
    if (text->find("-----BEGIN NATS USER JWT-----") == std::string::npos) {
      return Fail(ErrorCode::kInvalidArgument,
                  fmt::format("{}: {}: holds no credentials of a NATS user", what, options_.credentials_file));
    }
    set(natsOptions_SetUserCredentialsFromFiles(raw, options_.credentials_file.c_str(), nullptr));
  }
  if (!options_.ca_file.empty()) {
    set(natsOptions_SetSecure(raw, true));
    set(natsOptions_LoadCATrustedCertificates(raw, options_.ca_file.c_str()));
  }
  if (!options_.certificate_file.empty()) {
    set(natsOptions_LoadCertificatesChain(raw, options_.certificate_file.c_str(), options_.key_file.c_str()));
  }
  if (s != NATS_OK) {
    Error error = NatsError(s, 0, what + ": its options");
    return Fail(ErrorCode::kInvalidArgument, error.message());
  }
  s = natsConnection_Connect(&connection_, raw);
  if (s != NATS_OK) {
    Error error = NatsError(s, 0, what);
    hung_up_ = UsesTls(options_) && HungUp(s);
    if (hung_up_) return Fail(ErrorCode::kClosed, error.message());
    return std::unexpected<Error>(std::move(error));
  }
  state_->Set(NatsState::kConnected, {});
  jsOptions js;
  jsOptions_Init(&js);
  js.Wait = options_.request_ns / kMillisecond;
  s = natsConnection_JetStream(&jetstream_, connection_, &js);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, what));
  return {};
}

Status NatsConnection::CheckJetStream() {
  jsAccountInfo* info = nullptr;
  jsErrCode code = static_cast<jsErrCode>(0);
  const natsStatus s = js_GetAccountInfo(&info, jetstream_, nullptr, &code);
  jsAccountInfo_Destroy(info);
  if (s == NATS_OK) return {};
  // Nobody answers its API: the server runs without it.
  if (s == NATS_NO_RESPONDERS) code = JSNotEnabledErr;
  return std::unexpected<Error>(NatsError(s, code, fmt::format("JetStream at {}", NatsUrlForPeople(options_.url))));
}

}  // namespace portolan
