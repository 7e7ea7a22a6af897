// BareCurl: the rival of fetching, libcurl's multi interface on epoll with nothing around it.
//
// It keeps the body's size and the status, and no head, no times, no limits except libcurl's own: what any program on
// libcurl pays at least.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "flow/address.h"

namespace portolan::bench {

struct BareCurlRun {
  size_t concurrent = 64;
  bool reuse_connections = false;
  size_t max_connections = 1024;
  // The next page to fetch; false when there is none.
  std::function<bool(std::string& url, Address& address)> next;
};

// The bytes of all bodies; 0 if any fetch failed.
uint64_t FetchWithBareCurl(const BareCurlRun& run);

}  // namespace portolan::bench
