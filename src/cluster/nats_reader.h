// NatsReader: reads the own stream of a shard as its messages come, without a thread that waits for them.
//
// A pull consumer without acknowledgements, made by Open and again after everything that may have lost a message. One
// request at a time asks it for the next messages, whenever they come; libnats' own calls for that would block a thread
// until the last of them is there. When all messages of a request were taken, the next one is sent. Requests are
// numbered in the subject that says how they ended, so that the end of an older one is told apart.
//
//   a message                   has its number in the stream in its reply subject
//   a message with a "Status"   the request is over: nothing came in its time (408), its bytes are used up (409)
//   nothing at all, and the time of the request is long over     the request or its answers were lost: begin again
//
// Thread: one owner; messages come on a thread of libnats, into a mailbox. Memory bound: Options::messages and
// Options::bytes, of one request; a server that sends more than it was asked for: the rest is dropped, and its numbers
// are missing.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cluster/link_transport.h"
#include "cluster/nats_connection.h"

struct __natsSubscription;

namespace portolan {

struct NatsReaderOptions {
  std::string stream;
  uint32_t messages = 64;  // that are asked for at once
  uint64_t bytes = uint64_t{4} << 20;
};

class NatsReader {
 public:
  // Reads from message `from` on. `wake` is called when there is something to take, on any thread.
  // REQUIRES: the connection outlives this.
  static Result<std::unique_ptr<NatsReader>> Open(NatsConnection& connection, const NatsReaderOptions& options,
                                                  uint64_t from, std::function<void()> wake);
  ~NatsReader();
  NatsReader(const NatsReader&) = delete;
  NatsReader& operator=(const NatsReader&) = delete;

  // Hands over what came, as LinkTransport::Fetch. kBroken, or the sink said no: make another one.
  LinkFetch Take(const LinkTransport::MessageSink& sink);

 private:
  struct Mail;
  NatsReader(NatsConnection& connection, const NatsReaderOptions& options);
  Status Start(uint64_t from, std::function<void()> wake);
  bool Ask();

  NatsConnection& connection_;
  const NatsReaderOptions options_;
  std::string consumer_;
  std::string inbox_;  // answers to request N come to inbox_.N
  std::shared_ptr<Mail> mail_;
  uint64_t callback_ = 0;
  __natsSubscription* subscription_ = nullptr;
  int64_t asked_ns_ = 0;
};

}  // namespace portolan
