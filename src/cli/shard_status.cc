#include "cli/shard_status.h"

namespace portolan {

std::string EncodeShardStatus(const ShardStatus& status) {
  const CrawlProgress& progress = status.progress;
  const double session = progress.session_seconds;
  const uint64_t pages = progress.counts.pages() - progress.session_start.pages();
  nlohmann::ordered_json json = {{"shard", status.shard},
                                 {"node", status.node},
                                 {"epoch", status.epoch},
                                 {"unix_s", status.unix_s},
                                 {"state", progress.state},
                                 {"pages", progress.counts.pages()},
                                 {"pages_per_s", session > 0 ? static_cast<double>(pages) / session : 0.0},
                                 {"wire_bytes", progress.counts.wire_bytes},
                                 {"fetches", progress.counts.fetches},
                                 {"retries", progress.counts.retries},
                                 {"robots_denied", progress.counts.denied},
                                 {"urls_seen", progress.urls_seen},
                                 {"waiting", progress.waiting},
                                 {"at_gate", progress.at_gate},
                                 {"unanswered", progress.unanswered},
                                 {"in_flight", progress.in_flight},
                                 {"checkpoints", progress.checkpoints},
                                 {"phases", PhasesToJson(progress.phases)}};
  if (const auto& counters = status.counters) {
    json["links_sent"] = counters->messages_sent;
    json["links_taken"] = counters->messages_taken;
    json["batches_sent"] = counters->batches_sent;
    json["batches_taken"] = counters->batches_taken;
    json["bytes_sent"] = counters->bytes_sent;
    json["duplicates"] = counters->duplicates;
    json["old_epochs"] = counters->old_epochs;
    json["spill_bytes"] = counters->spill_bytes;
    json["raises"] = counters->raises;
    json["address_notices_sent"] = counters->notices_sent;
    json["address_notices_taken"] = counters->notices_taken;
  }
  json["trouble"] = status.trouble;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

nlohmann::ordered_json DecodeShardStatus(const std::string& text) {
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, nullptr, false);
  return json.is_object() ? json : nlohmann::ordered_json::object();
}

}  // namespace portolan
