#include "io/event_loop.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#include <atomic>
#include <cerrno>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"

namespace portolan {
namespace {

// libuv counts in milliseconds; rounding up keeps "not before".
uint64_t ToMs(int64_t ns) { return ns <= 0 ? 0 : static_cast<uint64_t>((ns + 999'999) / 1'000'000); }

// A libuv handle with the call it makes. Freed by libuv's close callback, never before.
struct Handle {
  union {
    uv_handle_t any;
    uv_timer_t timer;
    uv_poll_t poll;
  };
  EventLoop::Id id{};
  bool once = false;
  std::move_only_function<void()> on_timer;
  std::move_only_function<void(EventLoop::Readiness)> on_ready;
};

void Close(Handle* handle) {
  uv_close(&handle->any, [](uv_handle_t* closed) { delete static_cast<Handle*>(closed->data); });
}

}  // namespace

struct EventLoop::Impl {
  uv_loop_t loop{};
  // Not uv_async_t: its receiver spins while the sender, which it has just preempted, is between two of its steps.
  int wake_fd = -1;
  uv_poll_t wake{};
  uv_prepare_t prepare{};
  std::move_only_function<void()> before_wait;
  std::unordered_map<uint64_t, Handle*> handles;
  uint64_t last_id = 0;
  std::atomic<bool> stopped{false};
  std::mutex mutex;
  std::vector<std::move_only_function<void()>> posted;  // guarded by mutex

  Handle* NewHandle() {
    auto* handle = new Handle;
    handle->id = Id{++last_id};
    handles[last_id] = handle;
    return handle;
  }

  static void OnPoll(uv_poll_t* poll, int status, int ready);

  void Wake() const {
    const uint64_t one = 1;
    // A full counter is a wake-up, too.
    [[maybe_unused]] const ssize_t written = write(wake_fd, &one, sizeof(one));
  }

  void RunPosted() {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(wake_fd, &count, sizeof(count));
    std::vector<std::move_only_function<void()>> calls;
    {
      const std::lock_guard lock(mutex);
      calls = std::exchange(posted, {});
    }
    for (auto& call : calls) {
      if (stopped) break;
      call();
    }
    if (stopped) uv_stop(&loop);
  }
};

namespace {

int PollEvents(bool read, bool write) { return (read ? UV_READABLE : 0) | (write ? UV_WRITABLE : 0); }

}  // namespace

void EventLoop::Impl::OnPoll(uv_poll_t* poll, int status, int ready) {
  auto* watched = static_cast<Handle*>(poll->data);
  auto* impl = static_cast<Impl*>(poll->loop->data);
  const auto number = static_cast<uint64_t>(watched->id);
  auto running = std::move(watched->on_ready);
  if (status < 0) {
    impl->handles.erase(number);
    Close(watched);
    running({.failed = true});
    return;
  }
  running({.readable = (ready & UV_READABLE) != 0, .writable = (ready & UV_WRITABLE) != 0});
  if (const auto still = impl->handles.find(number); still != impl->handles.end()) {
    still->second->on_ready = std::move(running);
  }
}

EventLoop::EventLoop(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<EventLoop>> EventLoop::Create() {
  auto impl = std::make_unique<Impl>();
  if (const int error = uv_loop_init(&impl->loop); error != 0) {
    return std::unexpected(Error::FromErrno(-error, "event loop"));
  }
  impl->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (impl->wake_fd < 0) {
    const int error = errno;
    uv_loop_close(&impl->loop);
    return std::unexpected(Error::FromErrno(error, "event loop wake-up"));
  }
  CHECK(uv_poll_init(&impl->loop, &impl->wake, impl->wake_fd) == 0);
  impl->wake.data = impl.get();
  CHECK(uv_prepare_init(&impl->loop, &impl->prepare) == 0);
  impl->prepare.data = impl.get();
  CHECK(uv_poll_start(&impl->wake, UV_READABLE,
                      [](uv_poll_t* poll, int, int) { static_cast<Impl*>(poll->data)->RunPosted(); }) == 0);
  return std::unique_ptr<EventLoop>(new EventLoop(std::move(impl)));
}

EventLoop::~EventLoop() {
  for (const auto& [id, handle] : impl_->handles) Close(handle);
  uv_close(reinterpret_cast<uv_handle_t*>(&impl_->wake), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&impl_->prepare), nullptr);
  uv_run(&impl_->loop, UV_RUN_DEFAULT);  // runs the close callbacks
  CHECK(uv_loop_close(&impl_->loop) == 0, "event loop ended with handles open");
  close(impl_->wake_fd);
}

void EventLoop::Run() {
  if (!impl_->stopped) uv_run(&impl_->loop, UV_RUN_DEFAULT);
}

void EventLoop::Stop() {
  impl_->stopped = true;
  impl_->Wake();
}

void EventLoop::Post(std::move_only_function<void()> call) {
  bool first = false;
  {
    const std::lock_guard lock(impl_->mutex);
    first = impl_->posted.empty();
    impl_->posted.push_back(std::move(call));
  }
  if (first) impl_->Wake();
}

void EventLoop::BeforeWait(std::move_only_function<void()> call) {
  impl_->before_wait = std::move(call);
  CHECK(uv_prepare_start(&impl_->prepare,
                         [](uv_prepare_t* prepare) { static_cast<Impl*>(prepare->data)->before_wait(); }) == 0);
}

EventLoop::Id EventLoop::AddTimer(int64_t delay_ns, std::move_only_function<void()> call, int64_t repeat_ns) {
  Handle* handle = impl_->NewHandle();
  CHECK(uv_timer_init(&impl_->loop, &handle->timer) == 0);
  handle->timer.data = handle;
  handle->once = repeat_ns <= 0;
  handle->on_timer = std::move(call);
  // libuv reads the time once per turn; without this a timer set late in a long turn would fire early.
  uv_update_time(&impl_->loop);
  // The handle's loop holds the pointer to Impl.
  impl_->loop.data = impl_.get();
  const auto fire = [](uv_timer_t* timer) {
    auto* fired = static_cast<Handle*>(timer->data);
    if (!fired->once) {
      // Moved out while it runs, so that it may cancel itself.
      auto running = std::move(fired->on_timer);
      auto* impl = static_cast<Impl*>(timer->loop->data);
      const auto number = static_cast<uint64_t>(fired->id);
      running();
      if (const auto still = impl->handles.find(number); still != impl->handles.end()) {
        still->second->on_timer = std::move(running);
      }
      return;
    }
    auto* impl = static_cast<Impl*>(timer->loop->data);
    auto running = std::move(fired->on_timer);
    impl->handles.erase(static_cast<uint64_t>(fired->id));
    Close(fired);
    running();
  };
  CHECK(uv_timer_start(&handle->timer, fire, ToMs(delay_ns),
                       repeat_ns > 0 ? std::max<uint64_t>(1, ToMs(repeat_ns)) : 0) == 0);
  return handle->id;
}

Result<EventLoop::Id> EventLoop::WatchFd(int fd, bool read, bool write, std::move_only_function<void(Readiness)> call) {
  Handle* handle = impl_->NewHandle();
  impl_->loop.data = impl_.get();
  if (const int error = uv_poll_init(&impl_->loop, &handle->poll, fd); error != 0) {
    impl_->handles.erase(static_cast<uint64_t>(handle->id));
    delete handle;
    return std::unexpected(Error::FromErrno(-error, fmt::format("watch descriptor {}", fd)));
  }
  handle->poll.data = handle;
  handle->on_ready = std::move(call);
  const int error = uv_poll_start(&handle->poll, PollEvents(read, write), Impl::OnPoll);
  if (error != 0) {
    Cancel(handle->id);
    return std::unexpected(Error::FromErrno(-error, fmt::format("watch descriptor {}", fd)));
  }
  return handle->id;
}

Status EventLoop::ChangeWatch(Id id, bool read, bool write) {
  const auto found = impl_->handles.find(static_cast<uint64_t>(id));
  if (found == impl_->handles.end()) return Fail(ErrorCode::kNotFound, "the watch has ended");
  const int error = uv_poll_start(&found->second->poll, PollEvents(read, write), Impl::OnPoll);
  if (error != 0) return std::unexpected(Error::FromErrno(-error, "change a watch"));
  return {};
}

void EventLoop::Cancel(Id id) {
  const auto found = impl_->handles.find(static_cast<uint64_t>(id));
  if (found == impl_->handles.end()) return;
  Handle* handle = found->second;
  impl_->handles.erase(found);
  Close(handle);
}

}  // namespace portolan
