#include "flow/output_records.h"

#include <array>
#include <cstring>
#include <utility>

namespace portolan {

std::string LinkFlagNames(uint8_t flags) {
  constexpr std::array<std::pair<uint8_t, std::string_view>, 6> kNames = {{{kLinkRedirect, "redirect"},
                                                                           {kLinkNofollow, "nofollow"},
                                                                           {kLinkEmbed, "embed"},
                                                                           {kLinkCanonical, "canonical"},
                                                                           {kLinkSitemap, "sitemap"},
                                                                           {kLinkSitemapFile, "sitemap-file"}}};
  std::string names;
  const auto add = [&](std::string_view name) {
    if (!names.empty()) names += ' ';
    names += name;
  };
  for (const auto& [flag, name] : kNames) {
    if ((flags & flag) != 0) add(name);
  }
  if ((flags & kLinkRequisite) != 0) add((flags & kLinkEmbed) != 0 ? "requisite" : "frame");
  return names;
}

void AppendLinkPage(std::string& out, std::string_view source, int64_t unix_ms) {
  const auto time = static_cast<uint64_t>(unix_ms);
  out += static_cast<char>(kLinkPage);
  AppendVarint(out, source.size() + 1 + VarintLength(time));
  out += source;
  out += '\0';
  AppendVarint(out, time);
}

void AppendLink(std::string& out, std::string_view target, uint8_t flags, std::string_view anchor) {
  // A page has many: one call of the string for each of them.
  const size_t begin = out.size();
  out.resize_and_overwrite(begin + 1 + kMaxVarint + target.size() + 1 + anchor.size(), [&](char* data,
                                                                                           size_t /*room*/) {
    auto* const length = reinterpret_cast<uint8_t*>(data + begin);
    length[0] = flags;
    char* to = reinterpret_cast<char*>(PutVarint(length + 1, target.size() + (anchor.empty() ? 0 : 1 + anchor.size())));
    std::memcpy(to, target.data(), target.size());
    to += target.size();
    if (!anchor.empty()) {
      *to++ = '\0';
      std::memcpy(to, anchor.data(), anchor.size());
      to += anchor.size();
    }
    return static_cast<size_t>(to - data);
  });
}

std::optional<LinkRecord> ParseLinkRecord(std::string_view record, uint8_t tag) {
  LinkRecord link{.tag = tag};
  const size_t end = record.find('\0');
  link.url = record.substr(0, end);
  if (link.url.empty()) return std::nullopt;
  if (tag == kLinkPage) {
    if (end == std::string_view::npos) return std::nullopt;
    ByteReader time(record.substr(end + 1));
    uint64_t unix_ms = 0;
    if (!time.ReadVarint(unix_ms) || !time.done()) return std::nullopt;
    link.unix_ms = static_cast<int64_t>(unix_ms);
  } else if ((tag & kLinkPage) != 0) {
    return std::nullopt;
  } else if (end != std::string_view::npos) {
    link.anchor = record.substr(end + 1);
  }
  return link;
}

// The text is most of a record, so it is copied once: its neighbours are made first.
void AppendTextRecord(std::string& out, const TextRecord& page) {
  std::string before;
  before.reserve(page.url.size() + page.title.size() + page.description.size() + page.headings.size() + 128);
  AppendString(before, page.url);
  AppendVarint(before, static_cast<uint64_t>(page.unix_ms));
  AppendString(before, page.title);
  AppendString(before, page.description);
  AppendString(before, page.published);
  AppendString(before, page.language);
  AppendVarint(before, page.confidence);
  AppendString(before, page.headings);
  AppendVarint(before, page.text.size());
  std::string after;
  after.reserve(page.main.size() + page.type.size() + 32);
  AppendString(after, page.main);
  AppendVarint(after, page.robots);
  AppendString(after, page.type);
  AppendLe(after, page.similarity);

  const size_t size = before.size() + page.text.size() + after.size();
  out.reserve(out.size() + 1 + kMaxVarint + size);
  out += '\0';  // the tag
  AppendVarint(out, size);
  out += before;
  out += page.text;
  out += after;
}

std::optional<TextRecord> ParseTextRecord(std::string_view record) {
  TextRecord page;
  uint64_t unix_ms = 0;
  ByteReader reader(record);
  uint64_t confidence = 0;
  uint64_t robots = 0;
  if (!reader.ReadString(page.url) || !reader.ReadVarint(unix_ms) || !reader.ReadString(page.title) ||
      !reader.ReadString(page.description) || !reader.ReadString(page.published) || !reader.ReadString(page.language) ||
      !reader.ReadVarint(confidence) || confidence > 100 || !reader.ReadString(page.headings) ||
      !reader.ReadString(page.text) || !reader.ReadString(page.main) || !reader.ReadVarint(robots) ||
      robots > UINT16_MAX || !reader.ReadString(page.type) || !reader.Read(page.similarity) || !reader.done()) {
    return std::nullopt;
  }
  PackedRanges ranges(page.main);
  while (ranges.Next()) {
    if (ranges.begin() + ranges.size() > page.text.size()) return std::nullopt;
  }
  if (!ranges.done()) return std::nullopt;
  page.robots = static_cast<uint16_t>(robots);
  page.confidence = static_cast<uint8_t>(confidence);
  page.unix_ms = static_cast<int64_t>(unix_ms);
  return page;
}

bool PackedRanges::Next() {
  uint64_t gap = 0;
  uint64_t size = 0;
  ByteReader next = reader_;
  constexpr uint64_t kMost = uint64_t{1} << 32;
  if (!next.ReadVarint(gap) || !next.ReadVarint(size) || size == 0 || gap > kMost || size > kMost) return false;
  reader_ = next;
  end_ += gap + size;
  size_ = size;
  return true;
}

void AppendPackedRange(std::string& packed, uint64_t end, uint64_t begin, uint64_t size) {
  AppendVarint(packed, begin - end);
  AppendVarint(packed, size);
}

std::string MainTextOf(const TextRecord& page) {
  std::string text;
  PackedRanges ranges(page.main);
  while (ranges.Next()) {
    if (!text.empty()) text += '\n';
    text += page.text.substr(ranges.begin(), ranges.size());
  }
  return text;
}

std::string_view CutUtf8(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && most - end < 4 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace portolan
