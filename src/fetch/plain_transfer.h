// PlainTransfer: a fetch over HTTP/1.1 without TLS, as a state machine that is fed bytes: it makes no system calls.
//
// Why not libcurl here, too: it costs 50 us more per page over a new connection (`bench fetch`), mostly in twelve
// system calls that a GET does not need and in its own bookkeeping. Where a body ends follows RFC 9112 by http/
// (FramingOf, ChunkedDecoder), so that archives are read back the same way.
//
// Thread: the loop's. Memory bound: Exchange's, and a line of a head.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fetch/exchange.h"
#include "http/chunked.h"
#include "http/headers.h"

namespace portolan {

class PlainTransfer : public Exchange {
 public:
  using Exchange::Exchange;

  // REQUIRES: no fetch runs.
  void Begin(FetchTask&& task);

  // Connect to the task's address and this port; 0: the URL has no readable port.
  uint16_t port() const { return port_; }
  const FetchTask& task() const { return response_.task; }

  // The fetch cannot begin. Returns true always.
  bool Refuse(FetchOutcome outcome, std::string_view detail) { return End(outcome, detail); }

  bool connecting() const { return phase_ == TransferPhase::kConnecting; }
  // There is a connection; request() must be sent.
  void OnConnected(bool kept) { Connected(kept); }
  std::string_view request() const { return sent_.empty() ? response_.request_head : sent_; }

  // See Exchange.
  size_t MayReceive(size_t most) { return Exchange::MayReceive(most); }
  void GiveBackUnused() { Exchange::GiveBackUnused(); }
  // Its socket, as PlainHttp noted it.
  int socket() const { return socket_; }
  void set_socket(int socket) { socket_ = socket; }

  // Bytes came, or the other side closed. True: the fetch is over, take it with Finish().
  bool Feed(std::string_view bytes);
  bool OnClosed();
  // The connection broke. Returns as Feed does.
  bool OnError(int os_error);

  // REQUIRES: one of those was true.
  FetchResponse Finish();
  // The owner ended it (a time limit, a stop).
  FetchResponse Finish(FetchOutcome outcome, std::string_view detail);

  // After an end by Feed: the connection may carry another request.
  bool reusable() const { return reusable_; }

 private:
  bool End(FetchOutcome outcome, std::string_view detail);  // always true
  bool FeedHead(std::string_view& bytes);
  bool FeedBody(std::string_view bytes);
  bool OnHead();
  FetchResponse Take(FetchOutcome outcome);

  uint16_t port_ = 0;
  int socket_ = -1;
  std::string sent_;  // the request, where it is not what the archive gets
  std::string line_;  // of a head, as far as it came
  Framing framing_;
  uint64_t left_ = 0;  // of kLength
  ChunkedDecoder chunked_;
  std::string piece_;        // what chunks gave, scratch
  bool stays_open_ = false;  // says the head
  bool reusable_ = false;
};

}  // namespace portolan
