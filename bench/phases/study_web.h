// StudyWeb: the pages, hosts, domains, addresses and links of a simulated web as hashes, for studies of how a crawl is
// divided among nodes.
//
// The hashes are those of the crawl (HashKey, HostKey, PayLevelDomains). Links are those of every k-th page.
// Memory: 16 bytes per page, 32 per link, about 60 per host.

#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sim/world/world.h"

namespace portolan::bench {

struct StudyHost {
  uint64_t key = 0;
  uint64_t domain = 0;    // hash of the pay-level domain
  uint32_t name_sum = 0;  // of the characters of the name, KSpider's hash
  uint32_t address = 0;   // 0: it has none
  uint64_t first = 0;     // its pages are first … first + pages - 1
  uint64_t pages = 0;
};

struct StudyPage {
  uint64_t key = 0;
  uint32_t url_sum = 0;  // of the characters of the URL
};

struct StudyLink {
  uint64_t from = 0;  // pages
  uint64_t to = 0;
  uint64_t from_domain = 0;
  uint64_t to_domain = 0;
};

struct StudyWeb {
  std::vector<StudyHost> hosts;
  std::vector<StudyPage> pages;
  std::vector<StudyLink> links;

  static Result<StudyWeb> Read(const sim::World& world, uint64_t link_every);
};

}  // namespace portolan::bench
