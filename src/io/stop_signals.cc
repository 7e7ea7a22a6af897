#include "io/stop_signals.h"

#include <pthread.h>

#include <cstdlib>
#include <ctime>
#include <utility>

#include "io/process.h"

namespace portolan {
namespace {

constexpr int kWakeUp = SIGUSR2;  // ends the waiting thread

bool IsIgnored(int signal) {
  struct sigaction action{};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// A blocked signal is delivered to sigwait even where it is ignored, so one that shall stay ignored is left out.
sigset_t StopSet() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, kWakeUp}) sigaddset(&signals, signal);
  if (!IsIgnored(SIGHUP)) sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

BlockedStopSignals::BlockedStopSignals() {
  const sigset_t signals = StopSet();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

BlockedStopSignals::~BlockedStopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

StopSignals::StopSignals(std::function<void(int)> on_request) : on_request_(std::move(on_request)) {
  thread_ = std::thread([this] {
    NameThread("signals");
    Wait();
  });
}

StopSignals::~StopSignals() {
  pthread_kill(thread_.native_handle(), kWakeUp);
  thread_.join();
  // A repeated signal that arrives after the thread ended must not kill a program that has just stopped as requested.
  const sigset_t signals = StopSet();
  const timespec at_once{};
  while (sigtimedwait(&signals, nullptr, &at_once) > 0) {
  }
}

void StopSignals::Wait() {
  using Clock = std::chrono::steady_clock;
  const sigset_t signals = StopSet();
  int requests = 0;
  Clock::time_point last;  // of the signal that counted last
  for (;;) {
    int signal = 0;
    if (sigwait(&signals, &signal) != 0 || signal == kWakeUp) return;
    const Clock::time_point now = Clock::now();
    if (requests > 0 && now - last < kRepeat) continue;
    last = now;
    if (++requests > 2) std::_Exit(128 + signal);
    on_request_(requests);
  }
}

void MakeWritesFailQuietly() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
}

}  // namespace portolan
