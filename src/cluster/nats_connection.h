// NatsConnection: one connection to nats-server, and what became of it.
//
// libnats calls back on threads of its own. No callback touches anything of ours but a small state under a lock
// (here) or a Mailbox (LinkSender), found by number in a table: a callback that comes late finds nothing.
//
//   server away at start   Connect waits and tries again, and says so through `waiting`, until that says no
//   server away later      the state is kAway; libnats connects again by itself, without end
//   wrong password, wrong certificate, JetStream off     an Error at once: waiting would not help
//   the server hangs up after the TLS handshake          an Error at the third time: it wants our certificate
//   refused while connecting again                       kClosed, with the reason
//
// Thread: status any; the rest one owner. A call that asks the server waits at most Options::request_ns.
// Memory bound: pending_bytes of what is sent while the server is away, and per subscription pending_messages.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "io/clock.h"

struct __natsConnection;  // of libnats, whose header stays out of ours
struct __jsCtx;

namespace portolan {

struct NatsOptions {
  std::string url = "nats://127.0.0.1:4222";  // several: with commas. May contain user and password
  std::string credentials_file;               // of NATS accounts (JWT and seed)
  std::string ca_file;                        // PEM. With it, or with tls:// in the URL, the connection uses TLS
  std::string certificate_file;               // of this client, with key_file
  std::string key_file;
  std::string name;  // shown by the server
  int64_t retry_ns = kSecond;
  int64_t request_ns = 5 * kSecond;
  uint32_t pending_bytes = 1 << 20;
  uint32_t pending_messages = 65'536;  // waiting for us, per subscription; libnats counts 1 KiB for each
};

enum class NatsState : uint8_t {
  kConnected,
  kAway,    // libnats tries to connect again
  kClosed,  // for good: the server refuses us, or this object ended it
};

struct NatsStatus {
  NatsState state = NatsState::kConnected;
  int64_t since_ns = 0;     // steady
  uint64_t reconnects = 0;  // how many times the server came back
  std::string reason;       // of kAway and kClosed, when known
};

struct NatsWait {
  uint32_t attempts = 0;
  int64_t waited_ns = 0;
  std::string reason;
};

class NatsConnection {
 public:
  // `waiting` is called after each attempt that found no server. It tells the operator, waits (retry_ns, or until the
  // program is to stop) and says whether to try again; false ends it with kClosed. None: one attempt.
  static Result<std::unique_ptr<NatsConnection>> Connect(const NatsOptions& options, const Clock& clock,
                                                         const std::function<bool(const NatsWait&)>& waiting = {});
  ~NatsConnection();
  NatsConnection(const NatsConnection&) = delete;
  NatsConnection& operator=(const NatsConnection&) = delete;

  NatsStatus status() const;
  const Clock& clock() const { return clock_; }
  int64_t request_ns() const { return options_.request_ns; }
  __natsConnection* handle() const { return connection_; }
  __jsCtx* jetstream() const { return jetstream_; }

 private:
  struct State;
  NatsConnection(const NatsOptions& options, const Clock& clock);
  Status Open();
  Status CheckJetStream();

  const NatsOptions options_;
  const Clock& clock_;
  std::shared_ptr<State> state_;
  uint64_t callback_ = 0;
  __natsConnection* connection_ = nullptr;
  __jsCtx* jetstream_ = nullptr;
  bool hung_up_ = false;  // Open: the server broke a connection with TLS off before it said a word
};

// The URL without user and password.
std::string NatsUrlForPeople(std::string_view url);

// What a call of libnats says, as an Error: kClosed (away, no answer in time), kInvalidArgument (refused), kNotFound,
// kNoSpace (a bound of the server is reached), kUnsupported (JetStream is off), kIo. `code` is a jsErrCode.
Error NatsError(int status, int code, std::string_view what);

}  // namespace portolan
