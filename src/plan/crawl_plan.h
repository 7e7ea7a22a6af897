// A forecast: what a crawl of N pages costs on a given machine, by the models, before anything is fetched.
//
// Used by `portolan plan`. Four methods to check URLs are compared: Portolan's DRUM, the paper's DRUM (2008),
// Mercator-B and Polybot. Pure functions.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/crawl_rate_models.h"
#include "plan/portolan_drum_model.h"

namespace portolan {

struct PlanInput {
  double pages = 0;                // N: pages to crawl
  double links_per_page = 59;      // l
  double url_bytes = 110;          // b
  double unique = 1.0 / 9;         // p
  double seen = 0;                 // U: URLs known when the crawl starts
  double ram = 0x1p32;             // R: for URL checks and their cache
  double disk = 4e12;              // all of the crawl's disk
  double bucket_disk_share = 0.1;  // of it that a DRUM round may fill: D
  double disk_bytes_per_s = 500e6;
  double check_share = 0.15;        // of the disk's speed that URL checks may take, as on IRLbot's server
  double page_bytes = 26e3;         // a page as it arrives, headers included
  double archive_compression = 4;   // page over its bytes in the archive
  double rate = 0;                  // pages/s to plan the duration for; 0: the sustainable rate
  double host_delay_s = 40;         // τ_h
  double cpu_pages_per_s = 4000;    // S_max: what the CPU could crawl without checking URLs
  double cache_links_per_s = 10e6;  // μ: lookups in a CLOCK cache of 8-byte hashes on an idle core
  PortolanDrumParams drum;          // unique, seen and url_bytes are taken from above
};

struct MethodPlan {
  std::string_view name;
  bool feasible = true;
  std::string why_not;      // when not feasible
  double alpha = 0;         // over the whole crawl, without a cache
  double buckets = 0;       // 0: has none
  double bucket_bytes = 0;  // keys of one bucket, or of the one buffer
  double round_links = 0;   // links that one pass over URLseen checks
  double rounds = 0;
  double disk_pages_per_s = 0;  // Theorem 3
  CacheChoice cache;            // equation (24): c_opt and the rate with it
  double cached_alpha = 0;      // of the links that pass that cache
  double miss = 1;              // π at c_opt
  double seen_bytes = 0;        // URLseen at the end
  double round_disk_bytes = 0;  // bucket and text files
};

struct CrawlPlan {
  double links = 0;                    // n
  double unique_links = 0;             // U + pn
  std::vector<MethodPlan> methods;     // Portolan's first
  double archive_pages_per_s = 0;      // what the rest of the disk's speed can write of pages
  double sustainable_pages_per_s = 0;  // Portolan's DRUM with its cache, CPU and archive considered
  double queue_bytes = 0;              // URLs found and not yet crawled, at the end, compressed as in the text log
  double archive_bytes = 0;
  double disk_bytes = 0;  // everything, with Portolan's DRUM
  bool fits = true;       // disk_bytes <= disk
  double rate = 0;        // the rate that duration_s is for
  double duration_s = 0;
};

// kInvalidArgument names the quantity that is invalid, as a flag, and the possible values.
Result<CrawlPlan> MakePlan(const PlanInput& input);

}  // namespace portolan
