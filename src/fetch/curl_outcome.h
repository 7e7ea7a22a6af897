// Which FetchOutcome a transfer of libcurl ended in: one table over all its codes, with a column a phase.
//
// The same code means different things before there is a connection, before there is an answer, and in the middle of
// one. Where a code alone is too coarse, errno and libcurl's words tell more (the words of 7.88; a version that speaks
// otherwise only loses the refinement).

#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <string_view>

#include "fetch/transfer_phase.h"
#include "flow/outcome.h"

namespace portolan {

struct TransferEnd {
  CURLcode code = CURLE_OK;
  TransferPhase phase = TransferPhase::kConnecting;
  int os_error = 0;                 // errno of the connection, or of the socket that we could not open
  std::string_view detail;          // libcurl's words
  CURLproxycode proxy = CURLPX_OK;  // of CURLE_PROXY: what a SOCKS proxy answered
};

// Of a connection that could not be made, by errno.
FetchOutcome OutcomeOfConnectError(int os_error);

// Total: any code, known to this version or not.
FetchOutcome OutcomeOfTransfer(const TransferEnd& end);

}  // namespace portolan
