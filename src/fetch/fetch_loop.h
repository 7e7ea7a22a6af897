// FetchLoop: one thread with its event loop, its connections and its fetches.
//
// Tasks come through a mailbox that wakes the loop once for all that lie in it. Up to max_in_flight run at once, the
// others wait in their order; beyond max_waiting a task ends at once in kLocal: whoever schedules has sent far more
// than can be fetched. Plain HTTP goes over PlainHttp, everything else (TLS, HTTP/2, proxies) over libcurl; what is
// made for a fetch is kept and used again.
//
// With a byte budget a fetch begins when there is room for its beginning, and an answer goes to the handler when there
// is room for what is made of it; until then both wait here (receive_room.h).
//
// Thread: Fetch from any, Stop from the owner's, everything else on the loop's.
// Memory bound: max_in_flight transfers (see Exchange), max_waiting tasks, idle_connections, tls_sessions; answers that
// wait, by their leases; and the tasks that come between two turns of the loop.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "base/result.h"
#include "fetch/curl_multi.h"
#include "fetch/curl_transfer.h"
#include "fetch/fetch_handler.h"
#include "fetch/fetch_options.h"
#include "fetch/plain_http.h"
#include "fetch/plain_transfer.h"
#include "fetch/receive_room.h"
#include "fetch/request_fields.h"
#include "fetch/tls_sessions.h"
#include "io/event_loop.h"
#include "io/mailbox.h"

namespace portolan {

class FetchLoop {
 public:
  // REQUIRES: options and handler outlive this.
  static Result<std::unique_ptr<FetchLoop>> Create(const FetchOptions& options, size_t index, FetchHandler& handler);
  ~FetchLoop();
  FetchLoop(const FetchLoop&) = delete;
  FetchLoop& operator=(const FetchLoop&) = delete;

  // REQUIRES: Stop was not called.
  void Fetch(FetchTask&& task);
  // Ends every fetch in kCancelled and joins the thread. A second call does nothing.
  void Stop();

 private:
  FetchLoop(const FetchOptions& options, size_t index, FetchHandler& handler, RequestFields&& fields,
            std::unique_ptr<EventLoop> loop);

  void TakeMail();
  void StartWaiting();
  bool IsPlain(const FetchTask& task) const { return options_.proxy.empty() && task.url.starts_with("http:"); }
  void Start(FetchTask&& task, ByteLease&& lease);
  void StartPlain(FetchTask&& task, ByteLease&& lease);
  void StartCurl(FetchTask&& task, ByteLease&& lease);
  void OnRoom();
  void GoOn(Exchange& exchange);
  // While memory is short: of the bodies that come too slowly for what they hold, the worst.
  bool EndSluggish(int64_t now_ns);
  void EndCurl(size_t index, FetchOutcome outcome, std::string_view detail);
  void EndPlain(size_t index, FetchOutcome outcome, std::string_view detail);
  void OnCurlDone(CURL* easy, CURLcode code);
  void OnPlainDone(PlainTransfer& transfer);
  void End(std::vector<size_t>& free, size_t index, FetchResponse&& response);
  bool MayStart() const { return running_ < options_.max_in_flight; }
  // The slots of both kinds, in one row of deadlines.
  size_t PlainSlot(size_t index) const { return options_.max_in_flight + index; }
  void Refuse(FetchTask&& task, FetchOutcome outcome, std::string_view detail);
  void Answer(FetchResponse&& response);
  void DeliverWaiting();
  void TellAnswers();
  void OnBeforeWait();
  void CheckTimes();
  void CancelAll();

  const FetchOptions& options_;
  const size_t index_;
  FetchHandler& handler_;
  const RequestFields fields_;
  TlsSessions sessions_;
  const std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<CurlMulti> multi_;
  ReceiveRoom room_;
  Mailbox<FetchTask> mail_;
  std::deque<FetchTask> waiting_;
  std::deque<FetchResponse> undelivered_;
  std::vector<ByteLease> curl_leases_;  // by slot: what libcurl holds for it
  int64_t tight_ns_ = 0;                // since when memory is short; 0: it is not
  std::unique_ptr<PlainHttp> plain_;
  std::vector<int64_t> deadlines_;  // by slot, apart from the transfers: read through often
  // By slot; made when first needed. Each kind has at most max_in_flight, both together never run more.
  std::vector<std::unique_ptr<CurlTransfer>> curl_transfers_;
  std::vector<std::unique_ptr<PlainTransfer>> plain_transfers_;
  std::vector<size_t> curl_free_;  // without a fetch, the last used on top
  std::vector<size_t> plain_free_;
  size_t running_ = 0;
  int64_t looked_ns_ = 0;  // what had come by then has been read
  bool answered_ = false;  // since handler_ heard OnAnswersGiven
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace portolan
