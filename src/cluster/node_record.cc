#include "cluster/node_record.h"

#include <fmt/core.h>

#include <charconv>
#include <map>

namespace portolan {
namespace {

constexpr std::string_view kVersion = "v1 ";

// The words after the version, as NAME=VALUE. Nothing if it is something else.
std::optional<std::map<std::string_view, std::string_view>> WordsOf(std::string_view text) {
  if (text.size() > kMaxRecord || !text.starts_with(kVersion)) return std::nullopt;
  text.remove_prefix(kVersion.size());
  std::map<std::string_view, std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    words[word.substr(0, equals)] = word.substr(equals + 1);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return words;
}

bool ReadNumber(const std::map<std::string_view, std::string_view>& words, std::string_view name, int base,
                uint64_t& value) {
  const auto found = words.find(name);
  if (found == words.end()) return false;
  const std::string_view text = found->second;
  const auto [at, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && at == text.data() + text.size();
}

std::string_view WordOr(const std::map<std::string_view, std::string_view>& words, std::string_view name) {
  const auto found = words.find(name);
  return found == words.end() || found->second == "-" ? std::string_view() : found->second;
}

// A value is one word.
std::string Word(std::string_view text) {
  std::string word;
  for (const char c : text.substr(0, 64)) word += c <= ' ' || c == '=' || c >= 0x7f ? '_' : c;
  return word.empty() ? "-" : word;
}

constexpr std::string_view kOrders[] = {"run", "pause", "stop", "end"};

}  // namespace

std::string EncodeNode(const NodeRecord& record) {
  return fmt::format("{}process={:016x} beat={} version={} capacity={} machine={}", kVersion, record.process,
                     record.beat, Word(record.version), record.capacity, Word(record.machine));
}

std::optional<NodeRecord> DecodeNode(std::string_view text) {
  const auto words = WordsOf(text);
  NodeRecord record;
  uint64_t capacity = 0;
  if (!words || !ReadNumber(*words, "process", 16, record.process) || !ReadNumber(*words, "beat", 10, record.beat) ||
      !ReadNumber(*words, "capacity", 10, capacity) || capacity > UINT32_MAX) {
    return std::nullopt;
  }
  record.capacity = static_cast<uint32_t>(capacity);
  record.version = WordOr(*words, "version");
  record.machine = WordOr(*words, "machine");
  return record;
}

std::string EncodePlace(const PlaceRecord& record) {
  return fmt::format("{}node={} files={:016x} to={} state={}", kVersion, Word(record.node), record.files,
                     Word(record.to), record.done ? "done" : "begun");
}

std::optional<PlaceRecord> DecodePlace(std::string_view text) {
  const auto words = WordsOf(text);
  PlaceRecord record;
  if (!words || !ReadNumber(*words, "files", 16, record.files)) return std::nullopt;
  record.node = WordOr(*words, "node");
  record.to = WordOr(*words, "to");
  record.done = WordOr(*words, "state") == "done";
  if (record.node.empty()) return std::nullopt;
  return record;
}

std::string EncodeCopy(const CopyRecord& record) {
  return fmt::format("{}node={} files={:016x} sequence={} beat={}", kVersion, Word(record.node), record.files,
                     record.sequence, record.beat);
}

std::optional<CopyRecord> DecodeCopy(std::string_view text) {
  const auto words = WordsOf(text);
  CopyRecord record;
  if (!words || !ReadNumber(*words, "files", 16, record.files) ||
      !ReadNumber(*words, "sequence", 10, record.sequence) || !ReadNumber(*words, "beat", 10, record.beat)) {
    return std::nullopt;
  }
  record.node = WordOr(*words, "node");
  return record;
}

std::string EncodeControl(const ControlRecord& record) {
  return fmt::format("{}{}{}", kVersion, kOrders[static_cast<size_t>(record.order)],
                     record.limit.empty() ? "" : " " + Word(record.limit));
}

std::optional<ControlRecord> DecodeControl(std::string_view text) {
  if (text.size() > kMaxRecord || !text.starts_with(kVersion)) return std::nullopt;
  text.remove_prefix(kVersion.size());
  const std::string_view word = text.substr(0, text.find(' '));
  for (size_t i = 0; i < std::size(kOrders); ++i) {
    if (word != kOrders[i]) continue;
    ControlRecord record{.order = static_cast<ClusterOrder>(i), .limit = {}};
    if (word.size() < text.size()) record.limit = text.substr(word.size() + 1);
    return record;
  }
  return std::nullopt;
}

std::string NodeKey(std::string_view node) { return fmt::format("node.{}", node); }
std::string PlaceKey(uint32_t shard) { return fmt::format("place.{}", shard); }
std::string LeaseKey(uint32_t shard) { return fmt::format("shard.{}", shard); }
std::string CopyKey(uint32_t shard) { return fmt::format("copy.{}", shard); }
std::string StatusKey(uint32_t shard) { return fmt::format("status.{}", shard); }

}  // namespace portolan
