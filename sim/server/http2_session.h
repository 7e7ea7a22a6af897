// Http2Session: the server side of one HTTP/2 connection (RFC 9113), framed by nghttp2. No sockets in here.
//
// An Answer means the same as over HTTP/1, as far as HTTP/2 has an equal:
//
//   kReset, kEmptyReply                    RST_STREAM(INTERNAL_ERROR) instead of an answer
//   kGarbage, kHttp09, kBadChunks          RST_STREAM(PROTOCOL_ERROR) instead of an answer
//   kResetInBody, kCloseEarly              `fault_at` bytes of the body, then RST_STREAM(INTERNAL_ERROR)
//   kLongLength, kShortLength              a content-length that is wrong, the body whole
//   kSlowFirstByte, kTarpit, kEndless, kHeaderFlood   the same, within the stream
//   http10, keep_alive, cut_keep_alive     nothing: streams end, the connection stays
//
// Thread: one owner. Memory bound: kMostStreams streams, each with kMostHeadBytes of a head and its answer's body;
// about 32 KiB of output.

#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sim/server/server_context.h"

namespace portolan::sim {

class Http2Session {
 public:
  static constexpr uint32_t kMostStreams = 100;
  static constexpr size_t kMostHeadBytes = size_t{32} << 10;
  static constexpr size_t kRoundBytes = size_t{512} << 10;

  // nullptr when out of memory.
  static std::unique_ptr<Http2Session> Create(ServerContext& context, const ConnectionFacts& facts);
  ~Http2Session();
  // Open streams are logged as given up. When the last request of this connection ended; 0: there was none.
  int64_t LogOpenStreams();

  // False: the connection must be closed.
  bool Feed(std::string_view bytes);
  // Bytes to be sent; empty when there is nothing now.
  std::string_view Output();
  void Sent(size_t bytes);
  // kRoundBytes were sent since NewRound: other connections must be served, too.
  bool round_is_over() const { return round_bytes_ >= kRoundBytes; }
  void NewRound() { round_bytes_ = 0; }
  // Both sides are finished.
  bool finished() const;

  // When OnTime wants to be called; 0: never.
  int64_t next_deadline_ns() const { return timers_.empty() ? 0 : timers_.begin()->first; }
  void OnTime(int64_t now_ns);

 private:
  struct Stream;
  struct Callbacks;

  Http2Session(ServerContext& context, const ConnectionFacts& facts);
  void Answered(Stream& stream);                     // the request is whole: asks the site
  void Submit(Stream& stream);                       // sends the answer's head
  void Refuse(Stream& stream, uint32_t error_code);  // RST_STREAM
  void WaitUntil(Stream& stream, int64_t deadline_ns);
  void Log(const Stream& stream);
  Stream* Find(int32_t id);

  ServerContext& context_;
  const ConnectionFacts& facts_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, std::unique_ptr<Stream>> streams_;
  std::set<std::pair<int64_t, int32_t>> timers_;  // deadline, stream
  std::string output_;
  size_t output_sent_ = 0;
  size_t round_bytes_ = 0;
  int64_t last_end_ns_ = 0;  // unix time
};

}  // namespace portolan::sim
