#include "report/log_entry.h"

#include <nlohmann/json.hpp>

#include "warc/warc_time.h"

namespace portolan {
namespace {

void TakeText(nlohmann::json& line, const char* key, std::string& to) {
  to.clear();
  const auto at = line.find(key);
  if (at != line.end() && at->is_string()) to = std::move(at->get_ref<std::string&>());
}

uint64_t NumberOf(const nlohmann::json& line, const char* key) {
  const auto at = line.find(key);
  return at != line.end() && at->is_number_unsigned() ? at->get<uint64_t>() : 0;
}

bool IsTrue(const nlohmann::json& line, const char* key) {
  const auto at = line.find(key);
  return at != line.end() && at->is_boolean() && at->get<bool>();
}

}  // namespace

bool ParseLogEntry(std::string_view text, LogEntry& entry) {
  auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return false;
  TakeText(line, "url", entry.url);
  if (entry.url.empty()) return false;
  TakeText(line, "kind", entry.kind);
  TakeText(line, "outcome", entry.outcome);
  TakeText(line, "mime", entry.mime);
  TakeText(line, "server", entry.server);
  TakeText(line, "ip", entry.ip);
  TakeText(line, "http", entry.http);
  TakeText(line, "via", entry.via);
  TakeText(line, "redirect", entry.redirect);
  TakeText(line, "title", entry.title);
  TakeText(line, "fingerprint", entry.fingerprint);
  TakeText(line, "visit", entry.visit);
  std::string time;
  TakeText(line, "time", time);
  const auto parsed = ParseWarcDate(time);
  entry.unix_s = parsed ? parsed->seconds : 0;
  const uint64_t status = NumberOf(line, "status");
  entry.status = status < 1000 ? static_cast<int>(status) : 0;
  entry.bytes = NumberOf(line, "bytes");
  entry.decoded = NumberOf(line, "decoded");
  entry.ms = NumberOf(line, "ms");
  entry.depth = NumberOf(line, "depth");
  entry.links = NumberOf(line, "links");
  entry.fetched = line.contains("ms");
  entry.again = IsTrue(line, "again");
  entry.gone = IsTrue(line, "gone");
  entry.duplicate = line.contains("duplicate_time");
  return true;
}

}  // namespace portolan
