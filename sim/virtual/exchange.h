// Exchange: a fetch in progress in the virtual web: the request, its result and its times. Everything is decided when
// it begins; the answer is made when it ends.

#pragma once

#include <cstdint>
#include <optional>

#include "flow/fetch.h"
#include "sim/world/world.h"

namespace portolan::sim {

struct FetchLimits {  // of the fetcher that is simulated
  int64_t connect_ns = 15'000'000'000;
  int64_t first_byte_ns = 20'000'000'000;
  int64_t total_ns = 60'000'000'000;
  int64_t dns_ns = 10'000'000'000;
  uint64_t body_bytes = uint64_t{16} << 20;
  uint64_t head_bytes = uint64_t{256} << 10;
};

struct Exchange {
  FetchTask task;
  Place place;
  PageKind page_kind = PageKind::kNormal;
  bool tls = false;
  bool requested = false;  // a request was made: it is in the hit log
  FetchOutcome outcome = FetchOutcome::kAnswered;
  int status = 0;
  int64_t begin_ns = 0;
  int64_t begin_unix_ns = 0;
  int64_t first_byte_ns = 0;  // after begin_ns; 0: there was none
  int64_t took_ns = 0;
  uint64_t body_bytes = 0;
  std::optional<Answer> answer;  // where the bytes were needed

  int64_t end_ns() const { return begin_ns + took_ns; }
};

// Applies answer->fault as a fetcher with these limits would see it: sets outcome, status, times and body_bytes, and
// cuts the answer's body where the fetcher would. REQUIRES: answer, and times of a healthy answer.
void ApplyWireFault(const FetchLimits& limits, Exchange& exchange);

// The answer as the fetcher would hand it on. REQUIRES: answer, or an outcome without one.
FetchResponse MakeFetchResponse(Exchange&& exchange, std::string_view user_agent);

}  // namespace portolan::sim
