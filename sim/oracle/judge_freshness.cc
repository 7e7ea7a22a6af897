// What the crawl has of the web at a moment: which copies are up to date, and how soon new pages were found.

#include <algorithm>

#include "sim/oracle/judge.h"

namespace portolan::sim {
namespace {

constexpr int64_t kAgeStepNs = 1'000'000;  // ages are right to within this

}  // namespace

void Judge::NoteCopy(const Hit& hit, const Place& place, uint64_t page) {
  if (hit.method != "GET") return;
  const int64_t had_ns = pages_.had_ns(page);
  if (hit.status == 304) {
    // One that is not true renews nothing.
    if (world_.AnswersUnasked(place) && !hit.conditional) return;
    if (had_ns >= 0 && world_.Version(place, had_ns) != world_.Version(place, hit.unix_ns)) return;
  } else if (hit.status == 404 || hit.status == 410) {
    // Who had a page and asks after its death knows about it.
    if (had_ns < 0 || world_.StateOf(place, hit.unix_ns) != PageState::kDead) return;
  } else if (hit.status != 200) {
    return;
  }
  pages_.SetHad(page, hit.unix_ns);
  if (had_ns >= 0) return;
  const int64_t birth_ns = world_.BirthNs(place);
  if (birth_ns > account_.first_ns)
    delays_s_.push_back(static_cast<uint32_t>((hit.unix_ns - birth_ns) / 1'000'000'000));
}

Freshness Judge::MeasureFreshness(int64_t unix_ns) const {
  Freshness result{.unix_ns = unix_ns};
  double age_s = 0;
  for (uint64_t page = 0; page < pages_.size(); ++page) {
    const int64_t had_ns = pages_.had_ns(page);
    if (had_ns < 0 || had_ns > unix_ns) continue;
    const Place place = world_.FromDense(page);
    const int64_t death_ns = world_.DeathNs(place);
    if (death_ns <= had_ns) continue;  // known to be dead: no copy any more
    ++result.copies;
    const double weight = world_.Importance(place);
    result.weight += weight;
    const uint64_t version = world_.Version(place, had_ns);
    if (death_ns > unix_ns && world_.Version(place, unix_ns) == version) {
      ++result.fresh;
      result.fresh_weight += weight;
      continue;
    }
    // Versions only rise, so the first change that the copy lacks is found by halving.
    int64_t same_ns = had_ns;
    int64_t other_ns = std::min(unix_ns, death_ns);
    while (other_ns - same_ns > kAgeStepNs) {
      const int64_t middle_ns = same_ns + (other_ns - same_ns) / 2;
      (world_.Version(place, middle_ns) == version ? same_ns : other_ns) = middle_ns;
    }
    age_s += static_cast<double>(unix_ns - other_ns) * 1e-9;
  }
  if (result.copies > 0) result.mean_age_s = age_s / static_cast<double>(result.copies);
  return result;
}

Discovery Judge::MeasureDiscovery(int64_t unix_ns) const {
  Discovery result;
  std::vector<uint32_t> delays = delays_s_;
  result.found = delays.size();
  result.born = result.found;
  for (uint64_t page = 0; page < pages_.size() && world_.params().born > 0; ++page) {
    if (pages_.had_ns(page) >= 0) continue;
    const Place place = world_.FromDense(page);
    const int64_t birth_ns = world_.BirthNs(place);
    if (birth_ns <= account_.first_ns || birth_ns > unix_ns) continue;
    if (world_.KindOf(place) != PageKind::kNormal || world_.AnswersUnasked(place)) continue;
    if (!world_.DnsWorks(place.host) || !world_.TlsWorks(place.host)) continue;
    if (!world_.RobotsReachable(place.host, unix_ns) || !world_.Allowed(place, options_.rules.agent, unix_ns)) continue;
    ++result.born;
  }
  // Those that were not found are later than all that were.
  const auto at = [&](double share) {
    const auto index = static_cast<size_t>(share * static_cast<double>(result.born));
    if (index >= delays.size()) return -1.0;
    std::ranges::nth_element(delays, delays.begin() + static_cast<std::ptrdiff_t>(index));
    return static_cast<double>(delays[index]);
  };
  result.median_s = at(0.5);
  result.p90_s = at(0.9);
  return result;
}

Account Judge::Finish(int64_t unix_ns) {
  Account result = account_;
  result.freshness.push_back(MeasureFreshness(unix_ns));
  result.discovery = MeasureDiscovery(unix_ns);
  return result;
}

}  // namespace portolan::sim
