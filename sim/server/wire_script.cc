#include "sim/server/wire_script.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/rng.h"

namespace portolan::sim {
namespace {

constexpr size_t kEndlessBlockBytes = size_t{16} << 10;
constexpr size_t kGarbageBytes = 600;

void AppendField(std::string_view name, std::string_view value, std::string& head) {
  head += name;
  head += ": ";
  head += value;
  head += "\r\n";
}

void AppendLength(uint64_t length, std::string& head) {
  fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", length);
}

void AppendChunk(std::string_view bytes, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{:x}\r\n", bytes.size());
  out += bytes;
  out += "\r\n";
}

std::string Chunked(std::string_view body) {
  std::string out;
  out.reserve(body.size() + body.size() / WireScript::kChunkBytes * 8 + 32);
  while (!body.empty()) {
    const std::string_view part = body.substr(0, WireScript::kChunkBytes);
    AppendChunk(part, out);
    body.remove_prefix(part.size());
  }
  out += "0\r\n\r\n";
  return out;
}

// No server speaks so: the first byte is no letter, and no line of it is a status line.
std::string Garbage(size_t seed) {
  Rng rng(seed);
  std::string bytes(kGarbageBytes, '\0');
  for (char& c : bytes) c = static_cast<char>(rng.Below(256));
  bytes[0] = '\x16';
  return bytes;
}

void AppendFlood(uint64_t bytes, std::string& head) {
  const uint64_t goal = std::min(bytes, WireScript::kMostFloodBytes);
  const std::string filler(200, 'f');
  head.reserve(goal + 256);
  for (uint64_t i = 0; head.size() < goal; ++i) {
    fmt::format_to(std::back_inserter(head), "X-Flood-{}: {}\r\n", i, filler);
  }
}

bool HasNoBody(int status) { return status == 204 || status == 304 || (status >= 100 && status < 200); }

}  // namespace

uint64_t CutAt(const Answer& answer) {
  const uint64_t size = answer.body.size();
  return size == 0 ? 0 : std::min(answer.fault_at, size - 1);
}

uint64_t WrongLength(const Answer& answer) {
  const uint64_t size = answer.body.size();
  if (answer.fault == WireFault::kLongLength) return answer.fault_at > size ? answer.fault_at : size + 1000;
  return answer.fault_at > 0 && answer.fault_at < size ? answer.fault_at : size / 2;
}

std::string EndlessBlock(std::string_view body) {
  std::string block(body.substr(0, kEndlessBlockBytes));
  // Not within a tag: what follows would make a link of it that no page has.
  if (const size_t tag = block.rfind('>'); tag != std::string::npos) block.resize(tag + 1);
  if (block.empty()) block = "<p>and so on</p>\n";
  const std::string once = block;
  while (block.size() + once.size() <= kEndlessBlockBytes) block += once;
  return block;
}

std::string_view StatusText(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

WireScript MakeWireScript(Answer answer, const ClientSide& client, std::shared_ptr<const std::string> shared_body) {
  // Chunks stand between the bytes, and faults change them: these need a body of their own.
  if (shared_body && (answer.framing == Framing::kChunked || answer.fault != WireFault::kNone)) {
    answer.body = *shared_body;
    shared_body.reset();
  }
  WireScript script;
  const WireFault fault = answer.fault;
  switch (fault) {
    case WireFault::kReset:
      script.end = ScriptEnd::kReset;
      return script;
    case WireFault::kEmptyReply:
      script.end = ScriptEnd::kClose;
      return script;
    case WireFault::kGarbage:
      script.head = Garbage(answer.body.size());
      script.end = ScriptEnd::kClose;
      return script;
    case WireFault::kHttp09:
      script.head = std::move(answer.body);
      script.end = ScriptEnd::kClose;
      return script;
    default:
      break;
  }

  const bool bodiless = HasNoBody(answer.status);
  Framing framing = answer.framing;
  if (fault == WireFault::kBadChunks) framing = Framing::kChunked;
  if (fault == WireFault::kLongLength || fault == WireFault::kShortLength) framing = Framing::kLength;
  // Only a length, or chunks, lets the client notice that something is missing.
  if (fault == WireFault::kCloseEarly && framing == Framing::kClose) framing = Framing::kLength;
  if (fault == WireFault::kEndless && framing == Framing::kLength) framing = Framing::kClose;
  if (framing == Framing::kChunked && (answer.http10 || !client.http11)) {
    framing = fault == WireFault::kCloseEarly ? Framing::kLength : Framing::kClose;
  }
  const bool framing_closes = framing == Framing::kClose && !bodiless;
  const bool keep = answer.keep_alive && client.keep_alive && !answer.http10 && !framing_closes;

  script.status = answer.status;
  script.end = keep && !answer.cut_keep_alive ? ScriptEnd::kKeepAlive : ScriptEnd::kClose;
  std::string& head = script.head;
  size_t room = 160;
  for (const auto& [name, value] : answer.headers) room += name.size() + value.size() + 4;
  head.reserve(room);
  head += answer.http10 ? "HTTP/1.0 " : "HTTP/1.1 ";
  head += static_cast<char>('0' + answer.status / 100 % 10);
  head += static_cast<char>('0' + answer.status / 10 % 10);
  head += static_cast<char>('0' + answer.status % 10);
  head += ' ';
  head += StatusText(answer.status);
  head += "\r\n";
  if (!client.date.empty()) AppendField("Date", client.date, head);
  for (const auto& [name, value] : answer.headers) AppendField(name, value, head);
  if (!keep) {
    head += "Connection: close\r\n";
  } else if (!client.http11 || answer.cut_keep_alive) {
    head += "Connection: keep-alive\r\n";
  }
  if (!bodiless) {
    if (fault == WireFault::kLongLength || fault == WireFault::kShortLength) {
      AppendLength(WrongLength(answer), head);
    } else if (framing == Framing::kLength) {
      AppendLength(shared_body ? shared_body->size() : answer.body.size(), head);
    } else if (framing == Framing::kChunked) {
      head += "Transfer-Encoding: chunked\r\n";
    }
  }
  if (fault == WireFault::kHeaderFlood) AppendFlood(answer.fault_at, head);
  head += "\r\n";

  const bool chunked = framing == Framing::kChunked;
  const bool no_body = bodiless || client.head_only;
  switch (fault) {
    case WireFault::kResetInBody:
    case WireFault::kCloseEarly: {
      script.end = fault == WireFault::kResetInBody ? ScriptEnd::kReset : ScriptEnd::kClose;
      if (no_body) return script;
      const uint64_t cut = CutAt(answer);
      if (chunked) script.body = fmt::format("{:x}\r\n", answer.body.size());
      script.body.append(answer.body, 0, cut);
      return script;
    }
    case WireFault::kBadChunks:
      script.end = ScriptEnd::kClose;
      if (no_body) return script;
      script.body = "chunk\r\n" + answer.body + "\r\n-1\r\n\r\n";
      return script;
    case WireFault::kEndless:
      if (no_body) return script;
      script.end = ScriptEnd::kClose;
      script.body = std::move(answer.body);
      script.repeat = EndlessBlock(script.body);
      if (chunked) {
        std::string first;
        if (!script.body.empty()) AppendChunk(script.body, first);
        script.body = std::move(first);
        std::string block;
        AppendChunk(script.repeat, block);
        script.repeat = std::move(block);
      }
      return script;
    case WireFault::kLongLength:
      if (!no_body) script.end = ScriptEnd::kClose;
      break;
    case WireFault::kSlowFirstByte:
      script.delay_ns = answer.delay_ns;
      break;
    case WireFault::kTarpit:
      script.delay_ns = answer.delay_ns;
      // An interval of nothing would be no tarpit, and a busy loop.
      script.byte_interval_ns = std::max<int64_t>(answer.delay_ns, 1);
      break;
    default:
      break;
  }
  if (no_body) return script;
  if (shared_body) {
    script.shared_body = std::move(shared_body);
  } else {
    script.body = chunked ? Chunked(answer.body) : std::move(answer.body);
  }
  return script;
}

}  // namespace portolan::sim
