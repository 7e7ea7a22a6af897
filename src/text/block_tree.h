// BlockTree: the block elements of a page and the lines of text in them, from the reader's outline (html/page.h).
//
// The reader builds no tree. For choosing the main text it is enough to know which blocks hold a line and what they are
// called, so this follows start and end tags with one stack: an end tag closes the innermost open element of its name,
// a new p, li, td … closes the one before it as the standard has it, and what is never closed ends with its parent. A
// line is the text between two boundaries of blocks; a br ends a line too.
//
// Thread: one owner. Memory bound: 32 bytes per node and 40 per line, of which there are at most
// PageOptions::max_outline + 1 each, and NameMemo. Depth is at most kMaxDepth: what stands deeper counts to the last
// one that fits.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "html/page.h"
#include "html/tag.h"
#include "text/name_memo.h"

namespace portolan {

constexpr bool IsHeading(Tag tag) { return tag >= Tag::kH1 && tag <= Tag::kH6; }

struct TextLine {
  // A line with fewer bytes outside of <a> is not searched for marks: it is too short for a sentence.
  static constexpr uint32_t kLeastMarked = 25;

  uint32_t begin = 0;  // in Page::text
  uint32_t size = 0;
  uint32_t node = 0;      // the innermost block
  uint32_t linked = 0;    // bytes inside <a>
  uint32_t commas = 0;    // of any script; in a line with the mark of a sentence not all of them
  bool sentence = false;  // it has the mark of a sentence's end, at its end or before a blank
};

struct BlockNode {
  Tag tag = Tag::kUnknown;
  uint16_t hints = 0;   // NameHint
  uint32_t parent = 0;  // of the root: itself
  uint32_t first = 0;   // lines [first, last) are in it
  uint32_t last = 0;
};

class BlockTree {
 public:
  static constexpr size_t kMaxDepth = 512;

  // Replaces what was there. REQUIRES: the page was read with text and outline.
  void Build(const Page& page);

  // In document order: a node stands after its parent. The first is the document itself.
  const std::vector<BlockNode>& nodes() const { return nodes_; }
  const std::vector<TextLine>& lines() const { return lines_; }

 private:
  void Open(Tag tag, uint16_t hints);
  void Close(Tag tag);
  void CloseImplied(Tag tag);
  void PopTo(size_t depth);
  void EndLine(const Page& page, uint32_t end);

  NameMemo names_;
  std::vector<BlockNode> nodes_;
  std::vector<TextLine> lines_;
  std::vector<uint32_t> stack_;             // of nodes_
  std::array<uint32_t, kTagCount> open_{};  // how many of each tag are on the stack
  uint32_t line_begin_ = 0;
  uint32_t linked_ = 0;  // of the line so far
};

}  // namespace portolan
