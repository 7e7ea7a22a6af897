// Rows of links in the runs of a build, and the run as something that a merge can read: pairs of numbers in rising
// order, each with its text (flags and anchor text, empty for a plain link without any).
//
//   row   varint (source − last source) × 2, plus 1 if there is a text; varint target, or target − last target where
//   the
//         source is the same; the text: varint length, bytes
//
// Thread: one owner. Memory bound: a reader's buffer and the longest text.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "follow/spool_file.h"

namespace portolan {

inline void AppendLinkRow(std::string& out, uint64_t last_pair, uint64_t pair, std::string_view text) {
  const uint64_t gap = (pair >> 32) - (last_pair >> 32);
  AppendVarint(out, gap << 1 | (text.empty() ? 0 : 1));
  AppendVarint(out, gap == 0 ? (pair & 0xffffffff) - (last_pair & 0xffffffff) : pair & 0xffffffff);
  if (!text.empty()) AppendString(out, text);
}

// Links in rising order.
class LinkRun {
 public:
  virtual ~LinkRun() = default;
  // To the next link; false: there is none.
  virtual Result<bool> Next() = 0;
  uint64_t pair() const { return pair_; }
  std::string_view text() const { return text_; }  // valid until Next

 protected:
  uint64_t pair_ = 0;
  std::string_view text_;
};

class SpooledLinks : public LinkRun {
 public:
  SpooledLinks(File& file, const SpoolPart& part, size_t buffer) : reader_(file, part, buffer) {}

  Result<bool> Next() override {
    if (reader_.done()) return false;
    RETURN_IF_ERROR(reader_.Need(3 * kMaxVarint));
    uint64_t gap = 0;
    uint64_t target = 0;
    if (!reader_.TakeVarint(gap) || !reader_.TakeVarint(target)) return SpoolBroken("link");
    const uint64_t source = (pair_ >> 32) + (gap >> 1);
    if (gap >> 1 == 0) target += pair_ & 0xffffffff;
    pair_ = source << 32 | target;
    text_ = {};
    if ((gap & 1) == 0) return true;
    uint64_t size = 0;
    if (!reader_.TakeVarint(size)) return SpoolBroken("text");
    RETURN_IF_ERROR(reader_.Need(size));
    if (reader_.view().size() < size) return SpoolBroken("text");
    text_ = reader_.view().substr(0, size);
    reader_.Skip(size);
    return true;
  }

 private:
  SpoolReader reader_;
};

}  // namespace portolan
