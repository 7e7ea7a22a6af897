// The table of libcurl's codes: total, and right where it matters.

#include "fetch/curl_outcome.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "fetch/testing/print_outcome.h"

namespace portolan {
namespace {

constexpr TransferPhase kPhases[] = {TransferPhase::kConnecting, TransferPhase::kAsked, TransferPhase::kHead,
                                     TransferPhase::kBody};

FetchOutcome Of(CURLcode code, TransferPhase phase, int os_error = 0, std::string_view detail = {}) {
  return OutcomeOfTransfer({.code = code, .phase = phase, .os_error = os_error, .detail = detail});
}

TEST(CurlOutcomeTest, EveryCodeHasAnOutcomeThatFitsItsPhase) {
  for (int code = 0; code <= static_cast<int>(CURL_LAST) + 5; ++code) {
    for (const TransferPhase phase : kPhases) {
      const FetchOutcome outcome = Of(static_cast<CURLcode>(code), phase);
      SCOPED_TRACE(testing::Message() << "code " << code << " phase " << static_cast<int>(phase) << " outcome "
                                      << FetchOutcomeName(outcome));
      EXPECT_LT(static_cast<int>(outcome), kFetchOutcomes);
      EXPECT_NE(outcome, FetchOutcome::kCancelled) << "only Stop cancels";
      if (phase != TransferPhase::kBody) {
        EXPECT_FALSE(HasAnswer(outcome)) << "there is no whole head";
      }
      if (code != CURLE_OK && code != CURLE_TOO_MANY_REDIRECTS) {
        EXPECT_NE(outcome, FetchOutcome::kAnswered);
      }
    }
  }
}

TEST(CurlOutcomeTest, ConnectErrorsAreToldApartByErrno) {
  const auto of = [](int os_error) { return Of(CURLE_COULDNT_CONNECT, TransferPhase::kConnecting, os_error); };
  EXPECT_EQ(of(ECONNREFUSED), FetchOutcome::kConnectRefused);
  EXPECT_EQ(of(ETIMEDOUT), FetchOutcome::kConnectTimeout);
  EXPECT_EQ(of(ENETUNREACH), FetchOutcome::kUnreachable);
  EXPECT_EQ(of(EHOSTUNREACH), FetchOutcome::kUnreachable);
  EXPECT_EQ(of(EMFILE), FetchOutcome::kShortage);
  EXPECT_EQ(of(ENFILE), FetchOutcome::kShortage);
  EXPECT_EQ(of(EADDRNOTAVAIL), FetchOutcome::kLocal);
}

TEST(CurlOutcomeTest, PhaseDecidesWhatABreakMeans) {
  EXPECT_EQ(Of(CURLE_OPERATION_TIMEDOUT, TransferPhase::kConnecting), FetchOutcome::kConnectTimeout);
  EXPECT_EQ(Of(CURLE_OPERATION_TIMEDOUT, TransferPhase::kAsked), FetchOutcome::kFirstByteTimeout);
  EXPECT_EQ(Of(CURLE_OPERATION_TIMEDOUT, TransferPhase::kBody), FetchOutcome::kTimeCut);
  EXPECT_EQ(Of(CURLE_RECV_ERROR, TransferPhase::kAsked), FetchOutcome::kReset);
  EXPECT_EQ(Of(CURLE_RECV_ERROR, TransferPhase::kBody), FetchOutcome::kDisconnected);
  EXPECT_EQ(Of(CURLE_PARTIAL_FILE, TransferPhase::kBody), FetchOutcome::kDisconnected);
  EXPECT_EQ(Of(CURLE_HTTP2_STREAM, TransferPhase::kAsked), FetchOutcome::kProtocol);
  EXPECT_EQ(Of(CURLE_OUT_OF_MEMORY, TransferPhase::kConnecting), FetchOutcome::kLocal);
}

TEST(CurlOutcomeTest, NothingThatIsNotOurFaultIsTriedForEver) {
  for (const CURLcode code : {CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_FTP_WEIRD_227_FORMAT}) {
    EXPECT_NE(FollowOf(Of(code, TransferPhase::kConnecting), 0).retry, Retry::kNow);
  }
  // What a SOCKS proxy reports about the host it was asked for.
  for (const CURLproxycode code : {CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_GENERAL_SERVER_FAILURE,
                                   CURLPX_REPLY_CONNECTION_REFUSED, CURLPX_REPLY_NOT_ALLOWED}) {
    const FetchOutcome outcome = OutcomeOfTransfer({.code = CURLE_PROXY, .detail = {}, .proxy = code});
    EXPECT_NE(FollowOf(outcome, 0).retry, Retry::kNow) << code;
  }
}

}  // namespace
}  // namespace portolan
