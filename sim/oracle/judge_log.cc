#include "sim/oracle/judge_log.h"

#include <fmt/core.h>

#include <algorithm>

#include "sim/oracle/time_order.h"
#include "sim/world/reach.h"

namespace portolan::sim {

namespace {

class Lateness : public HitSink {
 public:
  void OnHit(const Hit& hit) override { Note(hit.unix_ns, std::max(hit.unix_ns, hit.end_ns)); }
  void OnOpen(int64_t unix_ns, uint64_t, std::string_view, uint16_t) override { Note(unix_ns, unix_ns); }
  void OnClose(int64_t unix_ns, uint64_t) override { Note(unix_ns, unix_ns); }
  void OnDns(int64_t unix_ns, std::string_view, std::string_view, int) override { Note(unix_ns, unix_ns); }

  int64_t most_ns() const { return most_ns_; }

 private:
  void Note(int64_t unix_ns, int64_t newest_ns) {
    most_ns_ = std::max(most_ns_, newest_ns_ - unix_ns);
    newest_ns_ = std::max(newest_ns_, newest_ns);
  }
  int64_t newest_ns_ = 0;
  int64_t most_ns_ = 0;
};

}  // namespace

Result<WorldParams> ParamsOfHeader(const HitLogHeader& header) {
  WorldParams params;
  params.profile = header.profile;
  std::string_view rest = header.parameters;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    RETURN_IF_ERROR(SetParam(params, word.substr(0, equals), word.substr(equals + 1)));
  }
  return params;
}

Status ReadHits(HitLogReader& reader, HitSink& sink) {
  for (;;) {
    ASSIGN_OR_RETURN(const HitEvent* event, reader.Next());
    if (event == nullptr) return {};
    switch (event->kind) {
      case HitEventKind::kHit:
        sink.OnHit(event->hit);
        break;
      case HitEventKind::kOpen:
        sink.OnOpen(event->unix_ns, event->connection, event->address, event->port);
        break;
      case HitEventKind::kClose:
        sink.OnClose(event->unix_ns, event->connection);
        break;
      case HitEventKind::kDns:
        sink.OnDns(event->unix_ns, event->name, event->type, event->rcode);
        break;
    }
  }
}

Result<int64_t> WindowOf(Env& env, const std::string& path) {
  ASSIGN_OR_RETURN(const auto reader, HitLogReader::Open(env, path));
  Lateness lateness;
  RETURN_IF_ERROR(ReadHits(*reader, lateness));
  return lateness.most_ns();
}

void CoverReachable(const World& world, const Rules& rules, bool follow_nofollow, Judge& judge,
                    const std::function<void(const std::string& url)>& each_missed) {
  const Reach reach = Enumerate(world, {.agent = rules.agent,
                                        .unix_ns = judge.account().first_ns,
                                        .obey_robots = rules.robots,
                                        .follow_nofollow = follow_nofollow});
  judge.Cover(
      [&](const std::function<void(uint64_t)>& each) {
        for (uint64_t page = 0; page < world.TotalPages(); ++page) {
          if (reach.Has(page)) each(page);
        }
      },
      each_missed);
}

Result<Account> JudgeHitLog(Env& env, const std::string& path, const World& world, const Rules& rules) {
  ASSIGN_OR_RETURN(const int64_t window_ns, WindowOf(env, path));
  ASSIGN_OR_RETURN(const auto reader, HitLogReader::Open(env, path));
  Judge judge(world, {.rules = rules});
  TimeOrder order(judge, window_ns);
  RETURN_IF_ERROR(ReadHits(*reader, order));
  order.Flush();
  if (order.late() > 0) return Fail(ErrorCode::kCorrupt, fmt::format("{}: events out of order", path));
  CoverReachable(world, rules, false, judge);
  return judge.Finish(order.last_ns());
}

}  // namespace portolan::sim
