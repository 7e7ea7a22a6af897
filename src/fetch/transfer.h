// Transfer: one fetch on one libcurl easy handle, from task to response. The handle is used again by the next fetch.
//
//   kConnecting ──prereq──▶ kAsked ──first line──▶ kHead ──empty line──▶ kBody ──▶ Finish
//
// All limits are kept here and not by libcurl, so that each ends in its own outcome with what was received so far. Size
// limits are checked as bytes come; time limits at `deadline`, which the owner compares with the clock now and then.
//
// Thread: the loop's. Invariants: *deadline is kNoDeadline unless a fetch runs. Memory bound: the limits of head and
// body, and libcurl's buffer.

#pragma once

#include <curl/curl.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fetch/curl_outcome.h"
#include "fetch/fetch_options.h"
#include "fetch/head_collector.h"
#include "fetch/request_fields.h"
#include "fetch/tls_sessions.h"
#include "flow/fetch.h"

namespace portolan {

inline constexpr int64_t kNoDeadline = INT64_MAX;

class Transfer {
 public:
  // What the transfers of a loop share. Outlives them.
  struct Shared {
    const FetchOptions& options;
    const RequestFields& fields;
    TlsSessions& sessions;
  };

  // `deadline` is where this transfer writes when it wants CheckTime to be called; outlives this.
  static Result<std::unique_ptr<Transfer>> Create(const Shared& shared, size_t slot, int64_t* deadline);
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  CURL* easy() const { return easy_; }
  size_t slot() const { return slot_; }
  static Transfer* Of(CURL* easy);

  // Readies the handle. REQUIRES: no fetch runs.
  void Begin(FetchTask&& task);
  // Has a time limit passed? Then the owner takes the handle out and calls Finish with the outcome.
  std::optional<FetchOutcome> CheckTime(int64_t now_ns);
  // libcurl ended it. REQUIRES: the handle is still in its multi, which knows errno and version.
  FetchResponse Finish(CURLcode code);
  // We ended it.
  FetchResponse Finish(FetchOutcome outcome, std::string_view detail);

 private:
  Transfer(const Shared& shared, size_t slot, int64_t* deadline) : shared_(shared), slot_(slot), deadline_(deadline) {}
  Status SetUp();

  static size_t OnHeaderLine(char* bytes, size_t size, size_t count, void* self);
  static size_t OnBody(char* bytes, size_t size, size_t count, void* self);
  static int OnConnected(void* self, char* ip, char* local_ip, int port, int local_port);
  static CURLcode OnTlsContext(CURL* easy, void* context, void* self);
  static curl_socket_t OnOpenSocket(void* self, curlsocktype purpose, curl_sockaddr* address);

  bool HeaderLine(std::string_view line);
  bool Body(std::string_view bytes);
  bool Connected();  // false: give up
  // Decides the outcome and stops libcurl: callbacks return what makes it give up.
  bool Cut(FetchOutcome outcome, std::string_view detail);
  void Received(int64_t now_ns, size_t bytes);
  void SetDeadline();
  bool TooSlow(int64_t now_ns);
  FetchResponse TakeResponse(FetchOutcome outcome);

  const Shared shared_;
  const size_t slot_;
  int64_t* const deadline_;
  CURL* easy_ = nullptr;
  std::array<char, CURL_ERROR_SIZE> error_{};

  // Of the fetch that runs:
  FetchResponse response_;
  RequestFields::Conditional conditional_;
  std::string connect_to_;
  curl_slist connect_node_{};
  HeadCollector head_;
  TransferPhase phase_ = TransferPhase::kConnecting;
  std::optional<FetchOutcome> decided_;
  bool kept_ = false;      // the connection was there before this fetch
  int socket_errno_ = 0;   // of a socket that could not be made
  int64_t asked_ns_ = 0;   // when the request went out
  int64_t window_ns_ = 0;  // begin of the window that measures speed
  uint64_t window_bytes_ = 0;
};

}  // namespace portolan
