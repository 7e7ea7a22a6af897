// LinkTransport: what a shard needs of the messaging server, and nothing else. NatsTransport is NATS with JetStream;
// sim/cluster has one in virtual time. So everything that decides (windows, sending again, fencing, losses, the end of
// the crawl) is the same code in both.
//
//   streams    one per receiving shard, stored by the server (link_stream.h). A batch that was published has exactly
//   one
//              answer, sooner or later.
//   datagrams  from shard to shard, not stored: may be lost, late, out of order, or come twice
//   reports    one value per shard, kept by the server; a later one replaces it
//   the clock  the server's, for those who must agree on a time (phase_clock.h)
//
// A transport belongs to one process that holds one shard.
//
// Thread: state, Tell and TakeTold any; the rest one owner. Calls that ask the server wait for its answer, for a
// bounded time (seconds); kClosed: there was none. Memory bound: what was published and not answered (the windows of
// LinkSender), one fetch of the own stream, and kMaxTold datagrams; more of those are dropped.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/link_stream.h"

namespace portolan {

enum class TransportState : uint8_t {
  kConnected,
  kAway,    // it will be back
  kClosed,  // for good: refused
};

struct TransportStatus {
  TransportState state = TransportState::kConnected;
  uint64_t reconnects = 0;  // how many times the server came back
  std::string reason;       // of kAway and kClosed, when known
};

enum class LinkAckKind : uint8_t {
  kStored,
  kFull,   // the stream takes no more now
  kAgain,  // no answer, or one that says nothing: send it again
  kGone,   // there is no such stream
};

struct LinkAck {
  LinkAckKind kind = LinkAckKind::kAgain;
  uint32_t to = 0;
  uint64_t number = 0;
  uint64_t sequence = 0;   // kStored: in the stream
  bool duplicate = false;  // it was there already
};

enum class LinkFetch : uint8_t {
  kSome,     // messages were handed over
  kNothing,  // none had come
  kBroken,   // begin again
};

// What the server's calendar said, at some moment between the question and the answer (steady).
struct ServerTime {
  int64_t asked_ns = 0;
  int64_t answered_ns = 0;
  int64_t server_ns = 0;
};

class LinkTransport {
 public:
  static constexpr size_t kMaxTold = 4096;
  static constexpr size_t kMaxDatagram = 32 * 1024;

  virtual ~LinkTransport() = default;

  virtual TransportStatus status() const = 0;
  virtual int64_t NowNs() const = 0;  // steady

  // ---- streams
  // kNotFound: there is no such stream.
  virtual Result<LinkStreamInfo> ReadStream(uint32_t shard) = 0;
  // Sends a batch (link_batch.h) without waiting for the answer. `id`: the server drops what it stored lately under the
  // same one. False: it was not sent.
  virtual bool Publish(uint32_t to, std::string_view id, std::string_view batch, int64_t ack_wait_ns) = 0;
  virtual std::vector<LinkAck> TakeAcks() = 0;

  // ---- the own stream
  // Messages from the one of number `from` on that have come, in their order; the sink says whether to go on. What has
  // not come is asked for, and not waited for: SetWake tells. A message may be missing or come again: the reader looks
  // at the numbers. After kBroken, FetchAnew, or if the sink said no, or with another `from` than the messages before
  // lead to, what the server has is asked for anew.
  using MessageSink = std::function<bool(uint64_t sequence, std::string_view bytes)>;
  virtual Result<LinkFetch> Fetch(uint64_t from, const MessageSink& sink) = 0;
  virtual void FetchAnew() = 0;
  // True: the stream says that it does not have this message. False: it has it, or did not answer.
  virtual bool HasNot(uint64_t sequence) = 0;
  // Removes the messages below this one.
  virtual Status Trim(uint64_t sequence) = 0;

  // ---- datagrams: at most kMaxDatagram bytes
  virtual void Tell(uint32_t to, std::string_view datagram) = 0;
  virtual std::vector<std::string> TakeTold() = 0;

  // ---- reports
  virtual Status PutReport(std::string_view report) = 0;
  // kNotFound: that shard never wrote one.
  virtual Result<std::string> ReadReport(uint32_t shard) = 0;

  // ---- the clock
  // Asks the server for its time: a stamp that it gives, never this machine's calendar.
  virtual Result<ServerTime> AskTime() = 0;

  // Called when there is something to take: answers, messages, datagrams. On any thread, which must
  // not wait for this transport. After another SetWake it is not called any more.
  virtual void SetWake(std::function<void()> wake) = 0;
};

}  // namespace portolan
