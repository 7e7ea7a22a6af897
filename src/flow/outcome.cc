#include "flow/outcome.h"

#include <array>

namespace portolan {
namespace {

struct Row {
  std::string_view name;
  Follow follow;
};

constexpr uint32_t kSecondMs = 1000;
constexpr uint32_t kMinuteMs = 60 * kSecondMs;

// In the order of FetchOutcome. Answers are refined by their status below.
constexpr std::array<Row, kFetchOutcomes> kRows = {{
    {"answered", {CountAs::kFetched, Retry::kNever, 1, 0, true}},
    {"body_cut", {CountAs::kFetched, Retry::kNever, 1, 0, true}},
    {"time_cut", {CountAs::kLimit, Retry::kNever, 1, 0, true}},
    {"disconnected", {CountAs::kBroken, Retry::kUrlLater, 3, 30 * kSecondMs, true}},
    {"dns_not_found", {CountAs::kDns, Retry::kNever, 1, 0, false}},
    {"dns_failed", {CountAs::kDns, Retry::kHostLater, 3, kMinuteMs, false}},
    {"dns_timeout", {CountAs::kDns, Retry::kHostLater, 3, kMinuteMs, false}},
    {"address_forbidden", {CountAs::kDns, Retry::kNever, 1, 0, false}},
    {"connect_refused", {CountAs::kConnection, Retry::kHostLater, 3, kMinuteMs, false}},
    {"connect_timeout", {CountAs::kConnection, Retry::kHostLater, 3, 5 * kMinuteMs, false}},
    {"unreachable", {CountAs::kConnection, Retry::kHostLater, 3, 5 * kMinuteMs, false}},
    {"tls_handshake", {CountAs::kTls, Retry::kHostLater, 2, kMinuteMs, false}},
    {"tls_certificate", {CountAs::kTls, Retry::kNever, 1, 0, false}},
    {"first_byte_timeout", {CountAs::kLimit, Retry::kUrlLater, 2, kMinuteMs, false}},
    {"reset", {CountAs::kBroken, Retry::kUrlLater, 3, 30 * kSecondMs, false}},
    {"empty_reply", {CountAs::kBroken, Retry::kUrlLater, 3, 30 * kSecondMs, false}},
    {"not_http", {CountAs::kBroken, Retry::kNever, 1, 0, false}},
    {"head_too_large", {CountAs::kLimit, Retry::kNever, 1, 0, false}},
    {"bad_framing", {CountAs::kBroken, Retry::kNever, 1, 0, false}},
    {"protocol", {CountAs::kBroken, Retry::kUrlLater, 2, 30 * kSecondMs, false}},
    {"decode_failed", {CountAs::kBroken, Retry::kNever, 1, 0, true}},
    {"bomb", {CountAs::kLimit, Retry::kNever, 1, 0, false}},
    {"local", {CountAs::kLocal, Retry::kNow, 0, kSecondMs, false}},
    {"network_down", {CountAs::kLocal, Retry::kNow, 0, 10 * kSecondMs, false}},
    {"cancelled", {CountAs::kLocal, Retry::kNow, 0, 0, false}},
    {"shortage", {CountAs::kLocal, Retry::kNow, 0, kSecondMs, false}},
    {"slow_cut", {CountAs::kLimit, Retry::kUrlLater, 2, kMinuteMs, true}},
    {"unasked_not_modified", {CountAs::kBroken, Retry::kUrlLater, 2, kMinuteMs, true}},
}};

constexpr std::array<std::string_view, kCountAs> kCountNames = {
    "fetched",    "not_modified", "redirected", "client_error", "server_error", "dns",
    "connection", "tls",          "broken",     "limit",        "local"};

}  // namespace

std::string_view FetchOutcomeName(FetchOutcome outcome) { return kRows[static_cast<size_t>(outcome)].name; }
std::string_view CountAsName(CountAs count) { return kCountNames[static_cast<size_t>(count)]; }

Follow FollowOf(FetchOutcome outcome, int status) {
  Follow follow = kRows[static_cast<size_t>(outcome)].follow;
  if (HasAnswer(outcome) && (status == 429 || status == 503)) {
    // The host asks for fewer requests, even if the rest of the answer failed: all its URLs wait, for Retry-After or
    // our own back-off.
    return {CountAs::kServerError, Retry::kHostLater, 4, 30 * kSecondMs, follow.keep};
  }
  if (outcome != FetchOutcome::kAnswered && outcome != FetchOutcome::kBodyCut) return follow;
  if (status >= 200 && status < 300) return follow;
  if (status == 304) {
    follow.count = CountAs::kNotModified;
  } else if (status >= 300 && status < 400) {
    follow.count = CountAs::kRedirected;
  } else if (status == 408 || status == 425) {
    follow = {CountAs::kClientError, Retry::kUrlLater, 2, 30 * kSecondMs, true};
  } else if (status >= 400 && status < 500) {
    follow.count = CountAs::kClientError;
  } else if (status >= 500 && status < 600) {
    follow = {CountAs::kServerError, Retry::kUrlLater, 3, kMinuteMs, true};
  } else {
    follow.count = CountAs::kBroken;  // 1xx as a final answer, or a number that is not a status
  }
  return follow;
}

}  // namespace portolan
