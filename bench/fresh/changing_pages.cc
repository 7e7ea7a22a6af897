#include "bench/fresh/changing_pages.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace portolan::bench {

double ChangingPages::Normal() {
  return std::sqrt(-2 * std::log(1 - rng_.Uniform())) * std::cos(2 * std::numbers::pi * rng_.Uniform());
}

double ChangingPages::Exponential(double rate) { return -std::log(1 - rng_.Uniform()) / rate; }

ChangingPages::ChangingPages(const ChangingPagesOptions& options)
    : options_(options), rng_(options.seed), hosts_((options.pages + kPagesPerHost - 1) / kPagesPerHost) {
  host_.resize(hosts_);
  by_host_.resize(hosts_);
  directory_effect_.resize(hosts_ * kDirectories);
  double births = 0;
  for (Host& host : host_) {
    host.effect = options.host_sigma * Normal();
    host.births_per_day = std::exp(Normal());
    births += host.births_per_day;
  }
  for (Host& host : host_) host.births_per_day *= options.births_per_day / births;
  for (double& effect : directory_effect_) effect = options.directory_sigma * Normal();
  pages_.reserve(options.pages);
  for (uint64_t i = 0; i < options.pages; ++i) AddPage(i / kPagesPerHost, i % kDirectories, 0);
  first_pages_ = pages_.size();
}

void ChangingPages::AddPage(uint64_t host, uint64_t directory, double day) {
  Page page;
  page.rate = static_cast<float>(std::exp(host_[host].effect + directory_effect_[host * kDirectories + directory] +
                                          options_.page_sigma * Normal()) /
                                 options_.median_days);
  page.importance = static_cast<float>(std::exp(options_.importance_sigma * Normal()));
  page.host = static_cast<uint32_t>(host);
  page.directory = static_cast<uint32_t>(directory);
  page.visited = day;
  page.known_to = day;
  page.next_change = day + Exponential(page.rate);
  page.last_change = day - Exponential(page.rate);
  by_host_[host].push_back(pages_.size());
  pages_.push_back(page);
}

std::string ChangingPages::Url(uint64_t page) const {
  return fmt::format("http://h{}.test/d{}/{}.html", pages_[page].host, pages_[page].directory, page);
}

std::string ChangingPages::SitemapUrl(uint64_t host) const { return fmt::format("http://h{}.test/sitemap.xml", host); }

void ChangingPages::CountFresh(Page& page, double to) const {
  const double from = std::max(page.visited, options_.window_from);
  const double until = std::min({to, page.next_change, options_.window_to});
  if (until > from) page.fresh += until - from;
}

bool ChangingPages::Visit(uint64_t number, double day) {
  LastChange(number, day);
  Page& page = pages_[number];
  CountFresh(page, day);
  const bool changed = page.next_change <= day;
  page.visited = day;
  page.next_change = day + Exponential(page.rate);
  return changed;
}

double ChangingPages::LastChange(uint64_t number, double day) {
  Page& page = pages_[number];
  if (day > page.known_to) {
    const double back = day - Exponential(page.rate);
    if (page.next_change > page.known_to) {  // it is not known yet whether there were changes after that one
      if (page.next_change <= day) page.last_change = std::max(page.next_change, back);
    } else if (back > page.known_to) {
      page.last_change = back;
    }
    page.known_to = day;
  }
  return page.last_change;
}

std::vector<ChangingPages::Birth> ChangingPages::Births(uint64_t number, double day) {
  std::vector<Birth> births;
  Host& host = host_[number];
  if (host.births_per_day <= 0) return births;
  for (double at = host.asked + Exponential(host.births_per_day); at < day; at += Exponential(host.births_per_day)) {
    births.push_back({.page = pages_.size(), .day = at});
    AddPage(number, rng_.Below(kDirectories), day);
  }
  host.asked = day;
  return births;
}

double ChangingPages::MeanFreshness() {
  double fresh = 0;
  double all = 0;
  for (uint64_t i = 0; i < first_pages_; ++i) {
    CountFresh(pages_[i], options_.window_to);
    pages_[i].visited = options_.window_to;
    fresh += pages_[i].importance * pages_[i].fresh;
    all += pages_[i].importance * (options_.window_to - options_.window_from);
  }
  return fresh / all;
}

}  // namespace portolan::bench
