#include "warc/fields.h"

#include <algorithm>

#include "base/ascii.h"

namespace portolan {
namespace {

// RFC 2616's separators and control characters may not occur in a name.
bool IsName(std::string_view name) {
  if (name.empty()) return false;
  return std::ranges::all_of(name, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f && std::string_view("()<>@,;:\\\"/[]?={}").find(c) == std::string_view::npos;
  });
}

}  // namespace

size_t WithoutReturns(std::string_view& line) {
  size_t returns = 0;
  for (; returns < kMaxReturns && line.ends_with('\r'); ++returns) line.remove_suffix(1);
  return returns;
}

void FieldList::Clear() {
  text_.clear();
  entries_.clear();
}

void FieldList::Add(std::string_view name, std::string_view value) {
  Entry entry{};
  entry.name = static_cast<uint32_t>(text_.size());
  entry.name_length = static_cast<uint32_t>(name.size());
  text_.append(name);
  entry.value = static_cast<uint32_t>(text_.size());
  entry.value_length = static_cast<uint32_t>(value.size());
  text_.append(value);
  entries_.push_back(entry);
}

size_t FieldList::Parse(std::string_view text, FieldFaults* faults) {
  FieldFaults ignored;
  FieldFaults& counts = faults != nullptr ? *faults : ignored;
  size_t at = 0;
  bool continues = false;  // the line before was a field, so a continuation belongs to it
  while (at < text.size()) {
    const size_t end = text.find('\n', at);
    const size_t next = end == std::string_view::npos ? text.size() : end + 1;
    std::string_view line = text.substr(at, (end == std::string_view::npos ? text.size() : end) - at);
    at = next;
    const size_t returns = WithoutReturns(line);
    if (returns == 0) ++counts.bare_line_feed;
    if (returns > 1) ++counts.extra_return;
    if (line.empty()) break;
    if (line.front() == ' ' || line.front() == '\t') {
      if (!continues) {
        ++counts.lost_continuation;
        continue;
      }
      // The last value ends text_, so it grows in place.
      const std::string_view more = TrimBlanks(line);
      Entry& last = entries_.back();
      if (more.empty()) continue;
      if (last.value_length > 0) text_ += ' ';
      text_.append(more);
      last.value_length = static_cast<uint32_t>(text_.size()) - last.value;
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      ++counts.no_colon;
      continues = false;
      continue;
    }
    const std::string_view name = TrimBlanks(line.substr(0, colon));
    if (!IsName(line.substr(0, colon))) ++counts.bad_name;
    Add(name, TrimBlanks(line.substr(colon + 1)));
    continues = true;
  }
  return at;
}

FieldList::Field FieldList::operator[](size_t index) const {
  const Entry& entry = entries_[index];
  return {At(entry.name, entry.name_length), At(entry.value, entry.value_length)};
}

std::optional<std::string_view> FieldList::Find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (EqualsIgnoringCase(At(entry.name, entry.name_length), name)) return At(entry.value, entry.value_length);
  }
  return std::nullopt;
}

size_t FieldList::Count(std::string_view name) const {
  return static_cast<size_t>(std::ranges::count_if(
      entries_, [&](const Entry& entry) { return EqualsIgnoringCase(At(entry.name, entry.name_length), name); }));
}

}  // namespace portolan
