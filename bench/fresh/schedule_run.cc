#include "bench/fresh/schedule_run.h"

#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "base/hash.h"
#include "flow/url_record.h"
#include "io/rng.h"

namespace portolan::bench {
namespace {

constexpr double kDay = 86'400;
constexpr int64_t kBegin = 1'780'000'000;
constexpr double kTickDays = 900 / kDay;
constexpr double kFirstCrawlDays = 1;

double CpuSeconds() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<double>(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         static_cast<double>(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

uint64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t all = 0;
  uint64_t resident = 0;
  statm >> all >> resident;
  return resident * 4096;
}

int64_t UnixAt(double day) { return kBegin + static_cast<int64_t>(day * kDay); }

std::string RecordOf(const std::string& url) {
  UrlRecord record;
  record.url = url;
  return EncodeUrlRecord(record);
}

class ScheduleRun {
 public:
  ScheduleRun(Env& env, ChangingPages& web, const ScheduleRunOptions& options)
      : env_(env), web_(web), options_(options), lies_(77), first_pages_(web.pages()) {}

  Result<ScheduleRunResult> Run() {
    RETURN_IF_ERROR(OpenStore());
    double next_commit = 1;
    bool reopened = false;
    for (uint64_t tick = 0; day_ < options_.days; ++tick) {
      day_ = static_cast<double>(tick) * kTickDays;
      const double began = CpuSeconds();
      schedule_->Advance(UnixAt(day_) * 1'000'000'000);
      schedule_->SetCapacity(options_.visits_per_day);
      RETURN_IF_ERROR(FirstVisits());
      for (bool more = true; more;) {
        ASSIGN_OR_RETURN(more, schedule_->Work(4096));
      }
      allowed_ = std::min(allowed_ + options_.visits_per_day * kTickDays, 2 * options_.visits_per_day * kTickDays);
      if (first_ >= first_pages_ && allowed_ >= 1) {
        ASSIGN_OR_RETURN(const std::vector<DueVisit> due, schedule_->Take(static_cast<size_t>(allowed_)));
        cpu_ += CpuSeconds() - began;
        for (const DueVisit& visit : due) RETURN_IF_ERROR(Visit(visit));
      } else {
        cpu_ += CpuSeconds() - began;
      }
      if (options_.checkpoints && day_ >= next_commit) {
        next_commit += 1;
        RETURN_IF_ERROR(manifest_->Commit(schedule_->Checkpointables()));
        if (!reopened && day_ >= 20) {
          reopened = true;
          RETURN_IF_ERROR(OpenStore());
        }
      }
    }
    return Result_();
  }

 private:
  Status OpenStore() {
    schedule_.reset();
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env_, options_.dir));
    manifest_.emplace(std::move(manifest));
    RefreshOptions options;
    options.max_out = size_t{1} << 20;
    ASSIGN_OR_RETURN(schedule_, RefreshSchedule::Open(env_, *manifest_, options));
    return {};
  }

  // The first crawl, in the order of the pages, spread over a day.
  Status FirstVisits() {
    const double part = std::min(day_ / kFirstCrawlDays, 1.0);
    const auto until = static_cast<uint64_t>(part * static_cast<double>(first_pages_));
    for (; first_ < until; ++first_) {
      static_cast<void>(web_.Visit(first_, day_));
      RETURN_IF_ERROR(AddPage(first_));
      if (!(options_.sitemaps || options_.lastmod != Lastmod::kNone)) continue;
      if (first_ % ChangingPages::kPagesPerHost != 0) continue;
      const std::string url = RecordOf(web_.SitemapUrl(web_.HostOf(first_)));
      RETURN_IF_ERROR(schedule_->Add({.record = url, .importance = 0, .hub = true}));
    }
    return {};
  }

  Status AddPage(uint64_t page) {
    const std::string record = RecordOf(web_.Url(page));
    return schedule_->Add({.record = record, .importance = static_cast<float>(web_.importance(page))});
  }

  Status Visit(const DueVisit& due) {
    allowed_ -= 1;
    const bool counts = day_ >= options_.learn_days;
    if (counts) ++visits_;
    const std::optional<UrlRecord> record = DecodeUrlRecord(due.record);
    const std::string_view url = record->url;
    VisitReport report;
    if (url.ends_with("/sitemap.xml")) {
      if (counts) ++sitemap_visits_;
      ASSIGN_OR_RETURN(report.news, ReadSitemap(Number(url, url.find("//h") + 3)));
    } else {
      const bool changed = web_.Visit(Number(url, url.rfind('/') + 1), day_);
      report.end = changed ? VisitEnd::kChanged : VisitEnd::kSame;
    }
    const double began = CpuSeconds();
    ASSIGN_OR_RETURN(const bool stays, schedule_->Report(due.key, report));
    static_cast<void>(stays);
    cpu_ += CpuSeconds() - began;
    ++all_visits_;
    return {};
  }

  static uint64_t Number(std::string_view url, size_t at) {
    uint64_t number = 0;
    std::from_chars(url.data() + at, url.data() + url.size(), number);
    return number;
  }

  Result<double> ReadSitemap(uint64_t host) {
    double news = 0;
    if (options_.lastmod != Lastmod::kNone) {
      for (const uint64_t page : web_.PagesOf(host)) {
        double day = web_.LastChange(page, day_);
        if (options_.lastmod == Lastmod::kLying) {
          if (host % 3 == 0 || (host % 3 == 1 && lies_.Chance(0.5))) {
            day = day_;
          } else {
            day = -1000;
          }
        }
        news += schedule_->Signal(web_.Url(page), UnixAt(day));
      }
    }
    for (const ChangingPages::Birth& birth : web_.Births(host, day_)) {
      news += 1;
      allowed_ -= 1;
      if (day_ >= options_.learn_days) ++visits_;
      if (birth.day >= options_.learn_days) delays_.push_back(day_ - birth.day);
      RETURN_IF_ERROR(AddPage(birth.page));
    }
    return news;
  }

  Result<ScheduleRunResult> Result_() {
    ScheduleRunResult result;
    result.freshness = web_.MeanFreshness();
    result.expected = schedule_->threshold().expected_freshness();
    result.threshold = schedule_->threshold().value();
    result.counts = schedule_->counts();
    const double counted = options_.days - options_.learn_days;
    result.visits_per_day = static_cast<double>(visits_) / counted;
    result.sitemap_share = visits_ > 0 ? static_cast<double>(sitemap_visits_) / static_cast<double>(visits_) : 0;
    if (options_.sitemaps) {  // what is not found yet has waited at least this long
      for (uint64_t host = 0; host < web_.hosts(); ++host) {
        for (const ChangingPages::Birth& birth : web_.Births(host, options_.days)) {
          if (birth.day >= options_.learn_days) delays_.push_back(options_.days - birth.day);
        }
      }
    }
    result.born = delays_.size();
    if (!delays_.empty()) {
      std::ranges::nth_element(delays_, delays_.begin() + static_cast<ptrdiff_t>(delays_.size() / 2));
      result.discovery_days = delays_[delays_.size() / 2];
    }
    result.cpu_us_per_visit = all_visits_ > 0 ? cpu_ * 1e6 / static_cast<double>(all_visits_) : 0;
    return result;
  }

  Env& env_;
  ChangingPages& web_;
  const ScheduleRunOptions options_;
  Rng lies_;
  const uint64_t first_pages_;
  std::optional<Manifest> manifest_;
  std::unique_ptr<RefreshSchedule> schedule_;
  double day_ = 0;
  double allowed_ = 0;
  uint64_t first_ = 0;
  uint64_t visits_ = 0;
  uint64_t all_visits_ = 0;
  uint64_t sitemap_visits_ = 0;
  double cpu_ = 0;
  std::vector<double> delays_;
};

}  // namespace

Result<ScheduleRunResult> RunSchedule(Env& env, ChangingPages& web, const ScheduleRunOptions& options) {
  std::filesystem::remove_all(options.dir);
  return ScheduleRun(env, web, options).Run();
}

Result<ScheduleCost> MeasureSchedule(Env& env, const std::string& dir, uint64_t pages, double days) {
  std::filesystem::remove_all(dir);
  constexpr double kVisits = 0.1;  // per page and day
  // Rates and outcomes are hashes of the page: the web itself takes 4 bytes per page.
  std::vector<float> visited(pages);
  Rng rng(5);
  malloc_trim(0);  // what earlier parts freed must not hide what this one takes
  std::ranges::fill(visited, 0.0F);
  const uint64_t before = ResidentBytes();
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, dir));
  RefreshOptions options;
  options.max_out = size_t{1} << 16;
  ASSIGN_OR_RETURN(auto schedule, RefreshSchedule::Open(env, manifest, options));
  const auto rate = [](uint64_t page) {
    const double spread = static_cast<double>(Mix64(page * 3 + 1) >> 11) * 0x1p-53;
    return 0.5 * std::exp(4 * (spread - 0.5));
  };
  ScheduleCost cost;
  cost.pages = pages;
  schedule->SetCapacity(kVisits * static_cast<double>(pages));
  double began = CpuSeconds();
  std::string url;
  for (uint64_t i = 0; i < pages; ++i) {
    const double day = static_cast<double>(i) / static_cast<double>(pages);
    if (i % 1024 == 0) {
      schedule->Advance(UnixAt(day) * 1'000'000'000);
      ASSIGN_OR_RETURN(const bool more, schedule->Work(4096));
      static_cast<void>(more);
    }
    visited[i] = static_cast<float>(day);
    url = fmt::format("http://h{}.test/d{}/{}.html", i / 100, i % 10, i);
    const float importance = static_cast<float>(std::exp(2 * (static_cast<double>(Mix64(i) >> 11) * 0x1p-53 - 0.5)));
    RETURN_IF_ERROR(schedule->Add({.record = RecordOf(url), .importance = importance}));
  }
  cost.add_us = (CpuSeconds() - began) * 1e6 / static_cast<double>(pages);
  began = CpuSeconds();
  double allowed = 0;
  const uint64_t poured = schedule->poured();
  for (double day = 1; day < 1 + days; day += kTickDays) {
    schedule->Advance(UnixAt(day) * 1'000'000'000);
    for (bool more = true; more;) {
      ASSIGN_OR_RETURN(more, schedule->Work(4096));
    }
    allowed += kVisits * static_cast<double>(pages) * kTickDays;
    // All at once, so that the schedule sees how much of the capacity stays idle, at any size.
    if (allowed >= 1) {
      ASSIGN_OR_RETURN(const auto due, schedule->Take(static_cast<size_t>(allowed)));
      for (const DueVisit& visit : due) {
        const std::string_view found = DecodeUrlRecord(visit.record)->url;
        uint64_t page = 0;
        std::from_chars(found.data() + found.rfind('/') + 1, found.data() + found.size(), page);
        const bool changed = rng.Chance(-std::expm1(-rate(page) * (day - visited[page])));
        visited[page] = static_cast<float>(day);
        ASSIGN_OR_RETURN(const bool stays,
                         schedule->Report(visit.key, {.end = changed ? VisitEnd::kChanged : VisitEnd::kSame}));
        static_cast<void>(stays);
        ++cost.visits;
      }
      allowed -= static_cast<double>(due.size());
    }
    allowed = std::min(allowed, 2 * kVisits * static_cast<double>(pages) * kTickDays);
  }
  cost.visit_us = cost.visits > 0 ? (CpuSeconds() - began) * 1e6 / static_cast<double>(cost.visits) : 0;
  cost.poured_per_visit =
      cost.visits > 0 ? static_cast<double>(schedule->poured() - poured) / static_cast<double>(cost.visits) : 0;
  const uint64_t after = ResidentBytes();
  cost.memory_bytes = after > before ? after - before : 0;
  RETURN_IF_ERROR(manifest.Commit(schedule->Checkpointables()));
  for (const auto& file : std::filesystem::directory_iterator(dir)) cost.disk_bytes += file.file_size();
  return cost;
}

}  // namespace portolan::bench
