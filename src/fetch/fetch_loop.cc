#include "fetch/fetch_loop.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace portolan {
namespace {

// Time limits are noticed at most an eighth late: a tick until someone looks, and one that passed since the last look.
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
                                     [self = made.get()](CURL* easy, CURLcode code) { self->OnCurlDone(easy, code); }));
  ASSIGN_OR_RETURN(made->plain_, PlainHttp::Create(*made->loop_, options, [self = made.get()](PlainTransfer& transfer) {
                     self->OnPlainDone(transfer);
                   }));
  // The first handle shows whether libcurl takes the options.
  ASSIGN_OR_RETURN(auto first,
                   CurlTransfer::Create(options, made->fields_, made->sessions_, 0, made->deadlines_.data()));
  made->curl_transfers_.push_back(std::move(first));
  made->curl_free_.push_back(0);
  const int64_t tick = TickOf(options.limits);
  made->loop_->AddTimer(tick, [self = made.get()] { self->CheckTimes(); }, tick);
  made->loop_->BeforeWait([self = made.get()] { self->OnBeforeWait(); });
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
      deadlines_(2 * options.max_in_flight, kNoDeadline) {}

FetchLoop::~FetchLoop() { Stop(); }

void FetchLoop::Fetch(FetchTask&& task) { CHECK(mail_.Send(std::move(task)), "a fetch after the end"); }

void FetchLoop::Stop() {
  if (!thread_.joinable()) return;
  loop_->Post([this] {
    CancelAll();
    multi_.reset();  // here, because closing TLS writes, too
    plain_.reset();
    TellAnswers();
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
  while (!waiting_.empty() && MayStart()) {
    FetchTask task = std::move(waiting_.front());
    waiting_.pop_front();
    Start(std::move(task));
  }
}

void FetchLoop::Start(FetchTask&& task) {
  // The resolver lets no other address pass; this holds for addresses that came another way, from a checkpoint say.
  if (task.address.unresolved()) {
    // The crawl had a proxy when the name was looked up. It is looked up again when that answer is old.
    if (!ProxyResolvesNames(options_.proxy)) {
      return Refuse(std::move(task), FetchOutcome::kLocal, "the name was left to a proxy that is no more");
    }
  } else if (task.address.empty() || !(options_.dns.allow_private || task.address.IsPublic())) {
    return Refuse(std::move(task), FetchOutcome::kAddressForbidden, "the address is not public");
  }
  if (options_.proxy.empty() && task.url.starts_with("http:")) return StartPlain(std::move(task));
  StartCurl(std::move(task));
}

void FetchLoop::StartPlain(FetchTask&& task) {
  if (plain_free_.empty()) {
    const size_t index = plain_transfers_.size();
    const size_t slot = PlainSlot(index);
    plain_transfers_.push_back(std::make_unique<PlainTransfer>(options_, fields_, slot, &deadlines_[slot]));
    plain_free_.push_back(index);
  }
  PlainTransfer& transfer = *plain_transfers_[plain_free_.back()];
  plain_free_.pop_back();
  ++running_;
  transfer.Begin(std::move(task));
  plain_->Start(transfer);
}

void FetchLoop::StartCurl(FetchTask&& task) {
  if (curl_free_.empty()) {
    const size_t slot = curl_transfers_.size();
    auto made = CurlTransfer::Create(options_, fields_, sessions_, slot, &deadlines_[slot]);
    if (!made) return Refuse(std::move(task), FetchOutcome::kLocal, made.error().message());
    curl_transfers_.push_back(*std::move(made));
    curl_free_.push_back(slot);
  }
  CurlTransfer& transfer = *curl_transfers_[curl_free_.back()];
  curl_free_.pop_back();
  ++running_;
  transfer.Begin(std::move(task));
  if (multi_->Add(transfer.easy())) return;
  End(curl_free_, transfer.slot(), transfer.Finish(FetchOutcome::kLocal, "libcurl takes no more"));
}

void FetchLoop::OnCurlDone(CURL* easy, CURLcode code) {
  CurlTransfer& transfer = *CurlTransfer::Of(easy);
  FetchResponse response = transfer.Finish(code);
  if (code != CURLE_OK) transfer.SpoilConnection(code);
  multi_->Remove(easy);
  End(curl_free_, transfer.slot(), std::move(response));
  StartWaiting();
}

void FetchLoop::OnPlainDone(PlainTransfer& transfer) {
  End(plain_free_, transfer.slot() - PlainSlot(0), transfer.Finish());
  StartWaiting();
}

void FetchLoop::End(std::vector<size_t>& free, size_t index, FetchResponse&& response) {
  free.push_back(index);
  --running_;
  Answer(std::move(response));
}

void FetchLoop::Refuse(FetchTask&& task, FetchOutcome outcome, std::string_view detail) {
  FetchResponse response;
  response.task = std::move(task);
  response.outcome = outcome;
  response.detail = detail;
  response.times.begin_ns = response.times.end_ns = options_.clock->NowNs();
  response.times.begin_unix_ns = options_.clock->UnixNs();
  Answer(std::move(response));
}

void FetchLoop::TellAnswers() {
  if (std::exchange(answered_, false)) handler_.OnAnswersGiven(index_);
}

void FetchLoop::Answer(FetchResponse&& response) {
  answered_ = true;
  handler_.OnResponse(std::move(response), index_);
}

void FetchLoop::OnBeforeWait() {
  TellAnswers();
  looked_ns_ = options_.clock->NowNs();
}

// A limit has passed only if it had when the loop last looked at its sockets. When the thread was kept from that, by a
// page of many megabytes say, answers lie there that came in time: they are read before anyone judges.
void FetchLoop::CheckTimes() {
  const int64_t now = looked_ns_;
  bool ended = false;
  for (size_t i = 0; i < curl_transfers_.size(); ++i) {
    if (deadlines_[i] > now) continue;
    CurlTransfer& transfer = *curl_transfers_[i];
    const auto outcome = transfer.CheckTime(now);
    if (!outcome) continue;
    // Finished before it is taken out: libcurl forgets the version with the connection.
    FetchResponse response = transfer.Finish(*outcome, "time limit");
    transfer.GiveUp(*multi_);
    End(curl_free_, i, std::move(response));
    ended = true;
  }
  for (size_t i = 0; i < plain_transfers_.size(); ++i) {
    if (deadlines_[PlainSlot(i)] > now) continue;
    PlainTransfer& transfer = *plain_transfers_[i];
    const auto outcome = transfer.CheckTime(now);
    if (!outcome) continue;
    plain_->Abandon(transfer);
    End(plain_free_, i, transfer.Finish(*outcome, "time limit"));
    ended = true;
  }
  plain_->CloseIdle(options_.clock->NowNs());
  if (!ended) return;
  StartWaiting();
  multi_->Settle();
}

void FetchLoop::CancelAll() {
  stopping_ = true;
  mail_.Close();
  TakeMail();
  for (FetchTask& task : std::exchange(waiting_, {})) Refuse(std::move(task), FetchOutcome::kCancelled, "stopped");
  for (size_t i = 0; i < curl_transfers_.size(); ++i) {
    if (deadlines_[i] == kNoDeadline) continue;
    CurlTransfer& transfer = *curl_transfers_[i];
    transfer.GiveUp(*multi_);
    End(curl_free_, i, transfer.Finish(FetchOutcome::kCancelled, "stopped"));
  }
  for (size_t i = 0; i < plain_transfers_.size(); ++i) {
    if (deadlines_[PlainSlot(i)] == kNoDeadline) continue;
    PlainTransfer& transfer = *plain_transfers_[i];
    plain_->Abandon(transfer);
    End(plain_free_, i, transfer.Finish(FetchOutcome::kCancelled, "stopped"));
  }
}

}  // namespace portolan
