// The messages of Xapian's remote protocol (version 39, Xapian 1.4) that a search needs: what we send to a server, and
// what comes back, read as bytes that anybody may have sent.
//
// Xapian's own client believes the server: it allocates what a length says, merges whatever statistics come, and asks
// all servers in turn within one call. Here each answer is bounded and compared with what was asked; the socket and its
// time limit are in remote_part.cc. The format of the messages is in docs/formats/xapian_wire.md.
//
// Thread: functions without state. Bounds: kMaxWireMessage; lists are as long as what was asked for. Any bytes give a
// value or kCorrupt.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/query_plan.h"
#include "search/score.h"
#include "search/search_part.h"

namespace portolan {

inline constexpr size_t kMaxWireMessage = size_t{4} << 20;
inline constexpr uint8_t kWireMajor = 39;

// Numbers of the protocol: never renumber.
enum class WireAsk : uint8_t {
  kAllTerms = 0,
  kDocument = 2,
  kQuery = 8,
  kReopen = 12,
  kMset = 26,
};
enum class WireReply : uint8_t {
  kUpdate = 0,
  kException = 1,
  kDone = 2,
  kAllTerms = 3,
  kDocumentData = 5,
  kStatistics = 11,
  kValue = 16,
  kResults = 18,
};

// A number: one byte below 255, else 255 and 7 bits per byte of the rest, low bits first, the last byte with its high
// bit.
void AppendWireNumber(std::string& out, uint64_t number);
// Sign, exponent to the base of 256 and up to eight bytes of mantissa: exact.
void AppendWireDouble(std::string& out, double value);
void AppendWireMessage(std::string& out, WireAsk type, std::string_view body);

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  bool Number(uint64_t& number);
  bool Double(double& value);  // finite
  bool Bytes(std::string_view& bytes, uint64_t size);
  bool String(std::string_view& bytes);  // behind its length
  bool Byte(uint8_t& byte);
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// The first message in `bytes`: its size, type and body. kNotFound: it is not whole yet. kCorrupt: it is too long.
struct WireMessage {
  uint8_t type = 0;
  std::string_view body;
  size_t size = 0;  // with its head
};
Result<WireMessage> TakeWireMessage(std::string_view bytes);

std::string WireQuery(const QueryPlan& plan);
std::string WireMset(const QueryPlan& plan, const SearchStatistics& all, uint32_t most, uint32_t count);

// The greeting: how many documents there are, and their length in all.
Result<SearchStatistics> ParseWireUpdate(std::string_view body);
// The statistics of the plan's terms, and only of these; checked against what the greeting said of the documents.
Result<SearchStatistics> ParseWireStatistics(std::string_view body, const QueryPlan& plan);
// At most `most` hits, in order, each once, with a tie key.
Result<PartHits> ParseWireResults(std::string_view body, uint32_t most, uint32_t count);
// A term of the list of those with a prefix; `last` is the one before it.
Result<std::pair<std::string, uint64_t>> ParseWireTerm(std::string_view body, std::string_view last);
// Slot and value of a document.
Result<std::pair<uint64_t, std::string>> ParseWireValue(std::string_view body);
// What the server says went wrong: its name for the kind of error is a number that only its library knows.
std::string WireErrorText(std::string_view body);

}  // namespace portolan
