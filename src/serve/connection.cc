#include "serve/connection.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/ascii.h"
#include "base/check.h"

namespace portolan {
namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
// A chunked body has a line per chunk; one that is mostly lines is not a body for us.
constexpr size_t kMaxBodyWithFraming = 2 * kMaxBody;

int64_t Now() { return Clock::Real().NowNs(); }

}  // namespace

PollSwitch::PollSwitch() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(fd_ >= 0, "eventfd: errno {}", errno);
}
PollSwitch::~PollSwitch() { ::close(fd_); }

void PollSwitch::TurnOn() {
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(fd_, &one, sizeof(one));
}

void PollSwitch::TurnOff() {
  uint64_t count = 0;
  [[maybe_unused]] const auto got = ::read(fd_, &count, sizeof(count));
}

Connection::Ready Connection::Wait(short events, int64_t deadline, bool idle) const {
  for (;;) {
    // Turned around, so that what is ready is taken before a switch counts.
    pollfd waits[3] = {{socket_, events, 0}, {stop_.fd(), POLLIN, 0}, {crowd_.fd(), POLLIN, 0}};
    const int64_t left = deadline - Now();
    const int milliseconds =
        static_cast<int>(std::clamp<int64_t>((left + kMillisecond - 1) / kMillisecond, 0, 3'600'000));
    const int ready = ::poll(waits, idle ? 3 : 2, milliseconds);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return Ready::kTimeout;
    if (waits[0].revents != 0) return Ready::kYes;
    if (waits[1].revents != 0) return Ready::kStop;
    if (idle && waits[2].revents != 0) return Ready::kCrowd;
    if (ready == 0 && Now() >= deadline) return Ready::kTimeout;
  }
}

int64_t Connection::Receive() {
  const size_t before = in_.size();
  in_.resize(before + kPiece);
  ssize_t got = 0;
  do {
    got = ::recv(socket_, in_.data() + before, kPiece, MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  const int error = errno;
  in_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  errno = error;
  return got;
}

Connection::Head Connection::ReadHead() {
  in_.erase(0, at_);
  at_ = 0;
  body_bytes_ = 0;
  body_too_large_ = false;
  write_deadline_ = 0;
  began_ns_ = Now();
  const bool was_first = std::exchange(first_, false);
  size_t searched = 0;
  for (bool waiting = in_.empty();;) {
    const size_t end = in_.find(kHeadEnd, searched);
    if (end != std::string::npos && end + kHeadEnd.size() <= limits_.head_bytes) {
      head_end_ = end + kHeadEnd.size();
      body_deadline_ = Now() + limits_.body_ns;
      DropRanges();
      return Head::kComplete;
    }
    if (in_.size() >= limits_.head_bytes) return Head::kTooLarge;
    searched = in_.size() < kHeadEnd.size() ? 0 : in_.size() - kHeadEnd.size();
    // A client that has just connected may need a moment, also in a crowd.
    const Ready ready = Wait(POLLIN, began_ns_ + (waiting ? limits_.idle_ns : limits_.head_ns), waiting && !was_first);
    if (ready == Ready::kTimeout && !waiting) return Head::kTooSlow;
    if (ready != Ready::kYes) return Head::kNone;
    const int64_t got = Receive();
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) continue;
    if (got <= 0) return Head::kNone;
    if (waiting) began_ns_ = Now();
    waiting = false;
  }
}

// The library reads them before we are asked, with an expression that calls itself for each.
void Connection::DropRanges() {
  for (size_t line = in_.find('\n'); line != std::string::npos && line + 1 < head_end_;
       line = in_.find('\n', line + 1)) {
    if (StartsWithIgnoringCase(std::string_view(in_).substr(line + 1), "range")) in_[line + 1] = 'X';
  }
}

int64_t Connection::Read(char* to, size_t size) {
  if (at_ == in_.size()) {
    if (!Flush()) return -1;
    in_.clear();
    at_ = head_end_ = 0;
    for (;;) {
      if (Wait(POLLIN, body_deadline_, false) != Ready::kYes) return -1;
      const int64_t got = Receive();
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) continue;
      if (got <= 0) return got;
      break;
    }
  }
  size = std::min(size, in_.size() - at_);
  if (at_ >= head_end_) {
    body_bytes_ += size;
    if (body_bytes_ > kMaxBodyWithFraming) {
      body_too_large_ = true;
      return -1;
    }
  } else {
    size = std::min(size, head_end_ - at_);
  }
  std::memcpy(to, in_.data() + at_, size);
  at_ += size;
  return static_cast<int64_t>(size);
}

bool Connection::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kPiece - std::min(kPiece, out_.size()));
    out_ += piece;
    bytes.remove_prefix(piece.size());
    if (out_.size() >= kPiece && !Flush()) return false;
  }
  return true;
}

bool Connection::Flush() {
  if (out_.empty()) return true;
  if (write_deadline_ == 0) write_deadline_ = Now() + limits_.write_ns;
  std::string_view rest = out_;
  bool stopping = false;
  while (!rest.empty()) {
    const ssize_t sent = ::send(socket_, rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      rest.remove_prefix(static_cast<size_t>(sent));
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return false;
    if (stopping) {  // the switch is on: only the socket may be waited for
      pollfd wait = {socket_, POLLOUT, 0};
      if (Now() >= write_deadline_ || ::poll(&wait, 1, static_cast<int>(kStopNs / kMillisecond)) <= 0) return false;
      continue;
    }
    const Ready ready = Wait(POLLOUT, write_deadline_, false);
    if (ready == Ready::kTimeout) return false;
    if (ready == Ready::kStop) {
      stopping = true;
      write_deadline_ = std::min(write_deadline_, Now() + kStopNs);
    }
  }
  out_.clear();
  return true;
}

void Connection::Linger() {
  if (::shutdown(socket_, SHUT_WR) != 0) return;
  const int64_t deadline = Now() + kLingerNs;
  size_t dropped = 0;
  while (dropped < kMaxBodyWithFraming && Wait(POLLIN, deadline, false) == Ready::kYes) {
    in_.clear();
    const int64_t got = Receive();
    if (got <= 0 && !(got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))) return;
    dropped += static_cast<size_t>(std::max<int64_t>(got, 0));
  }
}

}  // namespace portolan
