#include "cluster/cluster_settings.h"

#include <fmt/core.h>

#include <charconv>
#include <limits>
#include <map>

namespace portolan {
namespace {

constexpr std::string_view kFirstWord = "portolan-cluster ";
constexpr uint32_t kMostShards = 256;

Result<uint64_t> NumberIn(std::string_view text, std::string_view name, uint64_t most, int base = 10) {
  uint64_t value = 0;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error == std::errc() && at == text.data() + text.size() && value <= most) return value;
  return Fail(ErrorCode::kCorrupt, fmt::format("the cluster's settings: {} is '{}'", name, text.substr(0, 40)));
}

}  // namespace

std::string EncodeClusterSettings(const ClusterSettings& settings) {
  const HashKey::Words& key = settings.key.words();
  return fmt::format(
      "{}{}\nshards {}\nnodes {}\nseeds {}\nseeds_from {}\nrules {:016x}\nlease_ms {}\n"
      "key {:016x} {:016x} {:016x} {:016x}\n\n{}",
      kFirstWord, kClusterFormat, settings.shards, settings.nodes, settings.seeds, settings.seeds_from,
      settings.rules_hash, settings.lease_ms, key[0], key[1], key[2], key[3], settings.toml);
}

Result<ClusterSettings> DecodeClusterSettings(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  if (!first.starts_with(kFirstWord)) return Fail(ErrorCode::kCorrupt, "the cluster's settings are of something else");
  if (first.substr(kFirstWord.size()) != std::to_string(kClusterFormat)) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("the cluster was made by another version of portolan: its format is {}, this program knows {}",
                    first.substr(kFirstWord.size(), 20), kClusterFormat));
  }
  std::map<std::string_view, std::string_view> lines;
  size_t at = first.size() + 1;
  bool whole = false;
  while (at < text.size() && !whole) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    whole = line.empty();
    const size_t space = line.find(' ');
    if (!whole && space != std::string_view::npos) lines[line.substr(0, space)] = line.substr(space + 1);
  }
  if (!whole) return Fail(ErrorCode::kCorrupt, "the cluster's settings are cut off");
  ClusterSettings settings;
  settings.toml = at < text.size() ? text.substr(at) : std::string_view();
  settings.seeds_from = lines["seeds_from"];
  ASSIGN_OR_RETURN(const uint64_t shards, NumberIn(lines["shards"], "shards", kMostShards));
  if (shards == 0) return Fail(ErrorCode::kCorrupt, "the cluster's settings: 0 shards");
  settings.shards = static_cast<uint32_t>(shards);
  ASSIGN_OR_RETURN(const uint64_t nodes, NumberIn(lines["nodes"], "nodes", kMostShards));
  settings.nodes = static_cast<uint32_t>(nodes);
  ASSIGN_OR_RETURN(settings.seeds, NumberIn(lines["seeds"], "seeds", std::numeric_limits<uint64_t>::max()));
  ASSIGN_OR_RETURN(settings.rules_hash,
                   NumberIn(lines["rules"], "rules", std::numeric_limits<uint64_t>::max(), /*base=*/16));
  ASSIGN_OR_RETURN(const uint64_t lease, NumberIn(lines["lease_ms"], "lease_ms", kLongestLeaseMs));
  if (lease < kShortestLeaseMs) return Fail(ErrorCode::kCorrupt, "the cluster's settings: lease_ms is too small");
  settings.lease_ms = static_cast<int64_t>(lease);
  HashKey::Words words{};
  std::string_view key = lines["key"];
  for (uint64_t& word : words) {
    const std::string_view one = key.substr(0, key.find(' '));
    ASSIGN_OR_RETURN(word, NumberIn(one, "key", std::numeric_limits<uint64_t>::max(), /*base=*/16));
    key.remove_prefix(std::min(key.size(), one.size() + 1));
  }
  settings.key = HashKey(words);
  return settings;
}

// A quarter to renew, and looks that last 1.4 times as long as the belief.
void SetLeaseTimes(int64_t lease_ms, LeaseOptions& options) {
  options.hold_ns = lease_ms * kMillisecond;
  options.renew_ns = options.hold_ns / 4;
  options.look_ns = options.hold_ns / 5;
  options.unchanged = 8;
}

}  // namespace portolan
