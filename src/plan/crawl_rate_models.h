// How many pages per second a disk and a cache can handle: Theorems 3, 4 and 5 of the IRLbot thesis.
//
// Theorem 3 turns disk traffic into a rate, Theorem 4 the speed of a cache of recent URLs, and Theorem 5 joins both: a
// cache saves the disk the links it has just seen, but takes RAM from the check itself and is less effective the faster
// the crawl is, because more pages then come between two visits to one site.
//
// All functions are pure; rates are pages per second.

#pragma once

#include <functional>

namespace portolan {

// Theorem 3: S_disk = W / (α b l), for a disk that gives W bytes per second to URL checks.
double DiskRate(double disk_bytes_per_s, double alpha, double url_bytes, double links_per_page);

// Theorem 4 with φ(S) = S/S_max, equation (21). `cache_links_per_s` is μ(c): what the cache checks on an idle server.
// An infinite μ gives S_max.
double CacheRate(double cache_links_per_s, double links_per_page, double cpu_pages_per_s);

// Theorem 4 for any φ, non-decreasing, that says which part of the CPU a crawl at S pages/s takes: the largest S with
// l·S <= μ(1 - φ(S)). REQUIRES: φ(upper) >= 1 or upper is beyond every rate of interest.
double CacheRate(double cache_links_per_s, double links_per_page, const std::function<double(double)>& cpu_share,
                 double upper_pages_per_s);

// π(c, S): the share of links that a cache of c bytes lets through at S pages per second, as the steps of chapter V.
struct CacheMissSteps {
  double entry_bytes = 20;     // γ
  double host_delay_s = 40;    // τ_h: seconds between two visits to one site
  double links_per_page = 59;  // l
  // In units of γ τ_h l S, the bytes of links found between two visits to one site. The thesis says 4 for the second
  // step; the figures of its Table VII come out with 2 (docs/models.md).
  double second_step = 4;
  double third_step = 10;

  double operator()(double cache_bytes, double pages_per_s) const;
};

// A URL check behind a cache. α takes (links that reach the check, RAM left to it).
struct HybridModel {
  double disk_bytes_per_s = 0;  // W
  double url_bytes = 110;       // b
  double links_per_page = 59;   // l
  double links = 0;             // n: links of the whole crawl
  double ram = 0;               // R: check and cache together
  std::function<double(double links, double ram)> alpha;
  std::function<double(double cache_bytes, double pages_per_s)> miss;  // non-decreasing in pages_per_s
};

// Theorem 5: S_hybrid(c), the largest S with S·α(π(c,S)·n, R-c)·π(c,S) <= W/(b·l). REQUIRES: 0 <= c < R.
double HybridRate(const HybridModel& model, double cache_bytes);

struct CacheChoice {
  double cache_bytes = 0;
  double pages_per_s = 0;
};

// Equation (24): the c out of 0, step, 2·step … <= largest for which min(S_cache(c), S_hybrid(c)) is largest; the
// smallest such c. `cache_rate` is S_cache(c); S_cache(0) should be what the CPU allows without a cache.
// REQUIRES: step > 0, largest < R.
CacheChoice OptimalCache(const HybridModel& model, const std::function<double(double)>& cache_rate, double largest,
                         double step);

}  // namespace portolan
