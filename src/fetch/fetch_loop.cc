#include "fetch/fetch_loop.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace portolan {
namespace {

// Time limits are noticed at most a sixteenth late, and within these bounds.
constexpr int64_t kShortestTick = 5 * kMillisecond;
constexpr int64_t kLongestTick = 250 * kMillisecond;

int64_t TickOf(const FetchLimits& limits) {
  int64_t shortest = std::min({limits.connect_ns, limits.first_byte_ns, limits.total_ns});
  if (limits.lowest_speed > 0) shortest = std::min(shortest, limits.speed_window_ns);
  return std::clamp(shortest / 16, kShortestTick, kLongestTick);
}

// OpenSSL writes to connections that the other side has closed. The signal goes to the thread that wrote.
void BlockSigpipe() {
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  CHECK(pthread_sigmask(SIG_BLOCK, &pipe, nullptr) == 0);
}

}  // namespace

Result<std::unique_ptr<FetchLoop>> FetchLoop::Create(const FetchOptions& options, size_t index, FetchHandler& handler) {
  ASSIGN_OR_RETURN(RequestFields fields, RequestFields::Create(options));
  ASSIGN_OR_RETURN(std::unique_ptr<EventLoop> loop, EventLoop::Create());
  std::unique_ptr<FetchLoop> made(new FetchLoop(options, index, handler, std::move(fields), std::move(loop)));
  // libcurl counts connections in use, too.
  const size_t connections = options.max_in_flight + (options.reuse_connections ? options.idle_connections : 0);
  ASSIGN_OR_RETURN(made->multi_,
                   CurlMulti::Create(*made->loop_, connections,
                                     [self = made.get()](CURL* easy, CURLcode code) { self->OnDone(easy, code); }));
  // The first handle shows whether libcurl takes the options.
  ASSIGN_OR_RETURN(auto first, Transfer::Create({options, made->fields_, made->sessions_}, 0, &made->deadlines_[0]));
  made->transfers_.push_back(std::move(first));
  made->free_.push_back(0);
  const int64_t tick = TickOf(options.limits);
  made->loop_->AddTimer(tick, [self = made.get()] { self->CheckTimes(); }, tick);
  made->thread_ = std::thread([self = made.get()] {
    BlockSigpipe();
    pthread_setname_np(pthread_self(), "fetch");
    self->loop_->Run();
  });
  return made;
}

FetchLoop::FetchLoop(const FetchOptions& options, size_t index, FetchHandler& handler, RequestFields&& fields,
                     std::unique_ptr<EventLoop> loop)
    : options_(options),
      index_(index),
      handler_(handler),
      fields_(std::move(fields)),
      sessions_(options.tls_sessions),
      loop_(std::move(loop)),
      mail_(UINT64_MAX, [this] { loop_->Post([this] { TakeMail(); }); }),
      deadlines_(options.max_in_flight, kNoDeadline) {}

FetchLoop::~FetchLoop() { Stop(); }

void FetchLoop::Fetch(FetchTask&& task) { CHECK(mail_.Send(std::move(task)), "a fetch after the end"); }

void FetchLoop::Stop() {
  if (!thread_.joinable()) return;
  loop_->Post([this] {
    CancelAll();
    multi_.reset();  // here, because closing TLS writes, too
    loop_->Stop();
  });
  thread_.join();
}

void FetchLoop::TakeMail() {
  for (FetchTask& task : mail_.TryTake()) {
    if (stopping_) {
      Refuse(std::move(task), FetchOutcome::kCancelled, "the crawl stops");
    } else if (waiting_.size() < options_.max_waiting) {
      waiting_.push_back(std::move(task));
      StartWaiting();
    } else {
      Refuse(std::move(task), FetchOutcome::kLocal, "too many fetches wait");
    }
  }
  multi_->Settle();
}

void FetchLoop::StartWaiting() {
  while (!waiting_.empty() && (!free_.empty() || transfers_.size() < options_.max_in_flight)) {
    FetchTask task = std::move(waiting_.front());
    waiting_.pop_front();
    Start(std::move(task));
  }
}

void FetchLoop::Start(FetchTask&& task) {
  // The resolver lets no such address pass; this holds for addresses that came another way, from a checkpoint say.
  const bool allowed = !task.address.empty() && (options_.dns.allow_private || task.address.IsPublic());
  if (options_.proxy.empty() && !allowed) {
    return Refuse(std::move(task), FetchOutcome::kAddressForbidden, "the address is not public");
  }
  if (free_.empty()) {
    const size_t slot = transfers_.size();
    auto made = Transfer::Create({options_, fields_, sessions_}, slot, &deadlines_[slot]);
    if (!made) return Refuse(std::move(task), FetchOutcome::kLocal, made.error().message());
    transfers_.push_back(*std::move(made));
    free_.push_back(slot);
  }
  Transfer& transfer = *transfers_[free_.back()];
  free_.pop_back();
  transfer.Begin(std::move(task));
  if (multi_->Add(transfer.easy())) return;
  End(transfer, transfer.Finish(FetchOutcome::kLocal, "libcurl takes no more"));
}

void FetchLoop::OnDone(CURL* easy, CURLcode code) {
  Transfer& transfer = *Transfer::Of(easy);
  FetchResponse response = transfer.Finish(code);
  multi_->Remove(easy);
  End(transfer, std::move(response));
  StartWaiting();
}

void FetchLoop::End(Transfer& transfer, FetchResponse&& response) {
  free_.push_back(transfer.slot());
  handler_.OnResponse(std::move(response), index_);
}

void FetchLoop::Refuse(FetchTask&& task, FetchOutcome outcome, std::string_view detail) {
  FetchResponse response;
  response.task = std::move(task);
  response.outcome = outcome;
  response.detail = detail;
  response.times.begin_ns = response.times.end_ns = options_.clock->NowNs();
  response.times.begin_unix_ns = options_.clock->UnixNs();
  handler_.OnResponse(std::move(response), index_);
}

void FetchLoop::CheckTimes() {
  const int64_t now = options_.clock->NowNs();
  bool ended = false;
  for (size_t slot = 0; slot < transfers_.size(); ++slot) {
    if (deadlines_[slot] > now) continue;
    Transfer& transfer = *transfers_[slot];
    const auto outcome = transfer.CheckTime(now);
    if (!outcome) continue;
    // Finished before it is taken out: libcurl forgets the version with the connection.
    FetchResponse response = transfer.Finish(*outcome, "time limit");
    multi_->Remove(transfer.easy());
    End(transfer, std::move(response));
    ended = true;
  }
  if (!ended) return;
  StartWaiting();
  multi_->Settle();
}

void FetchLoop::CancelAll() {
  stopping_ = true;
  mail_.Close();
  TakeMail();
  for (FetchTask& task : std::exchange(waiting_, {})) Refuse(std::move(task), FetchOutcome::kCancelled, "stopped");
  for (size_t slot = 0; slot < transfers_.size(); ++slot) {
    if (deadlines_[slot] == kNoDeadline) continue;
    Transfer& transfer = *transfers_[slot];
    multi_->Remove(transfer.easy());
    End(transfer, transfer.Finish(FetchOutcome::kCancelled, "stopped"));
  }
}

}  // namespace portolan
