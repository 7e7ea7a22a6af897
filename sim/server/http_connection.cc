#include "sim/server/http_connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace portolan::sim {
namespace {

SharedAnswer OwnAnswer(int status) {
  Answer answer;
  answer.status = status;
  answer.headers.emplace_back("Content-Type", "text/plain");
  answer.body = std::string(StatusText(status)) + "\n";
  answer.keep_alive = false;
  return {std::move(answer), nullptr};
}

int StatusOf(HeadStatus status) {
  switch (status) {
    case HeadStatus::kTooLong:
      return 431;
    case HeadStatus::kVersion:
      return 505;
    default:
      return 400;
  }
}

}  // namespace

void ConnectionList::PushBack(HttpConnection* connection) {
  connection->previous_ = last_;
  connection->next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = connection;
  last_ = connection;
  ++size_;
}

void ConnectionList::Remove(HttpConnection* connection) {
  (connection->previous_ != nullptr ? connection->previous_->next_ : first_) = connection->next_;
  (connection->next_ != nullptr ? connection->next_->previous_ : last_) = connection->previous_;
  --size_;
}

void HttpConnection::Start(ServerContext& context, ConnectionList& list, Transport transport, ConnectionFacts facts) {
  auto* connection = new HttpConnection(context, list, std::move(transport), std::move(facts));
  list.PushBack(connection);
  connection->GoOn();
}

HttpConnection::HttpConnection(ServerContext& context, ConnectionList& list, Transport transport, ConnectionFacts facts)
    : context_(context),
      list_(list),
      transport_(std::move(transport)),
      facts_(std::move(facts)),
      state_(transport_.tls() ? State::kHandshake : State::kReading),
      last_active_ns_(context.poller.now_ns()) {}

void HttpConnection::Touch() {
  last_active_ns_ = context_.poller.now_ns();
  list_.Remove(this);
  list_.PushBack(this);
}

void HttpConnection::OnReady(uint32_t events) {
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) return Abandon();
  Touch();
  switch (state_) {
    case State::kHandshake:
    case State::kReading:
      return GoOn();
    case State::kPlaying:
      if (waiting_) {
        // Nothing is asked of the socket now but to tell of the client's end.
        if ((events & EPOLLRDHUP) != 0) Abandon();
        return;
      }
      if (Play() == Played::kDone) FinishScript();
      if (state_ == State::kReading) ReadMore();
      return;
    case State::kHttp2:
      RunHttp2({});
      // TLS may hold bytes that came before the socket was full.
      if (!http2_blocked_) ReadMore();
      return;
    case State::kLingering:
      return Drain();
    case State::kClosed:
      return;
  }
}

void HttpConnection::OnTimer() {
  switch (state_) {
    case State::kLingering:
      return CloseNow();
    case State::kHttp2:
      http2_->OnTime(context_.poller.now_ns());
      RunHttp2({});
      if (!http2_blocked_) ReadMore();
      return;
    case State::kPlaying:
      Touch();
      waiting_ = false;
      if (Play() == Played::kDone) FinishScript();
      if (state_ == State::kReading) ReadMore();
      return;
    default:
      return;
  }
}

void HttpConnection::GoOn() {
  if (state_ == State::kHandshake) {
    const ssize_t done = transport_.Handshake();
    if (done == Transport::kWantRead) return SetInterest(EPOLLIN);
    if (done == Transport::kWantWrite) return SetInterest(EPOLLOUT);
    if (done <= 0) return CloseNow();
    if (transport_.negotiated_h2()) {
      http2_ = Http2Session::Create(context_, facts_);
      if (!http2_) return CloseNow();
      state_ = State::kHttp2;
      RunHttp2({});
      if (state_ != State::kHttp2 || http2_blocked_) return;
    } else {
      state_ = State::kReading;
    }
  }
  ReadMore();
}

void HttpConnection::ReadMore() {
  // What waits from before goes first: pipelined requests.
  if (state_ == State::kReading && !input_.empty()) {
    const std::string waiting = std::exchange(input_, {});
    const size_t done = Serve(waiting);
    if (state_ == State::kClosed || state_ == State::kLingering) return;
    input_.insert(0, waiting, done);
  }
  while (state_ == State::kReading || state_ == State::kHttp2) {
    char* scratch = context_.scratch.data();
    const ssize_t count = transport_.Read(scratch, context_.scratch.size());
    if (count == Transport::kWantRead) return SetInterest(EPOLLIN);
    if (count == Transport::kWantWrite) return SetInterest(EPOLLOUT);
    if (count <= 0) return Abandon();
    const std::string_view bytes(scratch, static_cast<size_t>(count));
    if (state_ == State::kHttp2) {
      RunHttp2(bytes);
      if (http2_blocked_) return;
      continue;
    }
    if (input_.empty()) {
      const size_t done = Serve(bytes);
      if (state_ != State::kClosed) input_ = bytes.substr(done);
    } else {
      const std::string all = std::exchange(input_, {}).append(bytes);
      const size_t done = Serve(all);
      if (state_ != State::kClosed) input_ = all.substr(done);
    }
    // A read that did not fill the buffer took all there was. TLS may hold more in its own buffer.
    if (state_ == State::kReading && !transport_.tls() && bytes.size() < context_.scratch.size()) {
      return SetInterest(EPOLLIN);
    }
  }
}

size_t HttpConnection::Serve(std::string_view input) {
  size_t done = 0;
  while (state_ == State::kReading) {
    const uint64_t skipped = std::min<uint64_t>(skip_, input.size() - done);
    skip_ -= skipped;
    done += skipped;
    if (done == input.size()) break;
    const HeadStatus status = ParseRequestHead(input.substr(done), head_);
    if (status == HeadStatus::kMore) break;
    const int64_t now = context_.clock.UnixNs();
    hit_ = {};
    hit_.unix_ns = now;
    hit_.connection = facts_.id;
    hit_.address = facts_.address;
    hit_.tls = facts_.tls;
    if (status != HeadStatus::kWhole) {
      done = input.size();
      hit_.method = "BAD";
      head_.keep_alive = false;
      Begin(head_, OwnAnswer(StatusOf(status)));
    } else {
      done += head_.bytes;
      hit_.method = head_.method;
      hit_.host = head_.host;
      hit_.path_and_query = head_.path_and_query;
      hit_.user_agent = head_.user_agent;
      if (head_.chunked_body) {
        Begin(head_, OwnAnswer(411));
      } else if (head_.body_bytes > kMostBodyBytes) {
        Begin(head_, OwnAnswer(413));
      } else {
        skip_ = head_.body_bytes;
        // Without "100 Continue" the client may send its body or not: only a new connection is sure.
        if (head_.expect_continue) head_.keep_alive = false;
        const RequestFacts request = {.method = head_.method,
                                      .host = head_.host,
                                      .path_and_query = head_.path_and_query,
                                      .if_none_match = head_.if_none_match,
                                      .if_modified_since = head_.if_modified_since,
                                      .accept_encoding = head_.accept_encoding,
                                      .user_agent = head_.user_agent};
        Begin(head_, context_.Ask(request, facts_, now));
      }
    }
    client_closes_ = !head_.keep_alive && head_.body_bytes == 0 && status == HeadStatus::kWhole && done == input.size();
    if (script_.delay_ns > 0) {
      waiting_ = true;
      context_.poller.SetTimer(this, context_.poller.now_ns() + script_.delay_ns);
      SetInterest(0);
    } else if (Play() == Played::kDone) {
      FinishScript();
      continue;
    }
    if (hit_open_) KeepRequest();
  }
  return done;
}

void HttpConnection::Begin(const RequestHead& head, SharedAnswer answer) {
  script_ = MakeWireScript(std::move(answer.answer),
                           {.head_only = head.method == "HEAD",
                            .http11 = head.http11 || head.method.empty(),
                            .keep_alive = head.keep_alive,
                            .date = context_.Date(hit_.unix_ns)},
                           std::move(answer.body));
  hit_.status = script_.status;
  hit_open_ = true;
  sent_ = 0;
  repeat_sent_ = 0;
  state_ = State::kPlaying;
}

HttpConnection::Played HttpConnection::Play() {
  const std::string_view body = script_.Body();
  const size_t size = script_.head.size() + body.size();
  size_t round = 0;
  for (;;) {
    std::string_view first;
    std::string_view then;
    if (sent_ < size) {
      if (sent_ < script_.head.size()) {
        first = std::string_view(script_.head).substr(sent_);
        then = body;
      } else {
        first = body.substr(sent_ - script_.head.size());
      }
      if (script_.byte_interval_ns > 0) {
        first = first.substr(0, 1);
        then = {};
      }
    } else if (!script_.repeat.empty()) {
      first = std::string_view(script_.repeat).substr(repeat_sent_);
    } else {
      return Played::kDone;
    }
    if (round >= kWriteRound) {
      SetInterest(EPOLLOUT);
      return Played::kBlocked;
    }
    const ssize_t count = transport_.Write(first, then);
    if (count == Transport::kWantWrite || count == Transport::kWantRead) {
      SetInterest(count == Transport::kWantWrite ? EPOLLOUT : EPOLLIN);
      return Played::kBlocked;
    }
    if (count < 0) {
      Abandon();
      return Played::kBlocked;
    }
    const auto written = static_cast<size_t>(count);
    hit_.bytes += written;
    round += written;
    if (sent_ < size) {
      sent_ += written;
      if (script_.byte_interval_ns > 0 && sent_ < size) {
        waiting_ = true;
        context_.poller.SetTimer(this, context_.poller.now_ns() + script_.byte_interval_ns);
        SetInterest(0);
        return Played::kBlocked;
      }
    } else {
      repeat_sent_ = (repeat_sent_ + written) % script_.repeat.size();
    }
  }
}

void HttpConnection::FinishScript() {
  LogHit();
  switch (script_.end) {
    case ScriptEnd::kKeepAlive:
      state_ = State::kReading;
      break;
    case ScriptEnd::kClose:
      if (client_closes_) {
        if (transport_.tls()) transport_.ShutdownWrite();
        return CloseNow();
      }
      EndGently();
      break;
    case ScriptEnd::kReset:
      Unregister();
      LogClose();
      transport_.Reset();
      return CloseNow();
  }
  script_ = {};
}

void HttpConnection::RunHttp2(std::string_view input) {
  http2_blocked_ = false;
  bool good = input.empty() || http2_->Feed(input);
  while (good && !http2_blocked_) {
    const std::string_view out = http2_->Output();
    if (out.empty()) break;
    const ssize_t count = transport_.Write(out);
    if (count == Transport::kWantWrite || count == Transport::kWantRead) {
      http2_blocked_ = true;
    } else if (count <= 0) {
      good = false;
    } else {
      http2_->Sent(static_cast<size_t>(count));
      http2_blocked_ = http2_->round_is_over();
    }
  }
  if (!good) return Abandon();
  if (http2_->finished()) return EndGently();
  http2_->NewRound();
  const int64_t due = http2_->next_deadline_ns();
  if (due != 0) {
    context_.poller.SetTimer(this, due);
  } else {
    context_.poller.ClearTimer(this);
  }
  waiting_ = due != 0;
  // Nothing is read while the client does not read: so answers do not pile up.
  SetInterest(http2_blocked_ ? EPOLLOUT : EPOLLIN);
}

void HttpConnection::Drain() {
  for (int i = 0; i < 16; ++i) {
    const ssize_t count = ::recv(transport_.fd(), context_.scratch.data(), context_.scratch.size(), 0);
    if (count > 0) continue;
    if (count == 0 || (errno != EAGAIN && errno != EINTR)) CloseNow();
    return;
  }
}

void HttpConnection::SetInterest(uint32_t events) {
  if (state_ == State::kClosed) return;
  if (waiting_ || events == 0) events |= EPOLLRDHUP;
  if (registered_ && events == interest_) return;
  if (registered_) {
    context_.poller.Modify(transport_.fd(), events, this);
  } else if (!context_.poller.Add(transport_.fd(), events, this)) {
    return CloseNow();
  }
  registered_ = true;
  interest_ = events;
}

void HttpConnection::Unregister() {
  // Closing alone is not enough: a process forked at this moment holds the socket, and epoll goes on telling of it.
  if (std::exchange(registered_, false)) context_.poller.Remove(transport_.fd());
}

void HttpConnection::EndGently() {
  transport_.ShutdownWrite();
  LogClose();
  waiting_ = false;
  state_ = State::kLingering;
  http2_.reset();
  input_.clear();
  context_.poller.SetTimer(this, context_.poller.now_ns() + kLingerNs);
  SetInterest(EPOLLIN);
}

void HttpConnection::Abandon() {
  if (state_ == State::kClosed) return;
  if (hit_open_) LogHit();
  CloseNow();
}

void HttpConnection::CloseNow() {
  if (state_ == State::kClosed) return;
  http2_.reset();  // logs the hits of open streams
  LogClose();
  state_ = State::kClosed;
  Unregister();
  transport_.Close();
  list_.Remove(this);
  context_.poller.Retire(std::unique_ptr<EventSource>(this));
}

void HttpConnection::LogClose() {
  if (close_logged_ || context_.hits == nullptr) return;
  close_logged_ = true;
  context_.hits->OnClose(context_.clock.UnixNs(), facts_.id);
}

void HttpConnection::LogHit() {
  hit_open_ = false;
  if (context_.hits == nullptr) return;
  hit_.end_ns = context_.clock.UnixNs();
  context_.hits->OnHit(hit_);
}

void HttpConnection::KeepRequest() {
  if (context_.hits == nullptr) return;
  kept_.clear();
  kept_.reserve(hit_.method.size() + hit_.host.size() + hit_.path_and_query.size() + hit_.user_agent.size());
  for (std::string_view* part : {&hit_.method, &hit_.host, &hit_.path_and_query, &hit_.user_agent}) {
    const size_t at = kept_.size();
    kept_ += *part;
    *part = std::string_view(kept_).substr(at);
  }
}

}  // namespace portolan::sim
