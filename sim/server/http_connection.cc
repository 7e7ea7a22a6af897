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
      last_active_ns_(context.poller.now_ns()),
      last_logged_ns_(facts_.opened_ns) {}

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
    case State::kAsked:
      return;  // its answer is due in this round
    case State::kPlaying:
      if (waiting_) {
        // Nothing is asked of the socket now but to tell of the client's end.
        if ((events & EPOLLRDHUP) != 0) Abandon();
        return;
      }
      return context_.poller.AfterReading(this);
    case State::kHttp2:
      if (!http2_blocked_) return ReadMore();
      more_to_read_ = true;
      return context_.poller.AfterReading(this);
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
      return OnAllRead();
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
      RunHttp2();
      if (state_ != State::kHttp2 || http2_blocked_) return;
    } else {
      state_ = State::kReading;
    }
  }
  ReadMore();
}

void HttpConnection::ReadMore() {
  // What waits from before goes first: pipelined requests.
  if (state_ == State::kReading && !input_.empty()) input_.erase(0, TakeRequest(input_));
  for (int round = 0; state_ == State::kReading || state_ == State::kHttp2; ++round) {
    if (round == kReadRounds) {
      // Others want to be served, too. TLS may hold bytes of which epoll knows nothing.
      more_to_read_ = true;
      return context_.poller.AfterReading(this);
    }
    char* scratch = context_.scratch.data();
    const ssize_t count = transport_.Read(scratch, context_.scratch.size());
    if (count == Transport::kWantRead) return SetInterest(EPOLLIN);
    if (count == Transport::kWantWrite) return SetInterest(EPOLLOUT);
    if (count <= 0) return Abandon();
    const std::string_view bytes(scratch, static_cast<size_t>(count));
    if (state_ == State::kHttp2) {
      if (!http2_->Feed(bytes)) return Abandon();
      context_.poller.AfterReading(this);
      continue;
    }
    if (input_.empty()) {
      const size_t done = TakeRequest(bytes);
      input_ = bytes.substr(done);
    } else {
      input_ += bytes;
      input_.erase(0, TakeRequest(input_));
    }
    // A read that did not fill the buffer took all there was. TLS may hold more in its own buffer.
    if (state_ == State::kReading && !transport_.tls() && bytes.size() < context_.scratch.size()) {
      return SetInterest(EPOLLIN);
    }
  }
}

size_t HttpConnection::TakeRequest(std::string_view input) {
  const uint64_t skipped = std::min<uint64_t>(skip_, input.size());
  skip_ -= skipped;
  input.remove_prefix(skipped);
  if (input.empty()) return skipped;
  const HeadStatus status = ParseRequestHead(input, head_);
  if (status == HeadStatus::kMore) return skipped;
  hit_ = {};
  hit_.unix_ns = context_.clock.UnixNs();
  hit_.connection = facts_.id;
  hit_.address = facts_.address;
  hit_.tls = facts_.tls;
  hit_open_ = true;
  state_ = State::kAsked;
  context_.poller.AfterReading(this);
  refusal_ = 0;
  if (status != HeadStatus::kWhole) {
    refusal_ = StatusOf(status);
    head_ = {};
    head_.http11 = true;
    head_.method = "BAD";
    KeepRequest();
    client_closes_ = false;
    return skipped + input.size();
  }
  KeepRequest();
  if (head_.chunked_body) {
    refusal_ = 411;
  } else if (head_.body_bytes > kMostBodyBytes) {
    refusal_ = 413;
  } else {
    skip_ = head_.body_bytes;
    // Without "100 Continue" the client may send its body or not: only a new connection is sure.
    if (head_.expect_continue) head_.keep_alive = false;
  }
  client_closes_ = !head_.keep_alive && head_.body_bytes == 0 && head_.bytes == input.size();
  return skipped + head_.bytes;
}

void HttpConnection::OnAllRead() {
  switch (state_) {
    case State::kAsked:
      AnswerRequest();
      if (state_ == State::kReading && !input_.empty()) input_.erase(0, TakeRequest(input_));
      if (state_ != State::kReading) return;
      // Of a plain socket epoll tells; TLS may hold bytes itself.
      return transport_.tls() ? ReadMore() : SetInterest(EPOLLIN);
    case State::kPlaying:
      if (waiting_) return;
      if (Play() == Played::kDone) FinishScript();
      if (state_ == State::kReading) ReadMore();
      return;
    case State::kHttp2:
      RunHttp2();
      break;
    default:
      break;
  }
  const bool reads = state_ == State::kReading || (state_ == State::kHttp2 && !http2_blocked_);
  if (reads && std::exchange(more_to_read_, false)) ReadMore();
}

void HttpConnection::AnswerRequest() {
  if (refusal_ != 0) {
    Begin(OwnAnswer(refusal_));
  } else {
    const RequestFacts request = {.method = head_.method,
                                  .host = head_.host,
                                  .path_and_query = head_.path_and_query,
                                  .if_none_match = head_.if_none_match,
                                  .if_modified_since = head_.if_modified_since,
                                  .accept_encoding = head_.accept_encoding,
                                  .user_agent = head_.user_agent};
    Begin(context_.Ask(request, facts_, hit_.unix_ns));
  }
  if (script_.delay_ns > 0) {
    waiting_ = true;
    context_.poller.SetTimer(this, context_.poller.now_ns() + script_.delay_ns);
    SetInterest(0);
  } else if (Play() == Played::kDone) {
    FinishScript();
  }
}

void HttpConnection::Begin(SharedAnswer answer) {
  script_ = MakeWireScript(std::move(answer.answer),
                           {.head_only = head_.method == "HEAD",
                            .http11 = head_.http11,
                            .keep_alive = head_.keep_alive,
                            .date = context_.Date(hit_.unix_ns)},
                           std::move(answer.body));
  hit_.status = script_.status;
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
    hit_.end_ns = context_.clock.UnixNs();  // before the client can have it: see hit_log.h
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
      // The client closes at once; the log wants to know when.
      if (client_closes_ && context_.hits == nullptr) {
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

void HttpConnection::RunHttp2() {
  http2_blocked_ = false;
  bool good = true;
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
  waiting_ = false;
  state_ = State::kLingering;
  if (http2_) last_logged_ns_ = std::max(last_logged_ns_, http2_->LogOpenStreams());
  http2_.reset();
  input_.clear();
  context_.poller.SetTimer(this, context_.poller.now_ns() + kLingerNs);
  SetInterest(EPOLLIN);
}

void HttpConnection::Abandon() {
  if (state_ == State::kClosed) return;
  if (hit_open_) {
    hit_.end_ns = std::max(hit_.unix_ns, context_.RoundUnixNs());  // when we heard of it, not when we came to it
    LogHit();
  }
  CloseNow();
}

void HttpConnection::CloseNow() {
  if (state_ == State::kClosed) return;
  if (http2_) last_logged_ns_ = std::max(last_logged_ns_, http2_->LogOpenStreams());
  http2_.reset();
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
  // When we heard of it, not when we came to it; but not before anything else that the log has of this connection.
  context_.hits->OnClose(std::max(last_logged_ns_, context_.RoundUnixNs()), facts_.id);
}

void HttpConnection::LogHit() {
  hit_open_ = false;
  if (context_.hits == nullptr) return;
  if (hit_.end_ns == 0) hit_.end_ns = context_.clock.UnixNs();  // without a byte
  last_logged_ns_ = hit_.end_ns;
  context_.hits->OnHit(hit_);
}

void HttpConnection::KeepRequest() {
  const auto parts = {&head_.method,          &head_.path_and_query, &head_.if_none_match, &head_.if_modified_since,
                      &head_.accept_encoding, &head_.user_agent};
  size_t size = 0;
  for (const std::string_view* part : parts) size += part->size();
  kept_.clear();
  kept_.reserve(size);  // no view moves
  for (std::string_view* part : parts) {
    const size_t at = kept_.size();
    kept_ += *part;
    *part = std::string_view(kept_).substr(at);
  }
  hit_.method = head_.method;
  hit_.host = head_.host;
  hit_.path_and_query = head_.path_and_query;
  hit_.user_agent = head_.user_agent;
  hit_.conditional = !head_.if_none_match.empty() || !head_.if_modified_since.empty();
}

}  // namespace portolan::sim
