#include "bench/seen/link_stream.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/hash.h"

namespace portolan::bench {
namespace {

constexpr size_t kMaxLinks = 128;
// What a site's first page links to is new, as nothing of the site is known.
constexpr uint32_t kFirstLinks = 30;
// Pages that only other sites link to have numbers that the site's own links never reach, shuffled below 2^28.
constexpr uint64_t kFirstForeign = 1 << 20;

// 0 … bound-1 with the logarithm uniform: the first few come as often as all the rest. REQUIRES: bound > 0.
uint64_t LogUniform(uint64_t random, uint64_t bound) {
  const auto bits = static_cast<uint32_t>(std::bit_width(bound));
  const uint32_t length = static_cast<uint32_t>(random & 0xffff) * bits >> 16;
  const uint64_t value = (uint64_t{1} << length) - 1 + (random >> 16 & ((uint64_t{1} << length) - 1));
  return value < bound ? value : value % bound;
}

}  // namespace

LinkStream::LinkStream(const LinkStreamOptions& options)
    : options_(options), rng_(options.seed), sites_(std::max(options.sites_at_once, 1U)) {
  buffer_ = std::make_unique<char[]>((kMaxLinks + 1) * kMaxUrl);
  at_ = buffer_.get();
  page_.reserve(kMaxLinks);
  for (Site& site : sites_) Open(site);
}

void LinkStream::Open(Site& site) {
  // From 8 to 400 pages of a site are crawled, most sites with few: 106 on average.
  const uint64_t random = rng_.Next();
  site = {.host = next_host_++,
          .known = 0,
          .pages_left = static_cast<uint16_t>(8 + ((random & 0xff) * (random >> 8 & 0xff) * 392 >> 16)),
          .navigation = 0};
}

void LinkStream::Emit(const char* end) {
  const std::string_view text(at_, static_cast<size_t>(end - at_));
  page_.push_back({Hash64(text), text});
  at_ += text.size();
  ++links_;
}

void LinkStream::EmitNavigation(const Site& site, uint32_t index) {
  std::memcpy(at_, own_host_, own_host_length_);
  Emit(text_.Navigation(site.host, index, at_ + own_host_length_));
  unique_ += index >= site.navigation ? 1 : 0;
}

void LinkStream::EmitLocal(Site& site, bool fresh) {
  uint64_t number;
  if (fresh || site.known < kFirstLinks) {
    number = site.known++;
    ++unique_;
  } else {
    const uint64_t random = rng_.Next();
    if ((random >> 62) == 0) {  // one in four is popular
      number = LogUniform(random, site.known);
    } else {  // the others are lists that go back in time, from the newest or from where the last stopped
      if ((random >> 58 & 15) == 0) list_at_ = LogUniform(random, site.known);
      list_at_ += 1 + (random >> 56 & 3);
      number = site.known - 1 - list_at_ % site.known;
    }
  }
  std::memcpy(at_, own_host_, own_host_length_);
  Emit(text_.Content(site.host, number, at_ + own_host_length_));
}

void LinkStream::EmitForeign() {
  const uint64_t random = rng_.Next();
  if ((random & 7) == 0) {  // the front page of a site that has been visited
    const uint64_t host = LogUniform(random >> 3, std::max<uint64_t>(next_host_ - sites_.size(), 1));
    if (next_host_ > sites_.size()) return Emit(text_.Navigation(host, 0, text_.Host(host, at_)));
  }
  uint64_t number;
  if (foreign_ == 0 || (random >> 3 & 15) == 0) {
    number = foreign_++;
    ++unique_;
  } else {
    number = LogUniform(random >> 8, foreign_);
    if ((random >> 62) == 0) number = foreign_ - 1 - number;  // three in four popular, one recent
  }
  const uint64_t hash = Mix64(number + 0x632be59bd9b4e019);
  const uint64_t host = LogUniform(hash, uint64_t{1} << 20);
  Emit(text_.Content(host, kFirstForeign + ((number * 0x9e3779b1) & (kFirstForeign * 256 - 1)), text_.Host(host, at_)));
}

std::span<const Link> LinkStream::NextPage() {
  page_.clear();
  at_ = buffer_.get();
  list_at_ = 0;
  Site& site = sites_[rng_.Below(sites_.size())];
  own_host_length_ = static_cast<size_t>(text_.Host(site.host, own_host_) - own_host_);

  const uint64_t random = rng_.Next();
  const auto total =
      static_cast<uint32_t>(20 + (random & 0xffff) * 40 / 0x10000 + (random >> 16 & 0xffff) * 40 / 0x10000);
  const uint32_t navigation = std::min(16 + static_cast<uint32_t>(Mix64(site.host) >> 32) % 20, total / 2);
  const uint32_t header = navigation * 2 / 3;
  const uint32_t body = total - navigation;
  // New links that this page should bring, debts of earlier pages included, over the links that may be new.
  const double debt = options_.unique * static_cast<double>(links_ + total) - static_cast<double>(unique_);
  const double chance = debt / (0.6 * body);
  const auto threshold = static_cast<uint64_t>(std::clamp(chance, 0.0, 1.0) * 0x1p32);

  for (uint32_t i = 0; i < header; ++i) EmitNavigation(site, i);
  for (uint32_t i = 0; i < body; ++i) {
    const uint64_t choice = rng_.Next();
    if ((choice >> 5 & 15) == 0 && i != 0) {
      page_.push_back(page_.back());
      ++links_;
    } else if ((choice & 7) < 3) {
      EmitForeign();
    } else {
      EmitLocal(site, (choice >> 32) < threshold);
    }
  }
  for (uint32_t i = header; i < navigation; ++i) EmitNavigation(site, i);
  ++pages_;
  site.navigation = std::max(site.navigation, static_cast<uint16_t>(navigation));
  if (--site.pages_left == 0) Open(site);
  return page_;
}

}  // namespace portolan::bench
