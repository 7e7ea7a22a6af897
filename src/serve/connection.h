// Connection: the bytes of one connection to the server, with bounds in time and size; knows nothing about HTTP but
// where a head ends.
//
// Thread: one owner. Memory bound: a head and 64 KiB for reading, 64 KiB for writing.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "serve/http_server.h"

namespace portolan {

// A switch that poll can wait for: on until it is turned off.
class PollSwitch {
 public:
  PollSwitch();
  ~PollSwitch();
  PollSwitch(const PollSwitch&) = delete;
  PollSwitch& operator=(const PollSwitch&) = delete;
  void TurnOn();
  void TurnOff();
  int fd() const { return fd_; }

 private:
  int fd_;
};

class Connection {
 public:
  static constexpr size_t kPiece = size_t{64} << 10;
  static constexpr int64_t kLingerNs = kSecond;
  static constexpr int64_t kStopNs = 2 * kSecond;  // to send an answer after Stop

  enum class Head { kComplete, kNone, kTooLarge, kTooSlow };

  // Owns neither the socket nor the switches: `stop` ends everything, `crowd` what is idle.
  Connection(int socket, const HttpLimits& limits, const PollSwitch& stop, const PollSwitch& crowd)
      : socket_(socket), limits_(limits), stop_(stop), crowd_(crowd) {}

  // Waits for the next head and reads it whole. kNone: there comes none.
  Head ReadHead();
  // Of the head, and behind it of a body of up to `kMaxBody` and its framing. As read(2); -1 also at a bound.
  int64_t Read(char* to, size_t size);
  // Buffered. False: the client has gone or takes too long.
  bool Write(std::string_view bytes);
  bool Flush();
  // Tells the client that nothing more comes, and lets it finish sending, so that it reads the answer.
  void Linger();

  int socket() const { return socket_; }
  int64_t began_ns() const { return began_ns_; }  // when the head's first byte came
  bool body_too_large() const { return body_too_large_; }

 private:
  enum class Ready { kYes, kTimeout, kStop, kCrowd };
  Ready Wait(short events, int64_t deadline, bool idle) const;
  // Receives up to a piece, behind what is there. 0: the end.
  int64_t Receive();
  void DropRanges();

  const int socket_;
  const HttpLimits& limits_;
  const PollSwitch& stop_;
  const PollSwitch& crowd_;
  std::string in_;
  size_t at_ = 0;        // up to here it was read
  size_t head_end_ = 0;  // in in_
  bool first_ = true;    // request of this connection
  int64_t began_ns_ = 0;
  int64_t body_deadline_ = 0;
  size_t body_bytes_ = 0;
  bool body_too_large_ = false;
  std::string out_;
  int64_t write_deadline_ = 0;
};

}  // namespace portolan
