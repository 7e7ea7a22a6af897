// FieldList: the named fields of a WARC record or of an HTTP message, in the order of the file.
//
// Names are found without regard to case; a name may come several times. A line that begins with a blank continues the
// value before it, joined by one blank. Values lose the blanks around them. Bytes are kept as they are. A line may end
// in LF, CR LF or CR CR LF.
//
// Memory: one string for all names and values; Clear keeps it, so a reader allocates nothing from record to record.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace portolan {

// How the lines of a header departed from NAME ":" VALUE CRLF. One count per kind.
struct FieldFaults {
  uint32_t no_colon = 0;
  uint32_t bad_name = 0;
  uint32_t bare_line_feed = 0;
  uint32_t extra_return = 0;       // CR CR LF: a writer ended lines twice
  uint32_t lost_continuation = 0;  // a continuation line with nothing before it
  bool any() const { return no_colon + bad_name + bare_line_feed + extra_return + lost_continuation > 0; }
};

// How many CRs may stand before the LF of a line's end. One is right; more are read as one.
inline constexpr size_t kMaxReturns = 3;

// Cuts them off `line`, which is a line without its LF, and gives their number.
size_t WithoutReturns(std::string_view& line);

class FieldList {
 public:
  struct Field {
    std::string_view name;  // valid until the list changes
    std::string_view value;
  };

  void Clear();
  void Add(std::string_view name, std::string_view value);

  // Adds the fields of `text`, which is whole lines up to the empty line or the end. Returns the bytes read, the empty
  // line included. Lines that are not fields are left out and counted.
  size_t Parse(std::string_view text, FieldFaults* faults = nullptr);

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  Field operator[](size_t index) const;

  // The first value, or nothing.
  std::optional<std::string_view> Find(std::string_view name) const;
  std::string_view Get(std::string_view name) const { return Find(name).value_or(std::string_view()); }
  size_t Count(std::string_view name) const;

 private:
  struct Entry {
    uint32_t name;  // offset in text_
    uint32_t name_length;
    uint32_t value;
    uint32_t value_length;
  };
  std::string_view At(uint32_t offset, uint32_t length) const { return std::string_view(text_).substr(offset, length); }

  std::string text_;
  std::vector<Entry> entries_;
};

}  // namespace portolan
