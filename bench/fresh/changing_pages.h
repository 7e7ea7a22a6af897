// ChangingPages: a web as a benchmark of freshness needs it: pages that change, in virtual time, and the truth about
// when a copy of them was fresh.
//
// Each page changes as a Poisson process. Its rate is lognormal, with parts that its host, its directory and itself
// add to the logarithm; its importance is lognormal, too, and independent of the rate. A host has kPagesPerHost pages
// in kDirectories directories. New pages are born on hosts and found on the host's sitemap.
//
// Changes are drawn as they are needed, without memory of more than the last ones, so a page costs 60 bytes.
// Thread: one owner.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/rng.h"

namespace portolan::bench {

struct ChangingPagesOptions {
  uint64_t pages = 100'000;
  double median_days = 2;   // between changes of the median page
  double host_sigma = 0.9;  // of the logarithm of the rate
  double directory_sigma = 0.6;
  double page_sigma = 0.9;
  double importance_sigma = 1;
  double births_per_day = 0;  // in the whole web
  double window_from = 0;     // freshness is measured from here …
  double window_to = 0;       // … to here
  uint64_t seed = 1;
};

class ChangingPages {
 public:
  static constexpr uint64_t kPagesPerHost = 100;
  static constexpr uint64_t kDirectories = 10;

  explicit ChangingPages(const ChangingPagesOptions& options);

  uint64_t pages() const { return pages_.size(); }
  uint64_t hosts() const { return hosts_; }
  double rate(uint64_t page) const { return pages_[page].rate; }
  double importance(uint64_t page) const { return pages_[page].importance; }
  std::string Url(uint64_t page) const;
  std::string SitemapUrl(uint64_t host) const;
  uint64_t HostOf(uint64_t page) const { return pages_[page].host; }
  const std::vector<uint64_t>& PagesOf(uint64_t host) const { return by_host_[host]; }

  // A visit at `day`: has the page changed since the last one?
  bool Visit(uint64_t page, double day);
  // When the page changed last, as it is known on `day`; days are not earlier than the last ones asked for.
  double LastChange(uint64_t page, double day);
  // Pages born on the host since it was last asked for; they are new pages from now on. Their times of birth.
  struct Birth {
    uint64_t page = 0;
    double day = 0;
  };
  std::vector<Birth> Births(uint64_t host, double day);

  // Importance-weighted mean freshness within the window, of the first pages (not those that were born), once all of it
  // has passed.
  double MeanFreshness();

 private:
  struct Page {
    float rate = 0;
    float importance = 0;
    uint32_t host = 0;
    uint32_t directory = 0;
    double visited = 0;      // day
    double next_change = 0;  // the first after the visit
    double last_change = 0;  // the last that is known up to …
    double known_to = 0;     // … here
    double fresh = 0;        // days of the window in which the copy was fresh
  };
  struct Host {
    double effect = 0;
    double births_per_day = 0;
    double asked = 0;
  };
  double Normal();
  double Exponential(double rate);
  void AddPage(uint64_t host, uint64_t directory, double day);
  void CountFresh(Page& page, double to) const;

  const ChangingPagesOptions options_;
  Rng rng_;
  uint64_t hosts_ = 0;
  uint64_t first_pages_ = 0;
  std::vector<Page> pages_;
  std::vector<Host> host_;
  std::vector<double> directory_effect_;
  std::vector<std::vector<uint64_t>> by_host_;
};

}  // namespace portolan::bench
