// VisitTable: how often a client has asked for a URL before, for answers such as "503, then fine".
//
// A table of fixed size: buckets of eight entries in a cache line, the one touched last in front; an entry is 48 bits
// of the key's hash and a count that stops at 65,535. In a full bucket the least recently used entry is dropped, and
// its next visit counts as the first. With the default size that begins at about two million URLs; two URLs share an
// entry with a probability of 8 / 2^48 per visit.
//
// Thread: any. Memory bound: `entries` * 8 bytes (default 32 MiB), touched as it fills.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

namespace portolan::sim {

class VisitTable {
 public:
  static constexpr size_t kDefaultEntries = size_t{1} << 22;

  // `entries` is rounded up to a power of two of at least 64.
  explicit VisitTable(size_t entries = kDefaultEntries);

  // Counts one visit and returns how many there were before it.
  uint32_t Visit(std::string_view client, bool tls, std::string_view host, std::string_view path_and_query);

 private:
  static constexpr size_t kBucket = 8;
  static constexpr size_t kLocks = 64;

  size_t buckets_;  // a power of two
  std::unique_ptr<uint64_t[], void (*)(void*)> entries_;
  std::array<std::mutex, kLocks> locks_;  // of the buckets whose number is the lock's, modulo kLocks
};

}  // namespace portolan::sim
