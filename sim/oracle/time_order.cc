#include "sim/oracle/time_order.h"

#include <algorithm>
#include <initializer_list>

namespace portolan::sim {
namespace {

void Store(std::initializer_list<std::string_view> parts, std::string& text, std::vector<uint32_t>& ends) {
  for (const std::string_view part : parts) {
    text += part;
    ends.push_back(static_cast<uint32_t>(text.size()));
  }
}

}  // namespace

void TimeOrder::OnHit(const Hit& hit) {
  Event event{.time_ns = hit.unix_ns, .what = What::kHit, .hit = hit};
  Store({hit.address, hit.host, hit.method, hit.path_and_query, hit.user_agent}, event.text, event.ends);
  Push(std::move(event), std::max(hit.unix_ns, hit.end_ns));
}

void TimeOrder::OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) {
  Event event{.time_ns = unix_ns, .what = What::kOpen};
  event.hit.connection = connection;
  event.hit.status = port;
  Store({address}, event.text, event.ends);
  Push(std::move(event), unix_ns);
}

void TimeOrder::OnClose(int64_t unix_ns, uint64_t connection) {
  Event event{.time_ns = unix_ns, .what = What::kClose};
  event.hit.connection = connection;
  Push(std::move(event), unix_ns);
}

void TimeOrder::OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) {
  Event event{.time_ns = unix_ns, .what = What::kDns};
  event.hit.status = rcode;
  Store({name, type}, event.text, event.ends);
  Push(std::move(event), unix_ns);
}

void TimeOrder::Flush() {
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    Event event = std::move(heap_.back());
    heap_.pop_back();
    PassOn(event);
  }
}

void TimeOrder::Push(Event&& event, int64_t newest_ns) {
  if (event.time_ns < passed_ns_) ++late_;
  event.sequence = sequence_++;
  heap_.push_back(std::move(event));
  std::push_heap(heap_.begin(), heap_.end(), Later());
  newest_ns_ = std::max(newest_ns_, newest_ns);
  while (!heap_.empty() && heap_.front().time_ns < newest_ns_ - window_ns_) {
    std::pop_heap(heap_.begin(), heap_.end(), Later());
    Event oldest = std::move(heap_.back());
    heap_.pop_back();
    PassOn(oldest);
  }
}

void TimeOrder::PassOn(Event& event) {
  passed_ns_ = std::max(passed_ns_, event.time_ns);
  const auto part = [&event](size_t index) {
    const uint32_t begin = index == 0 ? 0 : event.ends[index - 1];
    return std::string_view(event.text).substr(begin, event.ends[index] - begin);
  };
  switch (event.what) {
    case What::kHit:
      event.hit.address = part(0);
      event.hit.host = part(1);
      event.hit.method = part(2);
      event.hit.path_and_query = part(3);
      event.hit.user_agent = part(4);
      next_.OnHit(event.hit);
      break;
    case What::kOpen:
      next_.OnOpen(event.time_ns, event.hit.connection, part(0), static_cast<uint16_t>(event.hit.status));
      break;
    case What::kClose:
      next_.OnClose(event.time_ns, event.hit.connection);
      break;
    case What::kDns:
      next_.OnDns(event.time_ns, part(0), part(1), event.hit.status);
      break;
  }
}

}  // namespace portolan::sim
