// HeaderFields and ResponseHead: a response's status line and header fields (RFC 9112), read as browsers read them.
//
// Tolerated: lines ended by LF alone; a CR inside a line (a blank, RFC 9112 section 2.2); continued lines (obs-fold,
// joined by one blank); blanks before a colon; lines without a colon or with a name that is not a token (left out and
// counted); blanks at the start of the first field line (left out, section 2.2); any number of blanks in the status
// line; a missing reason; "HTTP/2 200" as archives hold it; empty lines before the status line. Refused with a name: no
// status line at all (HTTP/0.9), a status line that cannot be read or whose status is not of three digits from 100 on
// (RFC 9110 section 15), a NUL byte.
//
// Lookups compare names ignoring case and allocate nothing. Views are valid as long as the object and until it is
// moved.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace portolan {

class HeaderFields {
 public:
  struct Field {
    std::string_view name;
    std::string_view value;  // without blanks around it
  };

  size_t size() const { return spans_.size(); }
  Field operator[](size_t index) const;

  // The first field of this name.
  std::optional<std::string_view> Find(std::string_view name) const;
  // The values of all fields of this name joined by ", ", as RFC 9110 section 5.3 lets them be. Empty if there is none.
  std::string Joined(std::string_view name) const;

  // Lines that were not fields.
  uint32_t skipped_lines() const { return skipped_lines_; }

  // Field lines without the status line and without the empty line at the end. False for a NUL byte, or for more than
  // `max_fields` fields. Also for trailers and for the headers inside WARC records.
  bool Parse(std::string_view lines, size_t max_fields);

 private:
  struct Span {
    uint32_t name, name_size, value, value_size;
  };
  std::string bytes_;
  std::vector<Span> spans_;
  uint32_t skipped_lines_ = 0;
};

enum class HeadOutcome : uint8_t {
  kRead,
  kNoStatusLine,   // does not begin with HTTP/: an HTTP/0.9 answer, or another protocol
  kBadStatusLine,  // begins with HTTP/, and no status can be found
  kBadField,       // a NUL byte
  kTooManyFields,
  kTooLarge,
};

std::string_view HeadOutcomeName(HeadOutcome outcome);

struct HeadLimits {
  size_t max_bytes = size_t{256} << 10;  // what Chrome allows
  size_t max_fields = 1000;
};

struct ResponseHead {
  HeadOutcome outcome = HeadOutcome::kNoStatusLine;
  uint16_t status = 0;
  uint8_t version_major = 0;
  uint8_t version_minor = 0;
  std::string reason;
  HeaderFields fields;
};

// `bytes` is the head, with or without the empty line at its end.
ResponseHead ParseResponseHead(std::string_view bytes, const HeadLimits& limits = {});

// How a response's body is delimited (RFC 9112 section 6.3).
enum class BodyFraming : uint8_t {
  kNone,        // no body: 1xx, 204, 304, or the answer to HEAD
  kLength,      // Content-Length
  kChunked,     // Transfer-Encoding, chunked last
  kUntilClose,  // neither
  kBadLength,   // Content-Lengths that differ: refused, as browsers do; or an impossible one (2^64 and above)
};

struct Framing {
  BodyFraming kind = BodyFraming::kNone;
  uint64_t length = 0;          // for kLength
  bool coded_transfer = false;  // codings other than chunked were applied to the transfer
};

Framing FramingOf(const ResponseHead& head, bool answers_head_request);

// The Content-Length fields together, by Fetch's "extract a length": nullopt if they are absent or not a number. `bad`
// is set where they differ, or where the number is 2^64 or more.
std::optional<uint64_t> ContentLength(const HeaderFields& fields, bool& bad);

// A number in decimal digits and nothing else. nullopt if it is anything else; `too_large` is set if it is 2^64 or
// more.
std::optional<uint64_t> ParseLength(std::string_view digits, bool& too_large);

}  // namespace portolan
