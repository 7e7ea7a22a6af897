// Character references: "&amp;", "&#x2014;", "&notit;" and what they stand for.
//
// HTML standard, 13.2.5.72 to 13.2.5.80. The rule in an attribute differs from that in text in one point: a name
// without its semicolon is not a reference where a letter, a digit or '=' follows ("?a=b&copy=1" is a query string).

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace portolan {

struct Reference {
  // Bytes of the input that belong to it, from the '&' on. 0: the input ends before that can be told.
  size_t consumed = 0;
  // What they become, at most 8 bytes. With length 0 they stand for themselves: not a reference.
  uint8_t length = 0;
  char bytes[8] = {};

  std::string_view text() const { return {bytes, length}; }
};

// The reference at p. REQUIRES: p < end and *p is '&'. With `complete` nothing follows `end`: consumed is never 0.
Reference ReadReference(const char* p, const char* end, bool in_attribute, bool complete);

// Appends an attribute's value as the standard reads it: references decoded, CR LF and CR as LF, NUL as U+FFFD.
void AppendAttributeValue(std::string& out, std::string_view raw);

// Whether AppendAttributeValue would change anything.
bool AttributeValueChanges(std::string_view raw);

namespace entity_internal {

struct Row {
  uint16_t name;  // offset in kNames
  uint8_t name_length;
  uint8_t value_length;
  uint8_t value[8];
};

inline constexpr size_t kRowCount = 2231;
extern const char kNames[];
extern const Row kRows[kRowCount];  // sorted by name
extern const uint16_t kFirst[129];  // the first row whose name begins with this byte or a later one

}  // namespace entity_internal
}  // namespace portolan
