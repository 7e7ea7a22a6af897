// MainText: which lines of a page's visible text are its content; the rest is navigation, advertising, what is related,
// comments: boilerplate.
//
// What it is made of, and where it comes from:
//   1. Blocks whose element or name says that they are not content (nav, aside, "related-posts" …) are set aside with
//      all they hold, unless they hold most of the page's prose: names lie (Mozilla's readability, 2010).
//   2. Each line is prose, neutral or boilerplate by its length, link density and marks of sentences: the shallow text
//      features of boilerpipe (Kohlschütter, Fankhauser, Nejdl 2010).
//   3. The block whose lines together are worth most, prose counting for and boilerplate against it, holds the main
//      text: Pasternack and Roth's maximum subsequence (2009), over the blocks of the page instead of any range of its
//      tokens. schema.org's articleBody, <article> and <main> count for a block.
//   4. Inside it short lines stand or fall with their neighbours (jusText, Pomikálek 2011): headings before prose and
//      items between prose stay.
//
// No model is trained. Its constants were chosen on one half of a public set of articles; docs/text.md has the figures
// of the other half.
//
// Thread: one owner. Time: linear in text and outline. Memory bound: BlockTree's, and 24 bytes per node and line.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "html/page.h"
#include "text/block_tree.h"

namespace portolan {

// Bytes of Page::text.
struct TextRange {
  uint32_t begin = 0;
  uint32_t size = 0;
  friend bool operator==(const TextRange&, const TextRange&) = default;
};

class MainTextFinder {
 public:
  // The main text's ranges, in order, apart from each other; what is between two of them is not main text. Empty: the
  // page has no prose at all. REQUIRES: the page was read with text and outline. Valid until the next call.
  const std::vector<TextRange>& Find(const Page& page);

 private:
  struct Weights {
    int64_t prose = 0;  // bytes of prose in the block
    int64_t value = 0;
  };

  void SetAside();
  void Judge();
  uint32_t BestBlock();
  uint32_t ParentOfProse(uint32_t first, uint32_t last);
  bool BelongsToProse(uint32_t index, uint32_t prose_parent) const;
  void Keep(uint32_t block);

  BlockTree tree_;
  std::vector<Weights> weights_;  // by node
  std::vector<uint8_t> aside_;    // by node
  std::vector<uint8_t> kinds_;    // by line
  std::vector<uint8_t> kept_;
  std::vector<TextRange> ranges_;
};

// The ranges' text, each on lines of its own.
void JoinRanges(std::string_view text, std::span<const TextRange> ranges, std::string& out);

}  // namespace portolan
