// The lines of the hit log (sim/world/hit_log.h) as bytes: written by HitLogWriter, read by HitLogReader.
//
// A field never contains a tab or a line end: bytes below 0x21, '%' and 0x7f are written as %XX, upper case. Numbers
// are decimal. An empty field is two tabs in a row.
//
// Thread: none of its own.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/world/hit_log.h"

namespace portolan::sim {

// The first line: which world this is.
struct HitLogHeader {
  static constexpr int kVersion = 2;  // 2: <http> in H; C at the client's end
  int version = kVersion;
  std::string profile;
  uint64_t seed = 0;
  std::string parameters;  // what differs from the profile, as text; any bytes
  bool operator==(const HitLogHeader&) const = default;
};

enum class HitEventKind : uint8_t { kHit, kOpen, kClose, kDns };

// One line after the first. The kind says which fields are used.
struct HitEvent {
  HitEventKind kind = HitEventKind::kHit;
  Hit hit;                   // kHit, all of it
  int64_t unix_ns = 0;       // all; of a hit the same as hit.unix_ns
  uint64_t connection = 0;   // kHit, kOpen, kClose
  std::string_view address;  // kOpen
  uint16_t port = 0;         // kOpen
  std::string_view name;     // kDns
  std::string_view type;     // kDns: "A", "AAAA", "TYPE65"
  int rcode = 0;             // kDns; -1: it was left without an answer
};

void AppendHeaderLine(const HitLogHeader& header, std::string& out);
void AppendHitLine(const Hit& hit, std::string& out);
void AppendOpenLine(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port, std::string& out);
void AppendCloseLine(int64_t unix_ns, uint64_t connection, std::string& out);
void AppendDnsLine(int64_t unix_ns, std::string_view name, std::string_view type, int rcode, std::string& out);

// A line without its line end. nullopt if it is not such a line. Decoded fields live in `scratch`, which the views of
// the event refer to until it changes.
std::optional<HitLogHeader> ParseHeaderLine(std::string_view line);
std::optional<HitEvent> ParseEventLine(std::string_view line, std::string& scratch);

}  // namespace portolan::sim
