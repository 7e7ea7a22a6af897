// Which FetchOutcome a transfer of libcurl ended in: one table over all its codes, with one column per phase.
//
// The same code means different things before there is a connection, before there is an answer, and in the middle of
// one. Where a code alone is too coarse, errno and libcurl's error text tell more (the texts of 7.88; with other
// versions only this refinement is lost).

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
  std::string_view detail;          // libcurl's error text
  CURLproxycode proxy = CURLPX_OK;  // of CURLE_PROXY: what a SOCKS proxy answered
};

// The outcome of a connection that could not be made, by errno.
FetchOutcome OutcomeOfConnectError(int os_error);

// Total: handles any code, known to this version or not.
FetchOutcome OutcomeOfTransfer(const TransferEnd& end);

}  // namespace portolan
