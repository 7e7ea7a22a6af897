#include "fetch/testing/fetch_fixture.h"

#include <chrono>
#include <utility>

#include "base/check.h"
#include "flow/url_record.h"

namespace portolan {

Fetcher::Fetcher(FetchOptions options, bool allow_loopback) {
  options.dns.allow_private = allow_loopback;
  auto loops = FetchLoops::Create(options, *this);
  CHECK(loops.has_value(), "no fetch loops");
  loops_ = *std::move(loops);
}

uint64_t Fetcher::Send(const std::string& url) {
  FetchTask task;
  task.url = url;
  task.address = *Address::Parse("127.0.0.1");
  task.host = HostKey(url, HashKey::Known());
  return Send(std::move(task));
}

uint64_t Fetcher::Send(FetchTask task) {
  task.id = ++last_id_;
  loops_->Fetch(std::move(task));
  return last_id_;
}

FetchResponse Fetcher::Wait(uint64_t id) {
  std::unique_lock lock(mutex_);
  CHECK(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return responses_.contains(id); }), "no answer");
  return std::move(responses_.extract(id).mapped());
}

void Fetcher::WaitForCount(size_t count) {
  std::unique_lock lock(mutex_);
  CHECK(changed_.wait_for(lock, std::chrono::minutes(2), [&] { return count_ >= count; }), "too few answers");
}

size_t Fetcher::count() {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::vector<FetchResponse> Fetcher::TakeAll() {
  const std::lock_guard lock(mutex_);
  std::vector<FetchResponse> all;
  for (auto& [id, response] : std::exchange(responses_, {})) all.push_back(std::move(response));
  return all;
}

size_t Fetcher::loop_of(uint64_t id) {
  const std::lock_guard lock(mutex_);
  return loop_of_.at(id);
}

void Fetcher::OnResponse(FetchResponse&& response, size_t loop) {
  response.lease.Release();
  const std::lock_guard lock(mutex_);
  const uint64_t id = response.task.id;
  CHECK(!responses_.contains(id), "answered twice");
  loop_of_[id] = loop;
  responses_.emplace(id, std::move(response));
  ++count_;
  changed_.notify_all();
}

void Fetcher::OnResolved(Resolution&& resolution) {
  const std::lock_guard lock(mutex_);
  resolved_ = std::move(resolution);
  changed_.notify_all();
}

Resolution Fetcher::Resolve(const std::string& name) {
  loops_->Resolve({.host = HostKey("http://" + name + "/", HashKey::Known()), .name = name});
  std::unique_lock lock(mutex_);
  CHECK(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return resolved_.has_value(); }), "no answer");
  return *std::exchange(resolved_, std::nullopt);
}

FetchOptions QuickOptions() {
  FetchOptions options;
  options.limits.connect_ns = 2 * kSecond;
  options.limits.first_byte_ns = 300 * kMillisecond;
  options.limits.total_ns = 1500 * kMillisecond;
  options.limits.lowest_speed = 0;
  return options;
}

}  // namespace portolan
