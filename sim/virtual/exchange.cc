#include "sim/virtual/exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "flow/url_record.h"

namespace portolan::sim {
namespace {

// The head of an answer as the server would write it, roughly: a tarpit's length is counted with it.
constexpr uint64_t kHeadBytes = 300;

void End(Exchange& exchange, FetchOutcome outcome) {
  exchange.outcome = outcome;
  if (HasAnswer(outcome)) return;
  exchange.status = 0;
  exchange.body_bytes = 0;
  exchange.answer->body.clear();
}

// Nothing more comes: the fetcher waits until it loses patience.
void WaitUntil(Exchange& exchange, int64_t took_ns) { exchange.took_ns = std::max(exchange.first_byte_ns, took_ns); }

void CutBody(Exchange& exchange, uint64_t bytes) {
  std::string& body = exchange.answer->body;
  if (body.size() > bytes) body.resize(bytes);
  exchange.body_bytes = std::min<uint64_t>(exchange.body_bytes, bytes);
}

}  // namespace

void ApplyWireFault(const FetchLimits& limits, Exchange& exchange) {
  const Answer& answer = *exchange.answer;
  exchange.status = answer.status;
  switch (answer.fault) {
    case WireFault::kNone:
      break;
    case WireFault::kShortLength:
      CutBody(exchange, answer.fault_at);
      break;
    case WireFault::kReset:
      exchange.took_ns = exchange.first_byte_ns;
      exchange.first_byte_ns = 0;
      End(exchange, FetchOutcome::kReset);
      break;
    case WireFault::kEmptyReply:
      exchange.took_ns = exchange.first_byte_ns;
      exchange.first_byte_ns = 0;
      End(exchange, FetchOutcome::kEmptyReply);
      break;
    case WireFault::kResetInBody:
    case WireFault::kCloseEarly:
      CutBody(exchange, answer.fault_at);
      End(exchange, FetchOutcome::kDisconnected);
      break;
    case WireFault::kLongLength:
      End(exchange, FetchOutcome::kDisconnected);
      break;
    case WireFault::kSlowFirstByte:
      exchange.first_byte_ns += answer.delay_ns;
      exchange.took_ns += answer.delay_ns;
      if (exchange.first_byte_ns > limits.first_byte_ns) {
        exchange.first_byte_ns = 0;
        exchange.took_ns = limits.first_byte_ns;
        End(exchange, FetchOutcome::kFirstByteTimeout);
      }
      break;
    case WireFault::kTarpit: {
      const int64_t byte_ns = std::max<int64_t>(answer.delay_ns, 1);
      const auto arrived =
          static_cast<uint64_t>(std::max<int64_t>(limits.total_ns - exchange.first_byte_ns, 0) / byte_ns);
      if (arrived >= kHeadBytes + exchange.body_bytes) {
        exchange.took_ns = exchange.first_byte_ns + byte_ns * static_cast<int64_t>(kHeadBytes + exchange.body_bytes);
        break;
      }
      CutBody(exchange, arrived > kHeadBytes ? arrived - kHeadBytes : 0);
      WaitUntil(exchange, limits.total_ns);
      End(exchange, FetchOutcome::kTimeCut);
      break;
    }
    case WireFault::kEndless:
      exchange.body_bytes = limits.body_bytes;
      WaitUntil(exchange, std::min(limits.total_ns, exchange.took_ns));
      End(exchange, FetchOutcome::kBodyCut);
      break;
    case WireFault::kHeaderFlood:
      if (answer.fault_at > limits.head_bytes) End(exchange, FetchOutcome::kHeadTooLarge);
      break;
    case WireFault::kGarbage:
    case WireFault::kHttp09:
      End(exchange, FetchOutcome::kNotHttp);
      break;
    case WireFault::kBadChunks:
      End(exchange, FetchOutcome::kBadFraming);
      break;
  }
  if (exchange.outcome == FetchOutcome::kAnswered && exchange.body_bytes > limits.body_bytes) {
    CutBody(exchange, limits.body_bytes);
    exchange.outcome = FetchOutcome::kBodyCut;
  }
  if (exchange.took_ns > limits.total_ns) {
    exchange.took_ns = limits.total_ns;
    if (exchange.outcome == FetchOutcome::kAnswered) exchange.outcome = FetchOutcome::kTimeCut;
  }
}

FetchResponse MakeFetchResponse(Exchange&& exchange, std::string_view user_agent) {
  FetchResponse response;
  response.outcome = exchange.outcome;
  response.status = exchange.status;
  response.times = {.begin_ns = exchange.begin_ns,
                    .connected_ns = exchange.begin_ns,
                    .first_byte_ns = exchange.first_byte_ns == 0 ? 0 : exchange.begin_ns + exchange.first_byte_ns,
                    .end_ns = exchange.end_ns(),
                    .begin_unix_ns = exchange.begin_unix_ns};
  if (exchange.tls) {
    response.tls_version = "tls/1.3";
    response.tls_cipher = "TLS_AES_128_GCM_SHA256";
  }
  if (exchange.requested) {
    response.request_head =
        fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n", PathAndQueryOf(exchange.task.url), HostOf(exchange.task.url));
    if (exchange.task.conditional()) {
      const Validators& validators = exchange.task.last->validators;
      const auto add = [&](std::string_view name, std::string_view value) {
        if (IsValidator(value)) fmt::format_to(std::back_inserter(response.request_head), "{}: {}\r\n", name, value);
      };
      add("If-None-Match", validators.etag);
      add("If-Modified-Since", validators.last_modified);
    }
    fmt::format_to(std::back_inserter(response.request_head), "User-Agent: {}\r\n\r\n", user_agent);
  }
  if (HasAnswer(exchange.outcome) && exchange.answer) {
    const Answer& answer = *exchange.answer;
    response.version = answer.http10 ? HttpVersion::k10 : HttpVersion::k11;
    auto out = std::back_inserter(response.response_head);
    fmt::format_to(out, "HTTP/1.{} {} \r\n", answer.http10 ? 0 : 1, answer.status);
    for (const auto& [name, value] : answer.headers) fmt::format_to(out, "{}: {}\r\n", name, value);
    if (!answer.keep_alive) response.response_head += "Connection: close\r\n";
    switch (answer.framing) {
      case Framing::kLength:
        fmt::format_to(out, "Content-Length: {}\r\n", answer.body.size());
        break;
      case Framing::kChunked:
        response.response_head += "Transfer-Encoding: chunked\r\n";
        break;
      case Framing::kClose:
        break;
    }
    response.response_head += "\r\n";
    response.body = std::move(exchange.answer->body);
    response.wire_bytes = response.response_head.size() + response.body.size();
  }
  response.task = std::move(exchange.task);
  return response;
}

}  // namespace portolan::sim
