#include "sim/oracle/time_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "io/rng.h"

namespace portolan::sim {
namespace {

class Recorder : public HitSink {
 public:
  void OnHit(const Hit& hit) override {
    times.push_back(hit.unix_ns);
    lines.push_back(std::string(hit.address) + " " + std::string(hit.host) + " " + std::string(hit.method) + " " +
                    std::string(hit.path_and_query) + " " + std::string(hit.user_agent));
  }
  void OnOpen(int64_t unix_ns, uint64_t connection, std::string_view address, uint16_t port) override {
    times.push_back(unix_ns);
    lines.push_back("open " + std::to_string(connection) + " " + std::string(address) + " " + std::to_string(port));
  }
  void OnClose(int64_t unix_ns, uint64_t connection) override {
    times.push_back(unix_ns);
    lines.push_back("close " + std::to_string(connection));
  }
  void OnDns(int64_t unix_ns, std::string_view name, std::string_view type, int rcode) override {
    times.push_back(unix_ns);
    lines.push_back("dns " + std::string(name) + " " + std::string(type) + " " + std::to_string(rcode));
  }

  std::vector<int64_t> times;
  std::vector<std::string> lines;
};

TEST(TimeOrderTest, HitsWrittenAtTheirEndsComeOutByTheirBeginnings) {
  Rng rng(3);
  std::vector<Hit> hits;
  for (int i = 0; i < 2000; ++i) {
    const auto start = static_cast<int64_t>(rng.Below(100'000));
    hits.push_back({.unix_ns = start, .end_ns = start + static_cast<int64_t>(rng.Below(500))});
  }
  std::sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.end_ns < b.end_ns; });
  Recorder recorder;
  TimeOrder order(recorder, 500);
  for (const Hit& hit : hits) order.OnHit(hit);
  order.Flush();
  EXPECT_EQ(order.late(), 0U);
  EXPECT_EQ(recorder.times.size(), hits.size());
  EXPECT_TRUE(std::is_sorted(recorder.times.begin(), recorder.times.end()));

  Recorder narrow;
  TimeOrder too_narrow(narrow, 5);
  for (const Hit& hit : hits) too_narrow.OnHit(hit);
  too_narrow.Flush();
  EXPECT_GT(too_narrow.late(), 0U);
  EXPECT_EQ(narrow.times.size(), hits.size());
}

TEST(TimeOrderTest, EventsKeepTheirFields) {
  Recorder recorder;
  TimeOrder order(recorder, 1'000'000);
  order.OnOpen(10, 7, "127.0.0.9", 8080);
  order.OnClose(40, 7);
  order.OnDns(5, "www.x.test", "AAAA", 3);
  {
    // The caller's strings die before the events are passed on.
    const std::string path = "/a/rather/long/path/that/does/not/fit/into/a/small/string";
    order.OnHit({.unix_ns = 20,
                 .end_ns = 30,
                 .address = "127.0.0.9",
                 .host = "h.test",
                 .method = "GET",
                 .path_and_query = path,
                 .user_agent = "u a"});
  }
  EXPECT_TRUE(recorder.lines.empty());
  order.Flush();
  EXPECT_EQ(recorder.lines,
            (std::vector<std::string>{
                "dns www.x.test AAAA 3", "open 7 127.0.0.9 8080",
                "127.0.0.9 h.test GET /a/rather/long/path/that/does/not/fit/into/a/small/string u a", "close 7"}));
  EXPECT_EQ(order.last_ns(), 40);
}

}  // namespace
}  // namespace portolan::sim
