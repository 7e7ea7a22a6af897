#include "cluster/shard_copy.h"

#include <fmt/core.h>
#include <nats/nats.h>

#include <chrono>
#include <utility>

#include "cluster/names.h"

namespace portolan {
namespace {

constexpr uint32_t kBusyPasses = 50;  // without a pause; what they copied is kept
constexpr int64_t kNsPerMs = 1'000'000;

}  // namespace

ShardCopy::ShardCopy(NatsConnection& connection, Env& env, const ShardCopyOptions& options)
    : connection_(connection),
      env_(env),
      options_(options),
      subject_(CopySubject(options.cluster, options.shard)),
      thread_([this] { Run(); }) {}

ShardCopy::~ShardCopy() { Stop(); }

void ShardCopy::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

ShardCopy::State ShardCopy::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void ShardCopy::Run() {
  std::unique_ptr<CopyTarget> target;
  for (;;) {
    const int64_t wait_ns = Pass(target);
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::nanoseconds(wait_ns), [this] { return stop_; });
    if (stop_) return;
  }
}

Result<std::string> ShardCopy::Ask(const std::string& request) const {
  {
    const std::lock_guard lock(mutex_);
    if (stop_) return Fail(ErrorCode::kClosed, "stopping");
  }
  natsMsg* raw = nullptr;
  const natsStatus s = natsConnection_Request(&raw, connection_.handle(), subject_.c_str(), request.data(),
                                              static_cast<int>(request.size()), connection_.request_ns() / kNsPerMs);
  const std::unique_ptr<natsMsg, void (*)(natsMsg*)> message(raw, natsMsg_Destroy);
  if (s == NATS_OK) {
    return std::string(natsMsg_GetData(message.get()), static_cast<size_t>(natsMsg_GetDataLength(message.get())));
  }
  if (s == NATS_NO_RESPONDERS) {
    return Fail(ErrorCode::kClosed, fmt::format("no node works on shard {} now", options_.shard));
  }
  return std::unexpected<Error>(NatsError(s, 0, fmt::format("asking for files of shard {}", options_.shard)));
}

int64_t ShardCopy::Pass(std::unique_ptr<CopyTarget>& target) {
  if (!target) {
    auto opened = CopyTarget::Open(env_, options_.target, [this](const std::string& request) { return Ask(request); });
    if (!opened) {
      Note(opened.error());
      return options_.interval_ns;
    }
    target = *std::move(opened);
    const std::lock_guard lock(mutex_);
    state_.sequence = target->sequence();
  }
  const auto pass = target->Run();
  const uint64_t sequence = target->sequence();
  {
    const std::lock_guard lock(mutex_);
    state_.sequence = sequence;
  }
  if (pass) {
    busy_ = 0;
    const std::lock_guard lock(mutex_);
    state_.updated_ns = connection_.clock().NowNs();
    ++state_.passes;
    state_.bytes += pass->bytes;
    state_.trouble.clear();
    return options_.interval_ns;
  }
  if (pass.error().code() == ErrorCode::kBusy && ++busy_ < kBusyPasses) return 0;
  busy_ = 0;
  Note(pass.error());
  const bool elsewhere = pass.error().code() == ErrorCode::kClosed || pass.error().code() == ErrorCode::kBusy;
  if (!elsewhere) target.reset();
  return options_.interval_ns;
}

void ShardCopy::Note(const Error& error) {
  const std::lock_guard lock(mutex_);
  state_.trouble = error.message();
}

}  // namespace portolan
