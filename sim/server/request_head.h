// RequestHead: the head of an HTTP/1 request, the parts that the simulated web needs (RFC 9112).
//
// The parser reads what clients send and refuses what would make two readers disagree: no Host in HTTP/1.1, two
// different lengths, a length that is not a number, a line of a head without a colon. A bare LF ends a line, as RFC
// 9112 allows. Any bytes give a value; nothing is read beyond the input.
//
// Thread: none of its own. Memory bound: views of the input, and the host name.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace portolan::sim {

enum class HeadStatus : uint8_t {
  kWhole,    // `bytes` of the input are the head
  kMore,     // not the whole head yet
  kBad,      // 400
  kTooLong,  // 431: kMostHeadBytes without an end
  kVersion,  // 505: neither HTTP/1.0 nor 1.1
};

struct RequestHead {
  static constexpr size_t kMostHeadBytes = size_t{32} << 10;

  std::string_view method;
  std::string_view path_and_query;  // of an absolute target: from its path on
  std::string host;                 // no port, lower case, no dot at the end; of an absolute target: its own
  std::string_view if_none_match;
  std::string_view if_modified_since;
  std::string_view accept_encoding;
  std::string_view user_agent;
  bool http11 = false;
  bool keep_alive = false;  // the client would keep this connection
  bool expect_continue = false;
  bool chunked_body = false;
  uint64_t body_bytes = 0;  // Content-Length
  size_t bytes = 0;         // of the head, blank line included
};

// `head` is overwritten; its views are of `input`.
HeadStatus ParseRequestHead(std::string_view input, RequestHead& head);

// "WWW.X.test:80" to "www.x.test", "[::1]:80" to "::1".
void AssignHostName(std::string_view authority, std::string& host);

}  // namespace portolan::sim
