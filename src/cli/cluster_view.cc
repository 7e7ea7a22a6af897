#include "cli/cluster_view.h"

#include <fmt/core.h>

#include <map>
#include <set>

#include "cli/shard_status.h"
#include "cluster/lease_record.h"
#include "cluster/link_stream.h"
#include "cluster/node_record.h"

namespace portolan {
namespace {

// The value of a key; empty: it has none.
Result<std::string> ValueOf(ClusterStore& store, const std::string& key) {
  const auto entry = store.Read(key);
  if (entry) return entry->value;
  if (entry.error().code() == ErrorCode::kNotFound) return std::string();
  return std::unexpected(entry.error());
}

std::string StateOf(const ClusterView::Shard& shard, const std::optional<PlaceRecord>& place) {
  if (place && place->done) return "done";
  if (!place) return shard.holder.empty() ? "not begun" : "beginning";
  const bool moves = !place->to.empty() && place->to != place->node;
  if (shard.holder.empty()) return moves ? "stopped, for " + place->to : "waits for " + place->node;
  if (moves) return "moves to " + place->to;
  return shard.status.value("state", "beginning");
}

}  // namespace

Result<ClusterView> ViewCluster(OpenCluster& cluster) {
  ClusterView view;
  ClusterStore& store = *cluster.store;
  std::map<std::string, uint32_t> holds;
  std::set<std::string> names;
  for (uint32_t i = 0; i < cluster.settings.shards; ++i) {
    ClusterView::Shard shard{.shard = i};
    ASSIGN_OR_RETURN(const std::string place_text, ValueOf(store, PlaceKey(i)));
    const std::optional<PlaceRecord> place = DecodePlace(place_text);
    ASSIGN_OR_RETURN(const std::string lease_text, ValueOf(store, fmt::format("shard.{}", i)));
    const std::optional<LeaseRecord> lease = DecodeLease(lease_text);
    ASSIGN_OR_RETURN(const std::string status_text, ValueOf(store, StatusKey(i)));
    shard.status = DecodeShardStatus(status_text);
    if (place) shard.node = place->node;
    if (lease) shard.epoch = lease->epoch;
    if (lease && lease->holder != 0) shard.holder = lease->node;
    if (!shard.holder.empty()) ++holds[shard.holder];
    for (const std::string& name : {shard.node, shard.holder, place ? place->to : std::string()}) {
      if (!name.empty()) names.insert(name);
    }
    shard.state = StateOf(shard, place);
    shard.pages = shard.status.value("pages", uint64_t{0});
    shard.pages_per_s = shard.holder.empty() ? 0.0 : shard.status.value("pages_per_s", 0.0);
    shard.waiting = shard.status.value("waiting", uint64_t{0});
    shard.unanswered = shard.status.value("unanswered", uint64_t{0});
    shard.trouble = shard.status.value("trouble", std::string());
    const auto stream = ReadLinkStream(*cluster.connection, store.cluster(), i);
    if (stream) {
      shard.stream_bytes = stream->bytes;
      if (stream->last >= stream->first && stream->last > 0) shard.lag = stream->last - stream->first;
    } else if (stream.error().code() == ErrorCode::kNotFound) {
      shard.trouble = "its stream is gone: links on their way to it are lost";
    } else {
      return std::unexpected(stream.error());
    }
    view.done += shard.state == "done" ? 1 : 0;
    view.pages += shard.pages;
    view.pages_per_s += shard.pages_per_s;
    view.wire_bytes += shard.status.value("wire_bytes", uint64_t{0});
    view.urls_seen += shard.status.value("urls_seen", uint64_t{0});
    view.waiting += shard.waiting;
    view.at_gate += shard.status.value("at_gate", uint64_t{0});
    view.unanswered += shard.unanswered;
    view.in_flight += shard.holder.empty() ? 0 : shard.status.value("in_flight", uint64_t{0});
    view.shards.push_back(std::move(shard));
  }
  const bool nobody = holds.empty();
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(const std::string text, ValueOf(store, NodeKey(name)));
    const auto record = DecodeNode(text);
    ClusterView::Node node{.name = name};
    node.holds = holds[name];
    if (record) {
      node.alive = record->process != 0;
      node.capacity = record->capacity;
      node.machine = record->machine;
      node.version = record->version;
    }
    view.nodes.push_back(std::move(node));
  }
  ASSIGN_OR_RETURN(const std::string control_text, ValueOf(store, std::string(kControlKey)));
  const ControlRecord control = DecodeControl(control_text).value_or(ControlRecord{});
  switch (control.order) {
    case ClusterOrder::kRun:
      view.state = nobody ? "no node works for it" : "running";
      break;
    case ClusterOrder::kPause:
      view.state = "paused";
      break;
    case ClusterOrder::kStop:
      view.state = nobody ? "stopped" : "stopping";
      break;
    case ClusterOrder::kEnd:
      view.state = "a limit is reached: " + control.limit;
      break;
  }
  if (view.done == view.shards.size()) view.state = "done";
  return view;
}

nlohmann::ordered_json ClusterViewToJson(const ClusterView& view, const std::string& name) {
  nlohmann::ordered_json json = {{"cluster", name},
                                 {"state", view.state},
                                 {"pages", view.pages},
                                 {"pages_per_s", view.pages_per_s},
                                 {"wire_bytes", view.wire_bytes},
                                 {"urls_seen", view.urls_seen},
                                 {"waiting", view.waiting},
                                 {"at_gate", view.at_gate},
                                 {"unanswered", view.unanswered},
                                 {"in_flight", view.in_flight},
                                 {"shards_done", view.done}};
  json["nodes"] = nlohmann::ordered_json::array();
  for (const ClusterView::Node& node : view.nodes) {
    json["nodes"].push_back({{"name", node.name},
                             {"alive", node.alive},
                             {"capacity", node.capacity},
                             {"holds", node.holds},
                             {"machine", node.machine},
                             {"version", node.version}});
  }
  json["shards"] = nlohmann::ordered_json::array();
  for (const ClusterView::Shard& shard : view.shards) {
    json["shards"].push_back({{"shard", shard.shard},
                              {"node", shard.node},
                              {"holder", shard.holder},
                              {"state", shard.state},
                              {"epoch", shard.epoch},
                              {"pages", shard.pages},
                              {"pages_per_s", shard.pages_per_s},
                              {"waiting", shard.waiting},
                              {"unanswered", shard.unanswered},
                              {"stream_bytes", shard.stream_bytes},
                              {"lag", shard.lag},
                              {"trouble", shard.trouble},
                              {"status", shard.status}});
  }
  return json;
}

}  // namespace portolan
