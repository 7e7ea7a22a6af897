#include "sim/server/poller.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "io/clock.h"

namespace portolan::sim {
namespace {

constexpr int kMostReads = 64;  // of 256 events each

}  // namespace

Result<std::unique_ptr<Poller>> Poller::Create() {
  OwnedFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll) return std::unexpected(Error::FromErrno(errno, "epoll_create1"));
  OwnedFd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!wake) return std::unexpected(Error::FromErrno(errno, "eventfd"));
  epoll_event event = {.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event) != 0) {
    return std::unexpected(Error::FromErrno(errno, "epoll_ctl"));
  }
  return std::unique_ptr<Poller>(new Poller(std::move(epoll), std::move(wake)));
}

Poller::Poller(OwnedFd epoll, OwnedFd wake) : epoll_(std::move(epoll)), wake_(std::move(wake)) {
  now_ns_ = Clock::Real().NowNs();
}

Poller::~Poller() = default;

bool Poller::Add(int fd, uint32_t events, EventSource* source) {
  epoll_event event = {.events = events, .data = {.ptr = source}};
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::Modify(int fd, uint32_t events, EventSource* source) {
  epoll_event event = {.events = events, .data = {.ptr = source}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::Remove(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

void Poller::SetTimer(EventSource* source, int64_t deadline_ns) {
  ClearTimer(source);
  source->deadline_ns_ = std::max<int64_t>(deadline_ns, 1);
  timers_.emplace(source->deadline_ns_, source);
}

void Poller::ClearTimer(EventSource* source) {
  if (source->deadline_ns_ == 0) return;
  timers_.erase({source->deadline_ns_, source});
  source->deadline_ns_ = 0;
}

void Poller::AfterReading(EventSource* source) {
  if (std::exchange(source->after_reading_, true)) return;
  after_reading_.push_back(source);
}

void Poller::Retire(std::unique_ptr<EventSource> source) {
  ClearTimer(source.get());
  source->retired_ = true;
  retired_.push_back(std::move(source));
}

void Poller::RunTimers() {
  // What is due now; timers that these set are for later rounds.
  while (!timers_.empty() && timers_.begin()->first <= now_ns_) {
    EventSource* source = timers_.begin()->second;
    ClearTimer(source);
    source->OnTimer();
  }
}

void Poller::HandOut(int wait_ms, int64_t* woken_ns) {
  // All that there is, so that of two things the one that came first is never left for the next round alone.
  std::array<epoll_event, 256> events;
  for (int i = 0; i < kMostReads; ++i) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), i == 0 ? wait_ms : 0);
    if (i == 0 && woken_ns != nullptr) *woken_ns = Clock::Real().NowNs();
    bool news = false;
    for (int at = 0; at < count; ++at) news |= HandOut(events[static_cast<size_t>(at)]);
    // Those that wait for AfterReading come again and again.
    if (count < static_cast<int>(events.size()) || !news) return;
  }
}

bool Poller::HandOut(const epoll_event& event) {
  auto* source = static_cast<EventSource*>(event.data.ptr);
  if (source == nullptr) {
    uint64_t sum = 0;
    static_cast<void>(!::read(wake_.get(), &sum, sizeof sum));
    return false;
  }
  if (source->late_) {
    late_.emplace_back(source, event.events);
    return false;
  }
  const bool waits = source->after_reading_ || source->retired_;
  if (!source->retired_) source->OnReady(event.events);
  return !waits;
}

void Poller::RunOnce(int most_wait_ms) {
  int wait_ms = after_reading_.empty() ? most_wait_ms : 0;
  if (!timers_.empty()) {
    const int64_t left = std::max<int64_t>(0, timers_.begin()->first - Clock::Real().NowNs());
    wait_ms = static_cast<int>(std::min<int64_t>(wait_ms, (left + kMillisecond - 1) / kMillisecond));
  }
  late_.clear();
  HandOut(wait_ms, &now_ns_);
  for (const auto& [source, what] : late_) source->OnReady(what);
  if (!late_.empty()) {
    // What clients did before they opened the connections that were accepted now has come, too.
    std::vector<std::pair<EventSource*, uint32_t>> late;
    std::swap(late, late_);
    HandOut(0);
    for (const auto& [source, what] : late) source->OnCaughtUp();
  }
  all_read_.clear();
  std::swap(all_read_, after_reading_);
  for (EventSource* source : all_read_) {
    source->after_reading_ = false;
    if (!source->retired_) source->OnAllRead();
  }
  RunTimers();
  std::erase_if(after_reading_, [](const EventSource* source) { return source->retired_; });
  retired_.clear();
}

void Poller::Wake() {
  const uint64_t one = 1;
  static_cast<void>(!::write(wake_.get(), &one, sizeof one));
}

}  // namespace portolan::sim
