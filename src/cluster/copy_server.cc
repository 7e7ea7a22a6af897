#include "cluster/copy_server.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <utility>

#include "cluster/names.h"

namespace portolan {
namespace {

constexpr int64_t kWaitMs = 200;         // for a request; then it is looked whether to stop
constexpr int kWaitingRequests = 1'000;  // one copy asks for one thing at a time; the rest is somebody else's

}  // namespace

CopyServer::CopyServer(NatsConnection& connection, HoldingEnv& env, const Clock& clock,
                       const CopyServerOptions& options)
    : connection_(connection), options_(options), source_(env, clock, options.source) {}

Result<std::unique_ptr<CopyServer>> CopyServer::Start(NatsConnection& connection, HoldingEnv& env, const Clock& clock,
                                                      const CopyServerOptions& options) {
  std::unique_ptr<CopyServer> server(new CopyServer(connection, env, clock, options));
  const std::string subject = CopySubject(options.cluster, options.shard);
  natsStatus s = natsConnection_SubscribeSync(&server->subscription_, connection.handle(), subject.c_str());
  if (s == NATS_OK) s = natsSubscription_SetPendingLimits(server->subscription_, kWaitingRequests, -1);
  if (s != NATS_OK) return std::unexpected<Error>(NatsError(s, 0, "listening for copies on " + subject));
  server->thread_ = std::thread([raw = server.get()] { raw->Run(); });
  return server;
}

CopyServer::~CopyServer() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  if (subscription_ != nullptr) natsSubscription_Destroy(subscription_);
}

std::string CopyServer::Trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void CopyServer::Run() {
  while (!stop_ && Trouble().empty()) AnswerNext();
}

void CopyServer::AnswerNext() {
  natsMsg* raw = nullptr;
  const natsStatus s = natsSubscription_NextMsg(&raw, subscription_, kWaitMs);
  const std::unique_ptr<natsMsg, void (*)(natsMsg*)> message(raw, natsMsg_Destroy);
  if (s == NATS_TIMEOUT || s == NATS_SLOW_CONSUMER) return source_.Tick();
  if (s != NATS_OK) {
    const std::lock_guard lock(mutex_);
    trouble_ = NatsError(s, 0, fmt::format("requests for copies of shard {}", options_.shard)).message();
    return;
  }
  const char* const reply = natsMsg_GetReply(message.get());
  if (reply == nullptr || (options_.held && !options_.held())) return;
  const std::string answer =
      source_.Answer({natsMsg_GetData(message.get()), static_cast<size_t>(natsMsg_GetDataLength(message.get()))});
  // If it is lost, the copy asks again.
  natsConnection_Publish(connection_.handle(), reply, answer.data(), static_cast<int>(answer.size()));
}

}  // namespace portolan
