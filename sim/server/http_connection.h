// HttpConnection: one accepted connection of the simulated web, from its handshake to its end.
//
// HTTP/1.0 and 1.1: reads a head, asks the site, plays the WireScript, reads the next. Pipelined requests wait in the
// input until the answer before them is out. HTTP/2 (by ALPN) is handed to an Http2Session.
//
//   handshake ──► reading ──► asked ──► playing (writing | waiting for a timer) ──► reading …
//                                         └──► lingering (FIN sent, what the client still sends is discarded) ──►
//                                         closed
//
// A request that was read is answered when everything that came with it is read, too (Poller::AfterReading): so the log
// shows which requests were open at once (hit_log.h). A connection is over in the log when the client has closed it.
//
// A client that shuts its side down while it waits has given up. Request bodies are read and discarded.
//
// Thread: its server thread. Memory bound: a head (32 KiB) and one read (64 KiB) of input, the answer being sent, and
// what TLS or HTTP/2 keep. A round of writing ends after kWriteRound bytes, so no client keeps the others waiting.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sim/server/http2_session.h"
#include "sim/server/poller.h"
#include "sim/server/request_head.h"
#include "sim/server/server_context.h"
#include "sim/server/transport.h"
#include "sim/server/wire_script.h"

namespace portolan::sim {

class HttpConnection;

// All connections of a server thread, the one silent for longest first. Owns them.
class ConnectionList {
 public:
  size_t size() const { return size_; }
  HttpConnection* first() const { return first_; }
  void PushBack(HttpConnection* connection);
  void Remove(HttpConnection* connection);

 private:
  HttpConnection* first_ = nullptr;
  HttpConnection* last_ = nullptr;
  size_t size_ = 0;
};

class HttpConnection : public EventSource {
 public:
  static constexpr uint64_t kMostBodyBytes = uint64_t{1} << 20;  // of a request
  static constexpr size_t kWriteRound = size_t{512} << 10;
  static constexpr int kReadRounds = 16;  // reads in a row
  static constexpr int64_t kLingerNs = 2 * kSecond;

  // Puts itself into the list, and tries at once to read: the request is often there already.
  static void Start(ServerContext& context, ConnectionList& list, Transport transport, ConnectionFacts facts);

  void OnReady(uint32_t events) override;
  void OnTimer() override;
  void OnAllRead() override;

  // Closed as by a client that is gone. The object dies after the round.
  void Abandon();
  int64_t last_active_ns() const { return last_active_ns_; }
  bool waits_for_timer() const { return waiting_; }
  void Touch();

 private:
  friend class ConnectionList;
  enum class State : uint8_t { kHandshake, kReading, kAsked, kPlaying, kLingering, kHttp2, kClosed };
  enum class Played : uint8_t { kDone, kBlocked };

  HttpConnection(ServerContext& context, ConnectionList& list, Transport transport, ConnectionFacts facts);

  void GoOn();  // handshake or reading, whichever it is
  void ReadMore();
  // Reads the next request from `input` if it is whole there; the number of bytes that are done with.
  size_t TakeRequest(std::string_view input);
  void AnswerRequest();
  void Begin(SharedAnswer answer);
  Played Play();
  void FinishScript();  // logs the hit and ends as the script says
  void RunHttp2();      // sends what there is to be sent
  void Drain();
  void SetInterest(uint32_t events);
  void Unregister();
  void EndGently();  // FIN, then lingers
  void CloseNow();
  void LogClose();
  void LogHit();
  void KeepRequest();  // beyond the life of the input

  ServerContext& context_;
  ConnectionList& list_;
  HttpConnection* previous_ = nullptr;
  HttpConnection* next_ = nullptr;
  Transport transport_;
  const ConnectionFacts facts_;
  State state_ = State::kHandshake;
  uint32_t interest_ = 0;
  bool registered_ = false;
  bool close_logged_ = false;
  int64_t last_active_ns_ = 0;
  int64_t last_logged_ns_ = 0;  // unix time of this connection's last log entry

  std::string input_;  // not served yet
  uint64_t skip_ = 0;  // bytes of a request's body still to come

  // The exchange being played.
  RequestHead head_;  // its views are of kept_
  int refusal_ = 0;   // the status of an answer that the site is not asked for; 0: it is
  bool hit_open_ = false;
  bool client_closes_ = false;
  bool waiting_ = false;  // for the timer
  WireScript script_;
  size_t sent_ = 0;         // of head and body
  size_t repeat_sent_ = 0;  // of the current repetition
  Hit hit_;
  std::string kept_;

  std::unique_ptr<Http2Session> http2_;
  bool more_to_read_ = false;   // ReadMore ended before the input did
  bool http2_blocked_ = false;  // the socket takes no more, or the round is over
};

}  // namespace portolan::sim
