#include "bench/phases/study_web.h"

#include <numeric>
#include <string>
#include <string_view>

#include "base/hash_key.h"
#include "crawl/pay_level.h"
#include "flow/url_record.h"

namespace portolan::bench {
namespace {

constexpr int64_t kNow = 1'780'000'000'000'000'000;

uint32_t SumOf(std::string_view text) {
  return std::accumulate(text.begin(), text.end(), uint32_t{0},
                         [](uint32_t sum, char c) { return sum + static_cast<unsigned char>(c); });
}

}  // namespace

Result<StudyWeb> StudyWeb::Read(const sim::World& world, uint64_t link_every) {
  const HashKey key;
  ASSIGN_OR_RETURN(PayLevelDomains domains, PayLevelDomains::Create(key));
  StudyWeb web;
  web.pages.reserve(world.TotalPages());
  sim::HostId host;
  for (uint64_t number = 0; number < world.TotalPages(); ++number) {
    const sim::Place place = world.FromDense(number);
    const std::string url = world.UrlOf(place);
    const uint64_t host_key = HostKey(url, key);
    const uint64_t domain = domains.Key(url, host_key);
    if (number == 0 || !(place.host == host)) {
      host = place.host;
      const std::string name = world.HostName(host);
      const sim::DnsAnswer dns = world.Resolve(name);
      web.hosts.push_back({.key = host_key,
                           .domain = domain,
                           .name_sum = SumOf(name),
                           .address = dns.v4.empty() ? 0 : dns.v4.front(),
                           .first = number});
    }
    ++web.hosts.back().pages;
    web.pages.push_back({key.Hash(url), SumOf(url)});
    if (number % link_every != 0) continue;
    world.Links(place, kNow, [&](const sim::OutLink& link) {
      web.links.push_back(
          {web.pages.back().key, key.Hash(link.url), domain, domains.Key(link.url, HostKey(link.url, key))});
    });
  }
  return web;
}

}  // namespace portolan::bench
