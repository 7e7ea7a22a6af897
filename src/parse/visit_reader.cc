#include "parse/visit_reader.h"

#include <algorithm>

#include "flow/visit_facts.h"

namespace portolan {
namespace {

constexpr int64_t kNsPerSecond = 1'000'000'000;

bool IsWhole(const PageView& view, const PageResult& result) {
  return result.outcome == FetchOutcome::kAnswered && !result.cut && view.readable && !view.response.body.empty();
}

}  // namespace

void VisitReader::Read(const PageView& view, PageResult& result) {
  Visit& visit = *result.visit;
  if (IsWhole(view, result)) {
    if (result.payload_sha1 != decltype(result.payload_sha1){}) {
      visit.payload_sha1 = result.payload_sha1;
    } else if (!result.archive.bytes.empty()) {
      visit.payload_sha1 = result.archive.payload_sha1;
    } else {
      sha1_.Start();
      sha1_.Update(view.response.body);
      std::ranges::copy(sha1_.Finish(), visit.payload_sha1.begin());
    }
  }
  const HeaderFields& head = view.head.fields;
  std::string cache_control;
  if (head.Find("cache-control")) cache_control = head.Joined("cache-control");
  const VisitFields fields = {.etag = head.Find("etag").value_or(""),
                              .last_modified = head.Find("last-modified").value_or(""),
                              .date = head.Find("date"),
                              .expires = head.Find("expires"),
                              .cache_control = cache_control};
  AddVisitFacts(fields, view.response.task.conditional(), view.readable,
                view.response.times.begin_unix_ns / kNsPerSecond, result);
}

}  // namespace portolan
