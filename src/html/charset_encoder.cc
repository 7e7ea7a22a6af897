#include "html/charset_encoder.h"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "html/charset_tables.h"

namespace portolan {
namespace {

constexpr uint32_t kNoPointer = UINT32_MAX;
constexpr uint32_t kYen = 0xa5;
constexpr uint32_t kOverline = 0x203e;
constexpr uint32_t kHalfWidthFirst = 0xff61;
constexpr uint32_t kHalfWidthLast = 0xff9f;

// The half-width katakana from U+FF61 on in full width ("index ISO-2022-JP katakana").
constexpr std::u16string_view kFullWidth =
    u"。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリ"
    u"ルレロワン゛゜";
static_assert(kFullWidth.size() == kHalfWidthLast - kHalfWidthFirst + 1);

struct Entry {
  uint32_t code;
  uint32_t pointer;
};

// What GB 18030-2022 moved out of the private use area: the old code points are still written as before.
constexpr Entry kGb18030Moved[] = {
    {0xe78d, 7182},  {0xe78e, 7183},  {0xe78f, 7184},  {0xe790, 7185},  {0xe791, 7186},  {0xe792, 7187},
    {0xe793, 7188},  {0xe794, 7201},  {0xe795, 7202},  {0xe796, 7208},  {0xe81e, 23775}, {0xe826, 23783},
    {0xe82b, 23788}, {0xe82c, 23789}, {0xe832, 23795}, {0xe843, 23812}, {0xe854, 23829}, {0xe864, 23845},
};

// A table of charset_tables.h backwards. Of several pointers of a character it has the first.
class Backwards {
 public:
  // Leaves out the pointers below `from` and those from `gap` to `gap_last`.
  explicit Backwards(std::span<const uint32_t> table, uint32_t from = 0, uint32_t gap = 1, uint32_t gap_last = 0) {
    entries_.reserve(table.size());
    for (uint32_t pointer = from; pointer < table.size(); ++pointer) {
      if (table[pointer] != 0 && (pointer < gap || pointer > gap_last)) entries_.push_back({table[pointer], pointer});
    }
    std::ranges::stable_sort(entries_, {}, &Entry::code);
    const auto more = std::ranges::unique(entries_, {}, &Entry::code);
    entries_.erase(more.begin(), more.end());
    entries_.shrink_to_fit();
  }

  uint32_t Find(uint32_t code) const {
    const auto at = std::ranges::lower_bound(entries_, code, {}, &Entry::code);
    return at != entries_.end() && at->code == code ? at->pointer : kNoPointer;
  }

 private:
  std::vector<Entry> entries_;
};

void Put(std::string& bytes, std::initializer_list<uint32_t> values) {
  for (const uint32_t value : values) bytes += static_cast<char>(value);
}

// Each of these gives 0, or the code point where it has no bytes.

uint32_t EncodeSingleByte(Encoding encoding, uint32_t code, std::string& bytes) {
  const auto& table = SingleByteTable(encoding);
  const auto at = std::ranges::find(table, code);
  if (at == table.end()) return code;
  Put(bytes, {static_cast<uint32_t>(at - table.begin()) + 0x80});
  return 0;
}

uint32_t Gb18030(bool gbk, uint32_t code, std::string& bytes) {
  static const Backwards two(Gb18030Table());
  if (code == 0xe5e5) return code;  // 0xA3A0, which decodes to U+3000
  if (gbk && code == 0x20ac) {
    Put(bytes, {0x80});
    return 0;
  }
  const auto* moved = std::ranges::find(kGb18030Moved, code, &Entry::code);
  uint32_t pointer = moved != std::end(kGb18030Moved) ? moved->pointer : two.Find(code);
  if (pointer != kNoPointer) {
    Put(bytes, {pointer / 190 + 0x81, pointer % 190 + (pointer % 190 < 0x3f ? 0x40 : 0x41)});
    return 0;
  }
  if (gbk) return code;
  static const Backwards four(Gb18030FourTable());
  pointer = code >= 0x10000 ? code - 0x10000 + 189'000 : four.Find(code);
  if (pointer == kNoPointer) return code;
  Put(bytes, {pointer / 12'600 + 0x81, pointer / 1260 % 10 + 0x30, pointer / 10 % 126 + 0x81, pointer % 10 + 0x30});
  return 0;
}

uint32_t Big5(uint32_t code, std::string& bytes) {
  // Without Hong Kong's extensions: not every reader of Big5 knows them.
  static const Backwards table(Big5Table(), (0xa1 - 0x81) * 157);
  uint32_t pointer = table.Find(code);
  if (pointer == kNoPointer) return code;
  // Of these six the last pointer counts.
  constexpr Entry kLast[] = {{0x2550, 18'991}, {0x255e, 18'975}, {0x2561, 18'977},
                             {0x256a, 18'976}, {0x5341, 5512},   {0x5345, 5599}};
  if (const auto* last = std::ranges::find(kLast, code, &Entry::code); last != std::end(kLast)) pointer = last->pointer;
  Put(bytes, {pointer / 157 + 0x81, pointer % 157 + (pointer % 157 < 0x3f ? 0x40 : 0x62)});
  return 0;
}

uint32_t EucKr(uint32_t code, std::string& bytes) {
  static const Backwards table(EucKrTable());
  const uint32_t pointer = table.Find(code);
  if (pointer == kNoPointer) return code;
  Put(bytes, {pointer / 190 + 0x81, pointer % 190 + 0x41});
  return 0;
}

// The pointer that EUC-JP and ISO-2022-JP use.
uint32_t Jis0208Pointer(uint32_t code) {
  static const Backwards table(Jis0208Table());
  return table.Find(code == 0x2212 ? 0xff0d : code);
}

uint32_t EucJp(uint32_t code, std::string& bytes) {
  if (code == kYen || code == kOverline) {
    bytes += code == kYen ? '\\' : '~';
    return 0;
  }
  if (code >= kHalfWidthFirst && code <= kHalfWidthLast) {
    Put(bytes, {0x8e, code - kHalfWidthFirst + 0xa1});
    return 0;
  }
  const uint32_t pointer = Jis0208Pointer(code);
  if (pointer == kNoPointer) return code;
  Put(bytes, {pointer / 94 + 0xa1, pointer % 94 + 0xa1});
  return 0;
}

uint32_t ShiftJis(uint32_t code, std::string& bytes) {
  // Without NEC's copies of IBM's extensions.
  static const Backwards table(Jis0208Table(), 0, 8272, 8835);
  if (code == kYen || code == kOverline) {
    bytes += code == kYen ? '\\' : '~';
    return 0;
  }
  if (code == 0x80 || (code >= kHalfWidthFirst && code <= kHalfWidthLast)) {
    Put(bytes, {code == 0x80 ? code : code - kHalfWidthFirst + 0xa1});
    return 0;
  }
  const uint32_t pointer = table.Find(code == 0x2212 ? 0xff0d : code);
  if (pointer == kNoPointer) return code;
  Put(bytes,
      {pointer / 188 + (pointer / 188 < 0x1f ? 0x81 : 0xc1), pointer % 188 + (pointer % 188 < 0x3f ? 0x40 : 0x41)});
  return 0;
}

}  // namespace

uint32_t CharsetEncoder::Encode(uint32_t code_point, std::string& bytes) {
  if (encoding_ == Encoding::kIso2022Jp) return Iso2022Jp(code_point, bytes);
  if (code_point < 0x80) {
    bytes += static_cast<char>(code_point);
    return 0;
  }
  switch (encoding_) {
    case Encoding::kUtf8:
      AppendUtf8(bytes, code_point);
      return 0;
    case Encoding::kGbk:
    case Encoding::kGb18030:
      return Gb18030(encoding_ == Encoding::kGbk, code_point, bytes);
    case Encoding::kBig5:
      return Big5(code_point, bytes);
    case Encoding::kEucKr:
      return EucKr(code_point, bytes);
    case Encoding::kEucJp:
      return EucJp(code_point, bytes);
    case Encoding::kShiftJis:
      return ShiftJis(code_point, bytes);
    default:
      return EncodeSingleByte(encoding_, code_point, bytes);
  }
}

void CharsetEncoder::End(std::string& bytes) { Enter(Jis::kAscii, bytes); }

void CharsetEncoder::Enter(Jis state, std::string& bytes) {
  if (jis_state_ == state) return;
  jis_state_ = state;
  bytes += state == Jis::kAscii ? "\x1b(B" : state == Jis::kRoman ? "\x1b(J" : "\x1b$B";
}

uint32_t CharsetEncoder::Iso2022Jp(uint32_t code, std::string& bytes) {
  if (code < 0x80) {
    // Roman is ASCII but for two characters.
    if (jis_state_ != Jis::kRoman || code == '\\' || code == '~') Enter(Jis::kAscii, bytes);
    if (code == 0x0e || code == 0x0f || code == 0x1b) return 0xfffd;  // they would change the state of who decodes
    bytes += static_cast<char>(code);
    return 0;
  }
  if (code == kYen || code == kOverline) {
    Enter(Jis::kRoman, bytes);
    bytes += code == kYen ? '\\' : '~';
    return 0;
  }
  const bool half_width = code >= kHalfWidthFirst && code <= kHalfWidthLast;
  const uint32_t pointer = Jis0208Pointer(half_width ? kFullWidth[code - kHalfWidthFirst] : code);
  if (pointer == kNoPointer) {
    if (jis_state_ == Jis::kKanji) Enter(Jis::kAscii, bytes);  // the name that stands in its place is ASCII
    return code;
  }
  Enter(Jis::kKanji, bytes);
  Put(bytes, {pointer / 94 + 0x21, pointer % 94 + 0x21});
  return 0;
}

}  // namespace portolan
