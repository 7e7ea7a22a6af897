// TimeOrder: brings the events of a hit log into the order in which requests began.
//
// A server logs a request when it has ended, so a slow one comes after quicker ones that began later; the Judge needs
// them in the order of their beginnings. Events are held back until the log is `window_ns` past them.
//
// Memory: the events of one window. An event that comes later than that is still passed on, and counted: the account
// cannot be trusted then, and a longer window is needed.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/world/hit_log.h"

namespace portolan::sim {

class TimeOrder : public HitSink {
 public:
  TimeOrder(HitSink& next, int64_t window_ns) : next_(next), window_ns_(window_ns) {}

  void OnHit(const Hit& hit) override;
  void OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) override;
  void OnClose(int64_t unix_ns, uint64_t connection) override;
  void OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) override;

  // Passes on what is left: the log has ended.
  void Flush();

  uint64_t late() const { return late_; }
  int64_t last_ns() const { return newest_ns_; }  // the latest moment that any event named

 private:
  enum class What : uint8_t { kHit, kOpen, kClose, kDns };
  struct Event {
    int64_t time_ns = 0;
    uint64_t sequence = 0;  // of the log: breaks ties
    What what = What::kHit;
    Hit hit;  // views into text, set when it is passed on; for other events connection and status (port, rcode)
    std::string text;  // the strings one behind the other
    std::vector<uint32_t> ends;
  };
  struct Later {
    bool operator()(const Event& a, const Event& b) const {
      return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.sequence > b.sequence;
    }
  };

  void Push(Event&& event, int64_t newest_ns);
  void PassOn(Event& event);

  HitSink& next_;
  int64_t window_ns_;
  std::vector<Event> heap_;
  int64_t newest_ns_ = 0;
  int64_t passed_ns_ = 0;
  uint64_t sequence_ = 0;
  uint64_t late_ = 0;
};

}  // namespace portolan::sim
