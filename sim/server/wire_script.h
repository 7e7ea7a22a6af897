// WireScript: an Answer as what an HTTP/1 connection has to do: bytes, pauses and how it ends.
//
// Framing, connection persistence and every WireFault are decided here, without a socket, so that the connection only
// plays the script: wait `delay_ns`, send head and body (one byte each `byte_interval_ns` if that is set), then
// `repeat` for ever if there is any, then end.
//
// Memory bound: the answer's body, and of a header flood at most kMostFloodBytes.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/world/answer.h"

namespace portolan::sim {

enum class ScriptEnd : uint8_t {
  kKeepAlive,  // the next request may come
  kClose,      // FIN
  kReset,      // RST
};

struct WireScript {
  static constexpr uint64_t kMostFloodBytes = uint64_t{8} << 20;
  static constexpr size_t kChunkBytes = 4096;

  int status = 0;  // of the status line; 0 when none is sent
  std::string head;
  std::string body;
  std::shared_ptr<const std::string> shared_body;  // if set: instead of body
  std::string repeat;                              // kEndless: again and again until the client goes
  int64_t delay_ns = 0;                            // before the first byte
  int64_t byte_interval_ns = 0;                    // kTarpit: the pause after each byte
  ScriptEnd end = ScriptEnd::kKeepAlive;

  std::string_view Body() const { return shared_body ? std::string_view(*shared_body) : std::string_view(body); }
};

struct ClientSide {
  bool head_only = false;  // HEAD
  bool http11 = true;      // HTTP/1.0 has no chunks
  bool keep_alive = true;  // the client would go on
  std::string_view date;   // value of the Date field; none if empty
};

// `shared_body` as in SharedAnswer.
WireScript MakeWireScript(Answer answer, const ClientSide& client,
                          std::shared_ptr<const std::string> shared_body = nullptr);

// The part of a body that goes out before a fault cuts it: less than all of a body that has any bytes.
uint64_t CutAt(const Answer& answer);
// A Content-Length that is wrong in the direction of the fault (kLongLength, kShortLength).
uint64_t WrongLength(const Answer& answer);
// What an endless body is made of: the answer's own body over and over, about 16 KiB.
std::string EndlessBlock(std::string_view body);

std::string_view StatusText(int status);

}  // namespace portolan::sim
