#include "cluster/lease_record.h"

#include <fmt/core.h>

#include <charconv>

#include "cluster/names.h"

namespace portolan {
namespace {

// "key=" and then a number, up to a space.
bool ReadNumber(std::string_view& text, std::string_view key, int base, uint64_t& value) {
  if (!text.starts_with(key)) return false;
  text.remove_prefix(key.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

std::string EncodeLease(const LeaseRecord& record) {
  return fmt::format("v1 epoch={} holder={:016x} beat={} node={}", record.epoch, record.holder, record.beat,
                     record.holder == 0 ? "-" : record.node);
}

std::optional<LeaseRecord> DecodeLease(std::string_view text) {
  LeaseRecord record;
  if (!ReadNumber(text, "v1 epoch=", 10, record.epoch) || !ReadNumber(text, " holder=", 16, record.holder) ||
      !ReadNumber(text, " beat=", 10, record.beat) || !text.starts_with(" node=")) {
    return std::nullopt;
  }
  text.remove_prefix(6);
  if (record.epoch == 0 || record.epoch >= uint64_t{1} << 62) return std::nullopt;
  if (record.holder == 0) return text == "-" ? std::optional(record) : std::nullopt;
  if (!IsClusterName(text)) return std::nullopt;
  record.node = text;
  return record;
}

}  // namespace portolan
