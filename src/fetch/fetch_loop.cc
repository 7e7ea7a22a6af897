#include "fetch/fetch_loop.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "base/check.h"

namespace portolan {
namespace {

// Time limits are noticed at most an eighth late: a tick until someone looks, and one that passed since the last look.
constexpr int64_t kShortestTick = 5 * kMillisecond;
constexpr int64_t kLongestTick = 250 * kMillisecond;

// Memory that is short so long is short because of somebody; whoever is to blame is watched for a while first.
constexpr int64_t kTightNs = kSecond;
constexpr int64_t kJudgeNs = 2 * kSecond;

int64_t TickOf(const FetchLimits& limits) {
  int64_t shortest = std::min({limits.connect_ns, limits.first_byte_ns, limits.total_ns});
  if (limits.lowest_speed > 0) shortest = std::min(shortest, limits.speed_window_ns);
  return std::clamp(shortest / 16, kShortestTick, kLongestTick);
}

// Whether the budget is used up by others: what an answer holds itself is given back when it is handed over.
bool UsedUpByOthers(const ByteBudget* budget, const FetchResponse& response) {
  return budget != nullptr && budget->used() >= budget->total() + response.lease.bytes();
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
  const size_t connections = std::min(
      options.max_in_flight + (options.reuse_connections ? options.idle_connections : 0), options.curl_connections);
  ASSIGN_OR_RETURN(made->multi_,
                   CurlMulti::Create(*made->loop_, connections,
                                     [self = made.get()](CURL* easy, CURLcode code) { self->OnCurlDone(easy, code); }));
  ASSIGN_OR_RETURN(made->plain_, PlainHttp::Create(*made->loop_, options, [self = made.get()](PlainTransfer& transfer) {
                     self->OnPlainDone(transfer);
                   }));
  // The first handle shows whether libcurl takes the options.
  ASSIGN_OR_RETURN(auto first, CurlTransfer::Create(options, made->fields_, made->sessions_, made->room_, 0,
                                                    made->deadlines_.data()));
  made->curl_transfers_.push_back(std::move(first));
  made->curl_free_.push_back(0);
  made->curl_leases_.resize(1);
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
      room_(options, [this] { loop_->Post([this] { OnRoom(); }); }),
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
    const uint64_t cost = ReceiveRoom::kFirstBytes + (IsPlain(waiting_.front()) ? 0 : ReceiveRoom::kCurlBytes);
    ByteLease lease;
    if (!room_.Start(cost, /*forced=*/running_ == 0 && undelivered_.empty(), lease)) return;
    FetchTask task = std::move(waiting_.front());
    waiting_.pop_front();
    Start(std::move(task), std::move(lease));
  }
}

void FetchLoop::Start(FetchTask&& task, ByteLease&& lease) {
  // The resolver lets no other address pass; this holds for addresses that came another way, from a checkpoint say.
  if (task.address.unresolved()) {
    // The crawl had a proxy when the name was looked up. It is looked up again when that answer is old.
    if (!ProxyResolvesNames(options_.proxy)) {
      return Refuse(std::move(task), FetchOutcome::kLocal, "the name was left to a proxy that is no more");
    }
  } else if (task.address.empty() || !(options_.dns.allow_private || task.address.IsPublic())) {
    return Refuse(std::move(task), FetchOutcome::kAddressForbidden, "the address is not public");
  }
  if (IsPlain(task)) return StartPlain(std::move(task), std::move(lease));
  StartCurl(std::move(task), std::move(lease));
}

void FetchLoop::StartPlain(FetchTask&& task, ByteLease&& lease) {
  if (plain_free_.empty()) {
    const size_t index = plain_transfers_.size();
    const size_t slot = PlainSlot(index);
    plain_transfers_.push_back(std::make_unique<PlainTransfer>(options_, fields_, room_, slot, &deadlines_[slot]));
    plain_free_.push_back(index);
  }
  PlainTransfer& transfer = *plain_transfers_[plain_free_.back()];
  plain_free_.pop_back();
  room_.set_running(++running_);
  transfer.Begin(std::move(task));
  transfer.Hold(std::move(lease));
  plain_->Start(transfer);
}

void FetchLoop::StartCurl(FetchTask&& task, ByteLease&& lease) {
  if (curl_free_.empty()) {
    const size_t slot = curl_transfers_.size();
    auto made = CurlTransfer::Create(options_, fields_, sessions_, room_, slot, &deadlines_[slot]);
    if (!made) return Refuse(std::move(task), FetchOutcome::kLocal, made.error().message());
    curl_transfers_.push_back(*std::move(made));
    curl_free_.push_back(slot);
    curl_leases_.emplace_back();
  }
  CurlTransfer& transfer = *curl_transfers_[curl_free_.back()];
  curl_free_.pop_back();
  room_.set_running(++running_);
  transfer.Begin(std::move(task));
  if (options_.budget != nullptr) curl_leases_[transfer.slot()] = lease.Split(ReceiveRoom::kCurlBytes);
  transfer.Hold(std::move(lease));
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
  if (&free == &curl_free_) curl_leases_[index].Release();
  free.push_back(index);
  room_.set_running(--running_);
  Answer(std::move(response));
}

void FetchLoop::EndCurl(size_t index, FetchOutcome outcome, std::string_view detail) {
  CurlTransfer& transfer = *curl_transfers_[index];
  // Finished before it is taken out: libcurl forgets the version with the connection.
  FetchResponse response = transfer.Finish(outcome, detail);
  transfer.GiveUp(*multi_);
  End(curl_free_, index, std::move(response));
}

void FetchLoop::EndPlain(size_t index, FetchOutcome outcome, std::string_view detail) {
  PlainTransfer& transfer = *plain_transfers_[index];
  plain_->Abandon(transfer);
  End(plain_free_, index, transfer.Finish(outcome, detail));
}

// ---- memory

void FetchLoop::OnRoom() {
  if (stopping_) return;
  DeliverWaiting();
  for (Exchange* exchange : room_.TakeSmall()) GoOn(*exchange);
  StartWaiting();
  for (Exchange* exchange : room_.TakeLarge()) GoOn(*exchange);
  multi_->Settle();
}

void FetchLoop::GoOn(Exchange& exchange) {
  const size_t slot = exchange.slot();
  if (slot >= PlainSlot(0)) return plain_->Resume(*plain_transfers_[slot - PlainSlot(0)]);
  CurlTransfer& transfer = *curl_transfers_[slot];
  if (transfer.GoOn()) return;
  FetchResponse response = transfer.Finish(CURLE_WRITE_ERROR);
  transfer.GiveUp(*multi_);
  End(curl_free_, slot, std::move(response));
}

bool FetchLoop::EndSluggish(int64_t now_ns) {
  if (!room_.tight()) {
    tight_ns_ = 0;
    return false;
  }
  if (tight_ns_ == 0) tight_ns_ = now_ns;
  if (now_ns - tight_ns_ < kTightNs) return false;
  struct Slow {
    double sluggishness;
    size_t slot;
    uint64_t bytes;
  };
  std::vector<Slow> slow;
  uint64_t held = 0;
  const auto judge = [&](Exchange& exchange) {
    if (deadlines_[exchange.slot()] == kNoDeadline) return;
    const uint64_t bytes = exchange.lease().bytes();
    held += bytes;
    const double sluggishness = exchange.Sluggishness(now_ns, tight_ns_, kJudgeNs);
    if (sluggishness == 0 || bytes <= ReceiveRoom::kFirstBytes) return;
    slow.push_back({sluggishness, exchange.slot(), bytes});
  };
  for (const auto& transfer : curl_transfers_) judge(*transfer);
  for (const auto& transfer : plain_transfers_) judge(*transfer);
  // Where most of it is held by pages on their way to a slow disk, no body is to blame.
  if (held < options_.budget->used() / 2 / options_.loops) return false;
  std::ranges::sort(slow, std::greater(), &Slow::sluggishness);
  const uint64_t enough = options_.budget->total() / 8;
  uint64_t freed = 0;
  for (size_t i = 0; i < slow.size() && freed < enough; ++i) {
    freed += slow[i].bytes;
    const size_t slot = slow[i].slot;
    constexpr std::string_view kWhy = "too slow while memory is short";
    if (slot >= PlainSlot(0)) {
      EndPlain(slot - PlainSlot(0), FetchOutcome::kSlowCut, kWhy);
    } else {
      EndCurl(slot, FetchOutcome::kSlowCut, kWhy);
    }
  }
  return freed > 0;
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
  // One that holds nothing, or comes when all is cancelled, waits for nobody.
  if (response.lease.bytes() > 0 && !stopping_ &&
      (!undelivered_.empty() || (!room_.MayDeliver() && UsedUpByOthers(options_.budget, response)))) {
    undelivered_.push_back(std::move(response));
    room_.HoldElections(true);
    return;
  }
  answered_ = true;
  handler_.OnResponse(std::move(response), index_);
}

void FetchLoop::DeliverWaiting() {
  while (!undelivered_.empty() &&
         (stopping_ || room_.MayDeliver() || !UsedUpByOthers(options_.budget, undelivered_.front()))) {
    FetchResponse response = std::move(undelivered_.front());
    undelivered_.pop_front();
    answered_ = true;
    handler_.OnResponse(std::move(response), index_);
  }
  if (undelivered_.empty()) room_.HoldElections(false);
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
    const auto outcome = curl_transfers_[i]->CheckTime(now);
    if (!outcome) continue;
    EndCurl(i, *outcome, "time limit");
    ended = true;
  }
  for (size_t i = 0; i < plain_transfers_.size(); ++i) {
    if (deadlines_[PlainSlot(i)] > now) continue;
    const auto outcome = plain_transfers_[i]->CheckTime(now);
    if (!outcome) continue;
    EndPlain(i, *outcome, "time limit");
    ended = true;
  }
  ended = EndSluggish(now) || ended;
  DeliverWaiting();
  plain_->CloseIdle(options_.clock->NowNs());
  if (!ended) return;
  StartWaiting();
  multi_->Settle();
}

void FetchLoop::CancelAll() {
  stopping_ = true;
  mail_.Close();
  TakeMail();
  DeliverWaiting();
  for (FetchTask& task : std::exchange(waiting_, {})) Refuse(std::move(task), FetchOutcome::kCancelled, "stopped");
  for (size_t i = 0; i < curl_transfers_.size(); ++i) {
    if (deadlines_[i] == kNoDeadline) continue;
    EndCurl(i, FetchOutcome::kCancelled, "stopped");
  }
  for (size_t i = 0; i < plain_transfers_.size(); ++i) {
    if (deadlines_[PlainSlot(i)] == kNoDeadline) continue;
    EndPlain(i, FetchOutcome::kCancelled, "stopped");
  }
}

}  // namespace portolan
