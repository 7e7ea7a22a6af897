#include "sim/server/world_site.h"

#include <memory>
#include <utility>

#include "base/hash.h"

namespace portolan::sim {
namespace {

constexpr size_t kEntryBytes = 256;  // list and map nodes, strings' own sizes

size_t BytesOf(const Answer& answer, std::string_view key) {
  size_t bytes = kEntryBytes + answer.body.size() + key.size();
  for (const auto& [name, value] : answer.headers) bytes += 64 + name.size() + value.size();
  return bytes;
}

}  // namespace

SharedAnswer WorldSite::RespondShared(const Request& request) const {
  if (shard_bytes_ == 0 || request.method != "GET" || !request.if_none_match.empty() ||
      !request.if_modified_since.empty()) {
    return {world_.Respond(request), nullptr};
  }
  const Place place = world_.Find(request.host, request.path_and_query);
  if (place.place_class != PlaceClass::kPage || world_.KindOf(place) != PageKind::kNormal) {
    return {world_.Respond(request), nullptr};
  }
  // What is said about a page may change with each answer.
  if (world_.SaysAnew(place)) return {world_.Respond(request), nullptr};
  const uint64_t version = world_.BytesVersion(place, request.unix_ns) +
                           (static_cast<uint64_t>(world_.StateOf(place, request.unix_ns)) << 62);
  thread_local std::string key;
  key.assign(request.tls ? "s" : "p");
  key += request.host;
  key += '\n';
  key += request.path_and_query;
  key += '\n';
  key += request.accept_encoding;
  Shard& shard = shards_[Hash64(key) % kShards];
  {
    const std::lock_guard lock(shard.mutex);
    const auto found = shard.by_key.find(key);
    if (found != shard.by_key.end() && found->second->version == version) {
      shard.entries.splice(shard.entries.begin(), shard.entries, found->second);
      return found->second->answer;
    }
  }
  Answer answer = world_.Respond(request);
  const size_t bytes = BytesOf(answer, key);
  if (bytes > shard_bytes_ / 4 || answer.fault != WireFault::kNone) return {std::move(answer), nullptr};
  answer.body.shrink_to_fit();
  SharedAnswer shared = {{}, std::make_shared<const std::string>(std::move(answer.body))};
  answer.body.clear();
  shared.answer = std::move(answer);
  const std::lock_guard lock(shard.mutex);
  const auto old = shard.by_key.find(key);
  if (old != shard.by_key.end()) {
    const auto entry = old->second;
    shard.bytes -= entry->bytes;
    shard.by_key.erase(old);
    shard.entries.erase(entry);
  }
  while (!shard.entries.empty() && shard.bytes + bytes > shard_bytes_) {
    shard.bytes -= shard.entries.back().bytes;
    shard.by_key.erase(shard.entries.back().key);
    shard.entries.pop_back();
  }
  shard.entries.push_front({key, version, shared, bytes});
  shard.by_key.emplace(shard.entries.front().key, shard.entries.begin());
  shard.bytes += bytes;
  return shared;
}

size_t WorldSite::cached_bytes() const {
  size_t bytes = 0;
  for (const Shard& shard : shards_) {
    const std::lock_guard lock(shard.mutex);
    bytes += shard.bytes;
  }
  return bytes;
}

}  // namespace portolan::sim
