#include "html/entities.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/ascii.h"
#include "base/bytes.h"
#include "html/scan.h"

namespace portolan {
namespace {

using entity_internal::kFirst;
using entity_internal::kNames;
using entity_internal::kRows;
using entity_internal::Row;

constexpr uint32_t kReplacement = 0xfffd;

// Numbers that mean windows-1252 bytes: the standard's table for 0x80 to 0x9f, 0 where the number stays.
constexpr std::array<uint16_t, 32> kC1 = {0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
                                          0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017d, 0,
                                          0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                          0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

bool IsAlnum(char c) { return IsAsciiAlpha(c) || IsAsciiDigit(c); }

int HexValue(char c) {
  if (IsAsciiDigit(c)) return c - '0';
  const char lower = AsciiLower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

uint8_t PutUtf8(char* to, uint32_t code) {
  if (code < 0x80) {
    to[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    to[0] = static_cast<char>(0xc0 | (code >> 6));
    to[1] = static_cast<char>(0x80 | (code & 0x3f));
    return 2;
  }
  if (code < 0x10000) {
    to[0] = static_cast<char>(0xe0 | (code >> 12));
    to[1] = static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    to[2] = static_cast<char>(0x80 | (code & 0x3f));
    return 3;
  }
  to[0] = static_cast<char>(0xf0 | (code >> 18));
  to[1] = static_cast<char>(0x80 | ((code >> 12) & 0x3f));
  to[2] = static_cast<char>(0x80 | ((code >> 6) & 0x3f));
  to[3] = static_cast<char>(0x80 | (code & 0x3f));
  return 4;
}

// "&#…": REQUIRES p[1] is '#'.
Reference ReadNumeric(const char* p, const char* end, bool complete) {
  const char* at = p + 2;
  const bool hex = at < end && (*at | 0x20) == 'x';
  if (hex) ++at;
  const char* digits = at;
  uint32_t code = 0;
  for (; at < end; ++at) {
    const int value = hex ? HexValue(*at) : IsAsciiDigit(*at) ? *at - '0' : -1;
    if (value < 0) break;
    code = std::min<uint32_t>(code * (hex ? 16 : 10) + static_cast<uint32_t>(value), 0x110000);
  }
  if (at == end && !complete) return {};
  Reference found;
  found.consumed = static_cast<size_t>(at - p);
  if (at == digits) return found;  // "&#" or "&#x" and no digit
  if (at < end && *at == ';') ++found.consumed;
  if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) code = kReplacement;
  if (code >= 0x80 && code < 0xa0 && kC1[code - 0x80] != 0) code = kC1[code - 0x80];
  found.length = PutUtf8(found.bytes, code);
  return found;
}

// The references of most pages. With its semicolon a name is whole, so nothing has to be read on.
struct Common {
  uint64_t name;
  uint64_t mask;
  Reference found;
};

constexpr Common MakeCommon(std::string_view name, std::string_view value) {
  Common common{.name = 0, .mask = ~uint64_t{0} >> (64 - 8 * name.size()), .found = {}};
  for (size_t i = 0; i < name.size(); ++i) common.name |= static_cast<uint64_t>(name[i]) << (8 * i);
  common.found.consumed = name.size();
  common.found.length = static_cast<uint8_t>(value.size());
  for (size_t i = 0; i < value.size(); ++i) common.found.bytes[i] = value[i];
  return common;
}
constexpr std::array<Common, 6> kCommon = {MakeCommon("&nbsp;", "\xc2\xa0"), MakeCommon("&amp;", "&"),
                                           MakeCommon("&quot;", "\""),       MakeCommon("&lt;", "<"),
                                           MakeCommon("&gt;", ">"),          MakeCommon("&mdash;", "\xe2\x80\x94")};

}  // namespace

Reference ReadReference(const char* p, const char* end, bool in_attribute, bool complete) {
  const char* at = p + 1;
  if (at == end && !complete) return {};
  if (end - p >= 8) {
    const auto eight = LoadLe<uint64_t>(p);
    for (const Common& common : kCommon) {
      if ((eight & common.mask) == common.name) return common.found;
    }
  }
  if (at < end && *at == '#') return ReadNumeric(p, end, complete);
  Reference found;
  found.consumed = 1;
  if (at == end || !IsAlnum(*at)) return found;

  // The rows that begin with what was read so far are [low, high). The last row that was matched whole is the answer.
  const auto first = static_cast<unsigned char>(*at);
  const Row* low = kRows + kFirst[first];
  const Row* high = kRows + kFirst[first + 1];
  const Row* match = nullptr;
  size_t length = 1;
  for (; low < high; ++length) {
    if (low->name_length == length) match = low++;
    if (low == high) break;
    if (at + length == end) {
      if (!complete) return {};
      break;
    }
    const char next = at[length];
    low = std::partition_point(low, high, [&](const Row& row) { return kNames[row.name + length] < next; });
    high = std::partition_point(low, high, [&](const Row& row) { return kNames[row.name + length] == next; });
  }
  if (match == nullptr) return found;
  const char* after = at + match->name_length;
  if (in_attribute && after[-1] != ';') {
    if (after == end && !complete) return {};
    if (after < end && (*after == '=' || IsAlnum(*after))) return found;
  }
  found.consumed = static_cast<size_t>(after - p);
  found.length = match->value_length;
  std::memcpy(found.bytes, match->value, sizeof found.bytes);
  return found;
}

bool AttributeValueChanges(std::string_view raw) {
  const char* end = raw.data() + raw.size();
  return FindAny<'&', '\r', '\0'>(raw.data(), end) != end;
}

void AppendAttributeValue(std::string& out, std::string_view raw) {
  const char* p = raw.data();
  const char* end = p + raw.size();
  while (p < end) {
    const char* stop = FindAny<'&', '\r', '\0'>(p, end);
    out.append(p, stop);
    if (stop == end) return;
    p = stop + 1;
    if (*stop == '\0') {
      out.append("\xef\xbf\xbd");
    } else if (*stop == '\r') {
      out += '\n';
      if (p < end && *p == '\n') ++p;
    } else {
      const Reference found = ReadReference(stop, end, true, true);
      out.append(found.length != 0 ? found.text() : std::string_view(stop, found.consumed));
      p = stop + found.consumed;
    }
  }
}

}  // namespace portolan
