#include "sim/server/http2_session.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/server/request_head.h"
#include "sim/server/wire_script.h"

namespace portolan::sim {
namespace {

// Between the last byte of a cut body and the reset: clients that find both in one read forget the bytes.
constexpr int64_t kCutPauseNs = 20 * kMillisecond;
constexpr size_t kOutputBytes = size_t{16} << 10;

bool HasNoDataFrames(int status) { return status == 204 || status == 304; }

}  // namespace

struct Http2Session::Stream {
  int32_t id = 0;
  std::string method;
  std::string host;
  std::string path;
  std::string if_none_match;
  std::string if_modified_since;
  std::string accept_encoding;
  std::string user_agent;
  size_t head_bytes = 0;
  bool whole = false;      // the request was read to its end
  bool submitted = false;  // the answer's head is with nghttp2
  Answer answer;
  uint64_t body_end = 0;  // so many bytes of the body go out
  uint64_t body_sent = 0;
  bool cut = false;         // … and then the stream is reset
  bool cut_is_due = false;  // the pause before that is over
  std::string repeat;       // endless
  int64_t byte_interval_ns = 0;
  int64_t deadline_ns = 0;  // in timers_; 0: none
  bool paused = false;      // until the deadline
  Hit hit;
};

// nghttp2's C interface; `user` is the session.
struct Http2Session::Callbacks {
  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    auto stream = std::make_unique<Stream>();
    stream->id = frame->hd.stream_id;
    self->streams_.emplace(stream->id, std::move(stream));
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name_bytes, size_t name_size,
                      const uint8_t* value_bytes, size_t value_size, uint8_t, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    Stream* stream = self->Find(frame->hd.stream_id);
    if (stream == nullptr || stream->whole) return 0;
    const std::string_view name(reinterpret_cast<const char*>(name_bytes), name_size);
    const std::string_view value(reinterpret_cast<const char*>(value_bytes), value_size);
    stream->head_bytes += name_size + value_size + 32;
    if (stream->head_bytes > kMostHeadBytes) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (name == ":method") {
      stream->method = value;
    } else if (name == ":path") {
      stream->path = value;
    } else if (name == ":authority" || (name == "host" && stream->host.empty())) {
      AssignHostName(value, stream->host);
    } else if (name == "if-none-match") {
      stream->if_none_match = value;
    } else if (name == "if-modified-since") {
      stream->if_modified_since = value;
    } else if (name == "accept-encoding") {
      stream->accept_encoding = value;
    } else if (name == "user-agent") {
      stream->user_agent = value;
    }
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    if ((frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) ||
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) {
      return 0;
    }
    Stream* stream = self->Find(frame->hd.stream_id);
    if (stream != nullptr && !stream->whole) self->Answered(*stream);
    return 0;
  }

  static int OnFrameSent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    if (Stream* stream = self->Find(frame->hd.stream_id)) stream->hit.bytes += frame->hd.length + 9;
    return 0;
  }

  static int OnStreamClose(nghttp2_session*, int32_t id, uint32_t, void* user) {
    auto* self = static_cast<Http2Session*>(user);
    const auto found = self->streams_.find(id);
    if (found == self->streams_.end()) return 0;
    self->WaitUntil(*found->second, 0);
    self->Log(*found->second);
    self->streams_.erase(found);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session*, int32_t id, uint8_t* to, size_t room, uint32_t* flags, nghttp2_data_source*,
                          void* user) {
    auto* self = static_cast<Http2Session*>(user);
    Stream* stream = self->Find(id);
    if (stream == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (stream->paused) return NGHTTP2_ERR_DEFERRED;
    const uint64_t left = stream->body_end - stream->body_sent;
    if (left == 0 && !stream->repeat.empty()) {
      const size_t part = std::min(room, stream->repeat.size());
      std::memcpy(to, stream->repeat.data(), part);
      return static_cast<ssize_t>(part);
    }
    if (left == 0 && stream->cut) {
      if (stream->cut_is_due) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // becomes RST_STREAM
      stream->cut_is_due = true;
      stream->paused = true;
      self->WaitUntil(*stream, self->context_.poller.now_ns() + kCutPauseNs);
      return NGHTTP2_ERR_DEFERRED;
    }
    size_t part = std::min<uint64_t>(room, left);
    if (stream->byte_interval_ns > 0 && part > 0) {
      part = 1;
      stream->paused = true;
      self->WaitUntil(*stream, self->context_.poller.now_ns() + stream->byte_interval_ns);
    }
    std::memcpy(to, stream->answer.body.data() + stream->body_sent, part);
    stream->body_sent += part;
    if (stream->body_sent == stream->body_end && stream->repeat.empty() && !stream->cut) {
      *flags |= NGHTTP2_DATA_FLAG_EOF;
      stream->hit.end_ns = self->context_.clock.UnixNs();  // before the client can have it: see hit_log.h
    }
    return static_cast<ssize_t>(part);
  }
};

Http2Session::Http2Session(ServerContext& context, const ConnectionFacts& facts) : context_(context), facts_(facts) {}

std::unique_ptr<Http2Session> Http2Session::Create(ServerContext& context, const ConnectionFacts& facts) {
  auto self = std::unique_ptr<Http2Session>(new Http2Session(context, facts));
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* option = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
  bool made = nghttp2_option_new(&option) == 0;
  if (made) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, &Callbacks::OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, &Callbacks::OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, &Callbacks::OnFrame);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, &Callbacks::OnFrameSent);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, &Callbacks::OnStreamClose);
    nghttp2_option_set_max_send_header_block_length(option, 2 * WireScript::kMostFloodBytes);
    made = nghttp2_session_server_new2(&self->session_, callbacks, self.get(), option) == 0;
    nghttp2_option_del(option);
  }
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMostStreams},
                                             {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMostHeadBytes}};
  if (!made || nghttp2_submit_settings(self->session_, NGHTTP2_FLAG_NONE, settings, std::size(settings)) != 0) {
    return nullptr;
  }
  return self;
}

Http2Session::~Http2Session() {
  LogOpenStreams();
  nghttp2_session_del(session_);
}

int64_t Http2Session::LogOpenStreams() {
  for (const auto& [id, stream] : streams_) Log(*stream);
  streams_.clear();
  timers_.clear();
  return last_end_ns_;
}

Http2Session::Stream* Http2Session::Find(int32_t id) {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second.get();
}

bool Http2Session::Feed(std::string_view bytes) {
  return nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()) >= 0;
}

std::string_view Http2Session::Output() {
  if (output_sent_ == output_.size()) {
    output_.clear();
    output_sent_ = 0;
    while (output_.size() < kOutputBytes) {
      const uint8_t* bytes = nullptr;
      const ssize_t count = nghttp2_session_mem_send(session_, &bytes);
      if (count <= 0) break;
      output_.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(count));
    }
  }
  return std::string_view(output_).substr(output_sent_);
}

void Http2Session::Sent(size_t bytes) {
  output_sent_ += bytes;
  round_bytes_ += bytes;
}

bool Http2Session::finished() const {
  return output_sent_ == output_.size() && nghttp2_session_want_read(session_) == 0 &&
         nghttp2_session_want_write(session_) == 0;
}

void Http2Session::WaitUntil(Stream& stream, int64_t deadline_ns) {
  if (stream.deadline_ns != 0) timers_.erase({stream.deadline_ns, stream.id});
  stream.deadline_ns = deadline_ns;
  if (deadline_ns != 0) timers_.emplace(deadline_ns, stream.id);
}

void Http2Session::OnTime(int64_t now_ns) {
  while (!timers_.empty() && timers_.begin()->first <= now_ns) {
    Stream* stream = Find(timers_.begin()->second);
    timers_.erase(timers_.begin());
    if (stream == nullptr) continue;
    stream->deadline_ns = 0;
    stream->paused = false;
    if (stream->submitted) {
      nghttp2_session_resume_data(session_, stream->id);
    } else {
      Submit(*stream);
    }
  }
}

void Http2Session::Answered(Stream& stream) {
  stream.whole = true;
  Hit& hit = stream.hit;
  hit.unix_ns = context_.clock.UnixNs();
  hit.connection = facts_.id;
  hit.address = facts_.address;
  hit.host = stream.host;
  hit.tls = facts_.tls;
  hit.http2 = true;
  hit.method = stream.method;
  hit.path_and_query = stream.path;
  hit.user_agent = stream.user_agent;
  hit.conditional = !stream.if_none_match.empty() || !stream.if_modified_since.empty();
  const RequestFacts request = {.method = stream.method,
                                .host = stream.host,
                                .path_and_query = stream.path,
                                .if_none_match = stream.if_none_match,
                                .if_modified_since = stream.if_modified_since,
                                .accept_encoding = stream.accept_encoding,
                                .user_agent = stream.user_agent};
  SharedAnswer shared = context_.Ask(request, facts_, hit.unix_ns);
  stream.answer = std::move(shared.answer);
  if (shared.body) stream.answer.body = *shared.body;
  const Answer& answer = stream.answer;
  stream.body_end = answer.body.size();
  switch (answer.fault) {
    case WireFault::kReset:
    case WireFault::kEmptyReply:
      return Refuse(stream, NGHTTP2_INTERNAL_ERROR);
    case WireFault::kGarbage:
    case WireFault::kHttp09:
    case WireFault::kBadChunks:
      return Refuse(stream, NGHTTP2_PROTOCOL_ERROR);
    case WireFault::kResetInBody:
    case WireFault::kCloseEarly:
      stream.cut = true;
      stream.body_end = CutAt(answer);
      break;
    case WireFault::kEndless:
      stream.repeat = EndlessBlock(answer.body);
      break;
    case WireFault::kTarpit:
      stream.byte_interval_ns = std::max<int64_t>(answer.delay_ns, 1);
      return WaitUntil(stream, context_.poller.now_ns() + stream.byte_interval_ns);
    case WireFault::kSlowFirstByte:
      return WaitUntil(stream, context_.poller.now_ns() + std::max<int64_t>(answer.delay_ns, 1));
    default:
      break;
  }
  Submit(stream);
}

void Http2Session::Refuse(Stream& stream, uint32_t error_code) {
  stream.hit.end_ns = context_.clock.UnixNs();
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id, error_code);
}

void Http2Session::Submit(Stream& stream) {
  stream.submitted = true;
  const Answer& answer = stream.answer;
  std::vector<std::pair<std::string, std::string>> fields;
  fields.emplace_back(":status", std::to_string(answer.status));
  fields.emplace_back("date", context_.Date(stream.hit.unix_ns));
  for (const auto& [name, value] : answer.headers) {
    std::string lower = name;
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    fields.emplace_back(std::move(lower), value);
  }
  const bool bodiless = HasNoDataFrames(answer.status);
  if (!bodiless) {
    if (answer.fault == WireFault::kLongLength || answer.fault == WireFault::kShortLength) {
      fields.emplace_back("content-length", std::to_string(WrongLength(answer)));
    } else if ((answer.framing == Framing::kLength && answer.fault != WireFault::kEndless) ||
               answer.fault == WireFault::kCloseEarly) {
      fields.emplace_back("content-length", std::to_string(answer.body.size()));
    }
  }
  if (answer.fault == WireFault::kHeaderFlood) {
    constexpr size_t kFloodField = 200;
    const uint64_t goal = std::min(answer.fault_at, WireScript::kMostFloodBytes);
    for (uint64_t i = 0; i * kFloodField < goal; ++i) {
      fields.emplace_back("x-flood-" + std::to_string(i), std::string(kFloodField, 'f'));
    }
  }
  std::vector<nghttp2_nv> pairs;
  pairs.reserve(fields.size());
  for (auto& [name, value] : fields) {
    pairs.push_back({reinterpret_cast<uint8_t*>(name.data()), reinterpret_cast<uint8_t*>(value.data()), name.size(),
                     value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  nghttp2_data_provider body = {};
  body.read_callback = &Callbacks::ReadBody;
  const bool head_only =
      stream.method == "HEAD" || bodiless || (answer.body.empty() && stream.repeat.empty() && !stream.cut);
  if (nghttp2_submit_response(session_, stream.id, pairs.data(), pairs.size(), head_only ? nullptr : &body) != 0) {
    return Refuse(stream, NGHTTP2_INTERNAL_ERROR);
  }
  stream.hit.status = answer.status;
  if (head_only) stream.hit.end_ns = context_.clock.UnixNs();
}

void Http2Session::Log(const Stream& stream) {
  if (!stream.whole || context_.hits == nullptr) return;
  Hit hit = stream.hit;
  // Given up by the client: when we heard of it.
  if (hit.end_ns == 0) hit.end_ns = std::max(hit.unix_ns, context_.RoundUnixNs());
  last_end_ns_ = std::max(last_end_ns_, hit.end_ns);
  context_.hits->OnHit(hit);
}

}  // namespace portolan::sim
