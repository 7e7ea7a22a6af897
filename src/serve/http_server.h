// HttpServer: the router on a socket: HTTP/1.1 by cpp-httplib, which this is the only file to see.
//
// The library parses requests and writes answers. What it leaves open is bounded by the stream that we give it: it
// reads the head of a request as a whole before the library sees it, and counts time and bytes of everything.
//
// Bounds, and what happens there (HttpLimits; docs/serve.md has the table):
//   threads      connections that are served at once; each has one
//   waiting      connections that wait for a thread; beyond them 503, at once
//   head_bytes   request line and fields: 431
//   head_ns      from a head's first byte to its last: 408
//   idle_ns      without a request: closed; at once if others wait
//   body_ns      for a body: the connection is closed; its bytes are bounded by kMaxBody: 413
//   write_ns     for the client to take an answer: closed
// Fields Range and Accept-Encoding are ignored: the library would multiply an answer by many overlapping ranges, and
// compress with brotli's slowest level.
//
// Thread: Run blocks its caller; Stop may be called from any thread, once or more. Memory bound: per connection 64 KiB
// and head_bytes for reading, a body, an answer and 64 KiB of it for writing.

#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "io/clock.h"
#include "serve/listen_address.h"
#include "serve/router.h"

namespace portolan {

struct HttpLimits {
  size_t threads = 16;
  size_t waiting = 64;
  size_t head_bytes = 16 << 10;
  int64_t head_ns = 10 * kSecond;
  int64_t idle_ns = 5 * kSecond;
  int64_t body_ns = 30 * kSecond;
  int64_t write_ns = 60 * kSecond;
};

class HttpServer {
 public:
  // Takes the port, and tells the router its address. kIo: the port is in use, or the system refuses it.
  static Result<std::unique_ptr<HttpServer>> Bind(const ListenAddress& address, Router& router,
                                                  const HttpLimits& limits = {});
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  uint16_t port() const { return port_; }

  // Serves until Stop; then requests that were read are answered (two seconds at most to send an answer). kIo: the
  // socket failed.
  Status Run();
  void Stop();

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
  uint16_t port_ = 0;
};

}  // namespace portolan
