#include "text/block_tree.h"

#include <algorithm>
#include <bit>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "text/name_hints.h"

namespace portolan {
namespace {

bool IsVoid(Tag tag) { return tag == Tag::kBr || tag == Tag::kHr || tag == Tag::kImg || tag == Tag::kInput; }

// Elements that end the search for an implied end: what is outside stays open.
bool IsBarrier(Tag tag) {
  switch (tag) {
    case Tag::kTable:
    case Tag::kUl:
    case Tag::kOl:
    case Tag::kDl:
    case Tag::kDiv:
    case Tag::kArticle:
    case Tag::kSection:
    case Tag::kMain:
    case Tag::kBody:
    case Tag::kSelect:
    case Tag::kButton:
      return true;
    default:
      return false;
  }
}

// Which open element a start tag ends before itself begins. kUnknown: none.
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
    case Tag::kTr:
    case Tag::kTbody:
    case Tag::kThead:
    case Tag::kTfoot:
      return open == Tag::kTr || open == Tag::kTd || open == Tag::kTh;
    case Tag::kOption:
    case Tag::kOptgroup:
      return open == Tag::kOption;
    default:
      return false;
  }
}

bool StandsInParagraph(Tag tag) {
  return tag == Tag::kButton || tag == Tag::kSelect || tag == Tag::kTextarea || tag == Tag::kOption ||
         tag == Tag::kOptgroup || tag == Tag::kNoscript;
}

struct Marks {
  uint32_t commas = 0;
  uint32_t words = 0;
  bool sentence = false;
};

// line[i] is '.', '!', '?' or a byte of at least 0xd8, which may begin a mark of another script:
// the Arabic ones have two bytes (from 0xd8), the danda and the full-width ones three.
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

Marks Count(std::string_view line) {
  Marks marks;
  marks.words = line.empty() ? 0 : 1;
  size_t i = 0;
#ifdef __SSE2__
  // Sixteen bytes at a time: most hold nothing but letters and blanks.
  const auto mask = [](__m128i bytes) { return static_cast<uint32_t>(_mm_movemask_epi8(bytes)); };
  for (; i + 16 <= line.size(); i += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(line.data() + i));
    const auto is = [&](char c) { return _mm_cmpeq_epi8(block, _mm_set1_epi8(c)); };
    marks.words += static_cast<uint32_t>(std::popcount(mask(_mm_or_si128(is(' '), is('\n')))));
    marks.commas += static_cast<uint32_t>(std::popcount(mask(is(','))));
    const __m128i high = _mm_cmpeq_epi8(_mm_max_epu8(block, _mm_set1_epi8('\xd8')), block);
    const __m128i ends = _mm_or_si128(_mm_or_si128(is('.'), is('!')), is('?'));
    for (uint32_t rest = mask(_mm_or_si128(high, ends)); rest != 0; rest &= rest - 1) {
      LookAt(line, i + static_cast<size_t>(std::countr_zero(rest)), marks);
    }
  }
#endif
  for (; i < line.size(); ++i) {
    const auto c = static_cast<unsigned char>(line[i]);
    marks.words += c == ' ' || c == '\n' ? 1 : 0;
    marks.commas += c == ',' ? 1 : 0;
    if (c == '.' || c == '!' || c == '?' || c >= 0xd8) LookAt(line, i, marks);
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
  if (top == Tag::kP && !StandsInParagraph(tag)) PopTo(stack_.size() - 1);
  if (IsHeading(tag) && IsHeading(top)) PopTo(stack_.size() - 1);
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
    if (IsBarrier(open)) return;
  }
}

void BlockTree::EndLine(const Page& page, uint32_t end) {
  const std::string_view text = page.text;
  uint32_t begin = line_begin_;
  while (begin < end && (text[begin] == ' ' || text[begin] == '\n')) ++begin;
  if (begin < end) {
    TextLine line{.begin = begin, .size = end - begin, .node = stack_.back(), .linked = std::min(linked_, end - begin)};
    const Marks marks = Count(text.substr(begin, end - begin));
    line.commas = marks.commas;
    line.words = marks.words;
    line.sentence = marks.sentence;
    lines_.push_back(line);
  }
  line_begin_ = end;
  linked_ = 0;
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
    EndLine(page, at);
    if (IsVoid(event.tag)) continue;
    if (event.end) {
      Close(event.tag);
    } else {
      Open(event.tag, NameHints(page.NamesOf(event)));
    }
  }
  const auto end = static_cast<uint32_t>(page.text.size());
  if (in_link) linked_ += end - link_begin;
  EndLine(page, end);
  PopTo(0);
}

}  // namespace portolan
