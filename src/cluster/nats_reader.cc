#include "cluster/nats_reader.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <mutex>
#include <utility>
#include <vector>

#include "cluster/late_calls.h"

namespace portolan {
namespace {

constexpr int64_t kRequestNs = 30 * kSecond;  // how long the server keeps a request that has not all its messages
constexpr int64_t kOverdueNs = 10 * kSecond;  // after that its end should have been heard of
constexpr int64_t kIdleNs = 120 * kSecond;    // the server removes a consumer that nobody asks for so long

struct Received {
  uint64_t sequence = 0;
  std::string bytes;
};

}  // namespace

// What the thread of libnats brings.
struct NatsReader::Mail {
  explicit Mail(const NatsReaderOptions& options) : most_messages(options.messages), most_bytes(2 * options.bytes) {}

  const uint32_t most_messages;
  const uint64_t most_bytes;  // the last message of a request may go beyond the bytes that it asked for
  std::function<void()> wake;
  std::string inbox;
  std::mutex mutex;
  // Guarded by mutex:
  std::vector<Received> messages;
  uint64_t bytes = 0;
  uint64_t request = 0;  // the last one
  uint32_t left = 0;     // messages that it may still bring
  bool broken = false;

  void Add(natsMsg* message);
  void AddStatus(natsMsg* message, std::string_view status);
};

void NatsReader::Mail::Add(natsMsg* message) {
  const auto size = static_cast<size_t>(natsMsg_GetDataLength(message));
  const char* status = nullptr;
  const bool says_status = size == 0 && natsMsgHeader_Get(message, "Status", &status) == NATS_OK;
  jsMsgMetaData* meta = nullptr;
  if (!says_status && natsMsg_GetMetaData(&meta, message) != NATS_OK) return;  // no message of a stream
  const std::unique_ptr<jsMsgMetaData, void (*)(jsMsgMetaData*)> owner(meta, jsMsgMetaData_Destroy);
  {
    const std::lock_guard lock(mutex);
    if (says_status) {
      if (natsMsg_GetSubject(message) != fmt::format("{}.{}", inbox, request)) return;
      AddStatus(message, status);
    } else {  // its subject is the stream's

      if (messages.size() >= most_messages || bytes + size > most_bytes) return;
      bytes += size;
      messages.push_back({meta->Sequence.Stream, std::string(natsMsg_GetData(message), size)});
      if (left > 0) --left;
    }
  }
  wake();
}

void NatsReader::Mail::AddStatus(natsMsg* message, std::string_view status) {
  left = 0;
  if (status == "404" || status == "408") return;  // nothing came in its time
  const char* words = nullptr;
  const bool used_up = status == "409" && natsMsgHeader_Get(message, "Description", &words) == NATS_OK &&
                       std::string_view(words).find("MaxBytes") != std::string_view::npos;
  broken = broken || !used_up;  // there is no such consumer any more, or no JetStream
}

NatsReader::NatsReader(NatsConnection& connection, const NatsReaderOptions& options)
    : connection_(connection), options_(options), mail_(std::make_shared<Mail>(options)) {}

Result<std::unique_ptr<NatsReader>> NatsReader::Open(NatsConnection& connection, const NatsReaderOptions& options,
                                                     uint64_t from, std::function<void()> wake) {
  std::unique_ptr<NatsReader> reader(new NatsReader(connection, options));
  RETURN_IF_ERROR(reader->Start(from, std::move(wake)));
  return reader;
}

Status NatsReader::Start(uint64_t from, std::function<void()> wake) {
  const std::string what = fmt::format("reading stream {}", options_.stream);
  jsConsumerConfig config;
  jsConsumerConfig_Init(&config);
  config.DeliverPolicy = js_DeliverByStartSequence;
  config.OptStartSeq = from;
  // Nothing is acknowledged: the position is in the manifest.
  config.AckPolicy = js_AckNone;
  config.InactiveThreshold = kIdleNs;
  jsConsumerInfo* info = nullptr;
  jsErrCode code = static_cast<jsErrCode>(0);
  natsStatus s = js_AddConsumer(&info, connection_.jetstream(), options_.stream.c_str(), &config, nullptr, &code);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, code, what));
  consumer_ = info->Name;
  jsConsumerInfo_Destroy(info);

  natsInbox* inbox = nullptr;
  s = natsInbox_Create(&inbox);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, what));
  inbox_ = inbox;
  natsInbox_Destroy(inbox);
  mail_->inbox = inbox_;
  mail_->wake = std::move(wake);
  callback_ = LateCalls<Mail>::Add(mail_);
  const auto on_message = [](natsConnection*, natsSubscription*, natsMsg* message, void* closure) {
    if (const auto mail = LateCalls<Mail>::Find(closure)) mail->Add(message);
    natsMsg_Destroy(message);
  };
  s = natsConnection_Subscribe(&subscription_, connection_.handle(), (inbox_ + ".*").c_str(), on_message,
                               LateCalls<Mail>::Closure(callback_));
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, what));
  return Ask() ? Status() : Fail(ErrorCode::kClosed, what + ": not connected");
}

NatsReader::~NatsReader() {
  LateCalls<Mail>::Remove(callback_);
  if (subscription_ != nullptr) {
    natsSubscription_Unsubscribe(subscription_);
    natsSubscription_Destroy(subscription_);
  }
  // If that is lost, the server removes it later.
  const std::string subject = fmt::format("$JS.API.CONSUMER.DELETE.{}.{}", options_.stream, consumer_);
  if (!consumer_.empty()) natsConnection_PublishString(connection_.handle(), subject.c_str(), "");
}

bool NatsReader::Ask() {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mail_->mutex);
    number = ++mail_->request;
    mail_->left = options_.messages;
  }
  asked_ns_ = connection_.clock().NowNs();
  const std::string subject = fmt::format("$JS.API.CONSUMER.MSG.NEXT.{}.{}", options_.stream, consumer_);
  const std::string words =
      fmt::format(R"({{"batch":{},"max_bytes":{},"expires":{}}})", options_.messages, options_.bytes, kRequestNs);
  return natsConnection_PublishRequestString(connection_.handle(), subject.c_str(),
                                             fmt::format("{}.{}", inbox_, number).c_str(), words.c_str()) == NATS_OK;
}

LinkFetch NatsReader::Take(const LinkTransport::MessageSink& sink) {
  std::vector<Received> messages;
  bool over = false;
  {
    const std::lock_guard lock(mail_->mutex);
    if (mail_->broken) return LinkFetch::kBroken;
    messages = std::exchange(mail_->messages, {});
    mail_->bytes = 0;
    over = mail_->left == 0;
  }
  for (const Received& message : messages) {
    if (!sink(message.sequence, message.bytes)) return LinkFetch::kSome;
  }
  if (over && !Ask()) return LinkFetch::kBroken;
  if (!over && connection_.clock().NowNs() - asked_ns_ > kRequestNs + kOverdueNs) return LinkFetch::kBroken;
  return messages.empty() ? LinkFetch::kNothing : LinkFetch::kSome;
}

}  // namespace portolan
