#include "text/block_tree.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace portolan {
namespace {

// What a tag means for the elements that are open.
enum Trait : uint8_t {
  kVoid = 1 << 0,         // has no end tag
  kBarrier = 1 << 1,      // ends the search for an implied end: what is outside stays open
  kEndsAnother = 1 << 2,  // its start tag may end an element that is open, see Ends
  kInParagraph = 1 << 3,  // does not end a paragraph
};

consteval std::array<uint8_t, kTagCount> MakeTraits() {
  std::array<uint8_t, kTagCount> traits{};
  const auto add = [&](std::initializer_list<Tag> tags, Trait trait) {
    for (const Tag tag : tags) traits[static_cast<size_t>(tag)] |= trait;
  };
  add({Tag::kBr, Tag::kHr, Tag::kImg, Tag::kInput}, kVoid);
  add({Tag::kTable, Tag::kUl, Tag::kOl, Tag::kDl, Tag::kDiv, Tag::kArticle, Tag::kSection, Tag::kMain, Tag::kBody,
       Tag::kSelect, Tag::kButton},
      kBarrier);
  add({Tag::kLi, Tag::kDd, Tag::kDt, Tag::kTd, Tag::kTh, Tag::kTr, Tag::kTbody, Tag::kThead, Tag::kTfoot, Tag::kOption,
       Tag::kOptgroup},
      kEndsAnother);
  add({Tag::kButton, Tag::kSelect, Tag::kTextarea, Tag::kOption, Tag::kOptgroup, Tag::kNoscript}, kInParagraph);
  return traits;
}
constexpr std::array<uint8_t, kTagCount> kTraits = MakeTraits();

bool Has(Tag tag, Trait trait) { return (kTraits[static_cast<size_t>(tag)] & trait) != 0; }

// Whether a start tag ends this open element before its own begins. REQUIRES: the tag has kEndsAnother.
bool Ends(Tag start, Tag open) {
  switch (start) {
    case Tag::kLi:
      return open == Tag::kLi;
    case Tag::kDd:
    case Tag::kDt:
      return open == Tag::kDd || open == Tag::kDt;
    case Tag::kTd:
    case Tag::kTh:
      return open == Tag::kTd || open == Tag::kTh;
    case Tag::kOption:
    case Tag::kOptgroup:
      return open == Tag::kOption;
    default:
      return open == Tag::kTr || open == Tag::kTd || open == Tag::kTh;
  }
}

struct Marks {
  uint32_t commas = 0;
  bool sentence = false;
};

// REQUIRES: MayBeMark(line[i]). Of other scripts, the Arabic marks have two bytes (from 0xd8), the danda and the
// full-width ones three.
void LookAt(std::string_view line, size_t i, Marks& marks) {
  const std::string_view two = line.substr(i, 2);
  const std::string_view three = line.substr(i, 3);
  switch (static_cast<unsigned char>(line[i])) {
    case '.':
    case '!':
    case '?':
      // "3.5" and "e.g" have no blank behind; a quotation mark may stand between.
      marks.sentence |= i + 1 == line.size() || line[i + 1] == ' ' || line[i + 1] == '"' || line[i + 1] == ')' ||
                        line[i + 1] == '\n' || line.substr(i + 1, 2) == "\xe2\x80";
      break;
    case 0xd8:
      if (two == "\xd8\x8c") ++marks.commas;
      if (two == "\xd8\x9f") marks.sentence = true;
      break;
    case 0xe0:
      if (three == "\xe0\xa5\xa4") marks.sentence = true;
      break;
    case 0xe3:
      if (three == "\xe3\x80\x81") ++marks.commas;
      if (three == "\xe3\x80\x82") marks.sentence = true;
      break;
    case 0xef:
      if (three == "\xef\xbc\x8c") ++marks.commas;
      if (three == "\xef\xbc\x81" || three == "\xef\xbc\x9f") marks.sentence = true;
      break;
    default:
      break;
  }
}

// line[i] begins a mark that LookAt knows.
bool MayBeMark(char c) {
  return c == '.' || c == '!' || c == '?' || c == '\xd8' || c == '\xe0' || c == '\xe3' || c == '\xef';
}

// Ends where a sentence does: commas are asked for only where there is none. REQUIRES: the line is not empty.
Marks Count(std::string_view line) {
  Marks marks;
  // Most prose ends with such a mark.
  if (const char last = line.back(); last == '.' || last == '!' || last == '?') {
    marks.sentence = true;
    return marks;
  }
  size_t i = 0;
#ifdef __SSE2__
  // Sixteen bytes at a time: most hold nothing but letters and blanks. The last sixteen overlap those before them.
  const auto look = [&](size_t at, uint32_t wanted) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(line.data() + at));
    const auto is = [&](char c) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(c)); };
    const auto mask = [&](__m128i bytes) { return static_cast<uint32_t>(_mm_movemask_epi8(bytes)) & wanted; };
    marks.commas += static_cast<uint32_t>(std::popcount(mask(is(','))));
    const __m128i ends = _mm_or_si128(_mm_or_si128(is('.'), is('!')), is('?'));
    const __m128i high = _mm_or_si128(_mm_or_si128(is('\xd8'), is('\xe0')), _mm_or_si128(is('\xe3'), is('\xef')));
    for (uint32_t rest = mask(_mm_or_si128(high, ends)); rest != 0; rest &= rest - 1) {
      LookAt(line, at + static_cast<size_t>(std::countr_zero(rest)), marks);
    }
  };
  if (line.size() >= 16) {
    for (; i + 16 <= line.size() && !marks.sentence; i += 16) look(i, 0xffff);
    const size_t left = line.size() - i;
    if (left > 0 && !marks.sentence) look(line.size() - 16, 0xffff & (0xffffU << (16 - left)));
    return marks;
  }
#endif
  for (; i < line.size() && !marks.sentence; ++i) {
    if (line[i] == ',') ++marks.commas;
    if (MayBeMark(line[i])) LookAt(line, i, marks);
  }
  return marks;
}

}  // namespace

void BlockTree::Open(Tag tag, uint16_t hints) {
  CloseImplied(tag);
  if (stack_.size() >= kMaxDepth) return;
  nodes_.push_back({.tag = tag,
                    .hints = hints,
                    .parent = stack_.back(),
                    .first = static_cast<uint32_t>(lines_.size()),
                    .last = static_cast<uint32_t>(lines_.size())});
  stack_.push_back(static_cast<uint32_t>(nodes_.size() - 1));
  ++open_[static_cast<size_t>(tag)];
}

void BlockTree::PopTo(size_t depth) {
  while (stack_.size() > depth) {
    BlockNode& node = nodes_[stack_.back()];
    node.last = static_cast<uint32_t>(lines_.size());
    --open_[static_cast<size_t>(node.tag)];
    stack_.pop_back();
  }
}

// An end tag whose element is not open is ignored without a search, so that hostile pages cost linear time; a search
// is at most kMaxDepth steps and ends with the removal of what it passed.
void BlockTree::Close(Tag tag) {
  const auto close = [&](Tag wanted) {
    for (size_t i = stack_.size(); i > 1; --i) {
      if (nodes_[stack_[i - 1]].tag == wanted) {
        PopTo(i - 1);
        return;
      }
    }
  };
  if (open_[static_cast<size_t>(tag)] > 0) {
    close(tag);
  } else if (IsHeading(tag) && IsHeading(nodes_[stack_.back()].tag)) {
    PopTo(stack_.size() - 1);  // any end tag of a heading ends the one that is open
  }
}

void BlockTree::CloseImplied(Tag tag) {
  const Tag top = nodes_[stack_.back()].tag;
  if (top == Tag::kP && !Has(tag, kInParagraph)) PopTo(stack_.size() - 1);
  if (IsHeading(tag) && IsHeading(top)) PopTo(stack_.size() - 1);
  if (!Has(tag, kEndsAnother)) return;
  constexpr size_t kNear = 8;  // further up, an element that was left open is not worth the search
  for (size_t i = stack_.size(), steps = 0; i > 1 && steps < kNear; --i, ++steps) {
    const Tag open = nodes_[stack_[i - 1]].tag;
    if (Ends(tag, open)) {
      size_t depth = i - 1;
      if (tag == Tag::kTr || tag == Tag::kTbody || tag == Tag::kThead || tag == Tag::kTfoot) {
        if (depth > 1 && nodes_[stack_[depth - 1]].tag == Tag::kTr) --depth;
      }
      PopTo(depth);
      return;
    }
    if (Has(open, kBarrier)) return;
  }
}

void BlockTree::EndLine(const Page& page, uint32_t end) {
  const std::string_view text = page.text;
  uint32_t begin = line_begin_;
  while (begin < end && (text[begin] == ' ' || text[begin] == '\n')) ++begin;
  if (begin < end) {
    TextLine line{.begin = begin, .size = end - begin, .node = stack_.back(), .linked = std::min(linked_, end - begin)};
    if (line.size - line.linked >= TextLine::kLeastMarked) {
      const Marks marks = Count(text.substr(begin, end - begin));
      line.commas = marks.commas;
      line.sentence = marks.sentence;
    }
    lines_.push_back(line);
  }
  line_begin_ = end;
}

void BlockTree::Build(const Page& page) {
  nodes_.clear();
  lines_.clear();
  stack_.clear();
  open_.fill(0);
  line_begin_ = linked_ = 0;
  nodes_.push_back({});
  stack_.push_back(0);
  bool in_link = false;
  uint32_t link_begin = 0;
  for (const OutlineEvent& event : page.outline) {
    const uint32_t at = event.text_at;
    if (event.tag == Tag::kA) {
      if (in_link) linked_ += at - link_begin;
      in_link = !event.end;
      link_begin = at;
      continue;
    }
    if (event.tag == Tag::kImg || event.tag == Tag::kInput) continue;
    if (in_link) linked_ += at - link_begin;
    link_begin = at;
    if (at > line_begin_) EndLine(page, at);
    linked_ = 0;
    if (Has(event.tag, kVoid)) continue;
    if (event.end) {
      Close(event.tag);
    } else {
      Open(event.tag, names_.Hints(page.NamesOf(event)));
    }
  }
  const auto end = static_cast<uint32_t>(page.text.size());
  if (in_link) linked_ += end - link_begin;
  EndLine(page, end);
  PopTo(0);
}

}  // namespace portolan
