#include "bench/checkpoint/large_crawl.h"

#include <fmt/core.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "bench/crawl/child.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/process.h"

namespace portolan::bench {
namespace {

constexpr uint64_t kSeedBatch = 100'000;

double SecondsSince(int64_t begin_ns) { return static_cast<double>(Clock::Real().NowNs() - begin_ns) * 1e-9; }

// A body in a process of its own, and what it says.
Result<Child::Json> InChild(const std::function<Result<Child::Json>()>& body) {
  ASSIGN_OR_RETURN(const auto child, Child::Start(-1, [&](const Child::Parent& parent) {
                     parent.say_ready();
                     return body();
                   }));
  ASSIGN_OR_RETURN(ChildEnd end, child->Wait());
  return std::move(end.value);
}

// The crawl's census: every URL that it knows, in one place.
uint64_t Known(const Engine& engine) {
  const Shard::Census census = engine.shard().TakeCensus();
  return census.urls() + census.unanswered;
}

// Seeds [from, to), then crawls until `enough`.
Result<Child::Json> FillHere(const LargeCrawl& crawl, uint64_t from, uint64_t to,
                             const std::function<bool(const CrawlProgress&)>& enough, Report& report) {
  NameThread("shard");
  EngineOptions options = crawl.options;
  options.checkpoint_ns = int64_t{3600} * 1'000'000'000;
  options.show_ns = 100'000'000;
  ASSIGN_OR_RETURN(const auto engine, Engine::Open(Env::Posix(), options));
  const int64_t begin = Clock::Real().NowNs();
  std::vector<std::string> seeds;
  for (uint64_t batch = from; batch < to; batch += kSeedBatch) {
    seeds.clear();
    for (uint64_t i = batch; i < std::min(to, batch + kSeedBatch); ++i) seeds.push_back(crawl.web->UrlOf(i));
    RETURN_IF_ERROR(engine->AddSeeds(seeds));
  }
  report.Line("  {} URLs taken as seeds in {:.1f} s", to - from, SecondsSince(begin));
  double told = 0;
  uint64_t hosts = 0;
  bool stopping = false;
  RETURN_IF_ERROR(engine->Run([&](const CrawlProgress& picture) {
    if (!stopping && enough(picture)) {
      stopping = true;
      hosts = picture.hosts;
      engine->RequestStop();
    }
    if (picture.session_seconds - told < 10) return;
    told = picture.session_seconds;
    report.Line(
        "  {:4.0f} s: {} of {} robots.txt; URLs: {} not looked up, {} at the gate, {} in the frontier; {} hosts",
        picture.session_seconds, picture.counts.robots, crawl.hosts, picture.unanswered, picture.at_gate,
        picture.waiting, picture.hosts);
  }));
  if (!stopping) return Fail(ErrorCode::kIo, "the crawl ended before it was filled");
  return Child::Json{{"known", Known(*engine)}, {"hosts", hosts}};
}

// The engine on a thread of its own; the process ends while it runs.
Result<Child::Json> CrawlHere(const LargeCrawl& crawl, double seconds, double every_s) {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Result<Child::Json>> told;
  const auto tell = [&](Result<Child::Json> value) {
    const std::lock_guard lock(mutex);
    if (!told) told = std::move(value);
    changed.notify_all();
  };
  std::thread([&] {
    NameThread("shard");
    EngineOptions options = crawl.options;
    options.checkpoint_ns = static_cast<int64_t>(every_s * 1e9);
    options.show_ns = 250'000'000;
    auto engine = Engine::Open(Env::Posix(), options);
    if (!engine) return tell(std::unexpected(engine.error()));
    const auto end = (*engine)->Run([&](const CrawlProgress& picture) {
      if (picture.session_seconds < seconds) return;
      tell(Child::Json{{"longest_ms", picture.checkpoint_longest_ms},
                       {"checkpoints", picture.checkpoints},
                       {"fetches", picture.counts.fetches - picture.session_start.fetches},
                       {"rss", PeakResidentBytes()},
                       {"seconds", picture.session_seconds}});
      std::this_thread::sleep_for(std::chrono::seconds(3600));  // the end comes first
    });
    tell(end ? Result<Child::Json>(Fail(ErrorCode::kIo, "the crawl ended before its time"))
             : std::unexpected(end.error()));
  }).detach();
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return told.has_value(); });
  return *std::move(told);
}

Result<Child::Json> ResumeHere(const LargeCrawl& crawl) {
  NameThread("shard");
  const int64_t begin = Clock::Real().NowNs();
  EngineOptions options = crawl.options;
  options.show_ns = 5'000'000;
  ASSIGN_OR_RETURN(const auto engine, Engine::Open(Env::Posix(), options));
  const double open_s = SecondsSince(begin);
  const uint64_t known = Known(*engine);
  double first_s = 0;
  RETURN_IF_ERROR(engine->Run([&](const CrawlProgress& picture) {
    if (first_s > 0 || picture.counts.fetches == picture.session_start.fetches) return;
    first_s = SecondsSince(begin);
    engine->RequestStop();
  }));
  if (Known(*engine) != known) return Fail(ErrorCode::kCorrupt, "URLs were lost between opening and stopping");
  return Child::Json{{"open_s", open_s}, {"first_s", first_s}, {"known", known}};
}

struct NoFetches : FetchPort {
  void Fetch(FetchTask&&) override {}
  void Resolve(ResolveTask&&) override {}
};
struct NoOutputs : OutputPort {
  void Write(PageResult&, FetchLine&&) override {}
};

Result<Child::Json> StopHere(const LargeCrawl& crawl) {
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(Env::Posix(), crawl.options.state_dir));
  WorkerPool merges(1, "merge");
  NoFetches fetches;
  NoOutputs archive;
  const Clock& clock = Clock::Real();
  ASSIGN_OR_RETURN(const auto shard, Shard::Open(Env::Posix(), manifest, merges, {fetches, archive},
                                                 crawl.options.shard, {clock.NowNs(), clock.UnixNs()}));
  const int64_t begin = clock.NowNs();
  RETURN_IF_ERROR(manifest.Commit(shard->Checkpointables()));
  return Child::Json{{"ms", SecondsSince(begin) * 1e3}};
}

}  // namespace

Result<FillFigures> Fill(const LargeCrawl& crawl, Report& report) {
  const int64_t begin = Clock::Real().NowNs();
  const auto all_robots = [&](const CrawlProgress& now) { return now.counts.robots >= crawl.hosts; };
  RETURN_IF_ERROR(InChild([&] { return FillHere(crawl, 0, crawl.hosts, all_robots, report); }));
  const auto all_placed = [&](const CrawlProgress& now) {
    // A few may wait at the gate for longer: a frontier that has enough is not hungry for them.
    return now.unanswered == 0 && now.at_gate <= crawl.urls / 20 && now.hosts >= crawl.hosts - crawl.hosts / 50;
  };
  ASSIGN_OR_RETURN(const Child::Json told,
                   InChild([&] { return FillHere(crawl, crawl.hosts, crawl.urls, all_placed, report); }));
  return FillFigures{told["known"], told["hosts"], SecondsSince(begin)};
}

Result<StopFigures> CrawlAndDie(const LargeCrawl& crawl, double seconds, double every_s) {
  ASSIGN_OR_RETURN(const Child::Json told, InChild([&] { return CrawlHere(crawl, seconds, every_s); }));
  return StopFigures{told["longest_ms"], told["checkpoints"], told["fetches"], told["rss"], told["seconds"]};
}

Result<ResumeFigures> Resume(const LargeCrawl& crawl) {
  ASSIGN_OR_RETURN(const Child::Json told, InChild([&] { return ResumeHere(crawl); }));
  return ResumeFigures{told["open_s"], told["first_s"], told["known"]};
}

Result<WorldStopFigures> StopTheWorld(const LargeCrawl& crawl) {
  ASSIGN_OR_RETURN(const Child::Json told, InChild([&] { return StopHere(crawl); }));
  return WorldStopFigures{told["ms"]};
}

}  // namespace portolan::bench
