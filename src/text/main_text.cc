#include "text/main_text.h"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "text/name_hints.h"

namespace portolan {
namespace {

enum Kind : uint8_t { kBad, kShort, kNear, kGood };

// What an element says of a block: nothing, that it is not content, or that its names are not asked.
enum Element : uint8_t { kByNames, kAside, kNeverAside };

consteval std::array<Element, kTagCount> MakeElements() {
  std::array<Element, kTagCount> elements{};
  const auto set = [&](std::initializer_list<Tag> tags, Element element) {
    for (const Tag tag : tags) elements[static_cast<size_t>(tag)] = element;
  };
  set({Tag::kHtml, Tag::kBody, Tag::kMain, Tag::kUnknown}, kNeverAside);
  set({Tag::kNav, Tag::kAside, Tag::kFooter, Tag::kHeader, Tag::kButton, Tag::kSelect, Tag::kTextarea, Tag::kMenu,
       Tag::kDialog, Tag::kForm, Tag::kFieldset, Tag::kNoscript, Tag::kFigcaption},
      kAside);
  return elements;
}
constexpr std::array<Element, kTagCount> kElements = MakeElements();

constexpr uint16_t kAsideHints = kHintBoilerplate | kHintComments | kHintCaption | kHintMeta | kHintTeaser | kHintNever;

// A block that by its element or its names is not content.
bool LooksAside(const BlockNode& node, const BlockNode& parent) {
  const Element element = kElements[static_cast<size_t>(node.tag)];
  if (element != kByNames) return element == kAside;
  if (node.tag == Tag::kArticle && parent.tag == Tag::kArticle) return true;  // another article
  if ((node.hints & kHintHidden) != 0) return true;
  return (node.hints & kHintBody) == 0 && (node.hints & kAsideHints) != 0;
}

}  // namespace

void MainTextFinder::Judge() {
  const auto& lines = tree_.lines();
  const auto& nodes = tree_.nodes();
  kinds_.assign(lines.size(), kBad);
  for (size_t i = 0; i < lines.size(); ++i) {
    const TextLine& line = lines[i];
    const uint32_t plain = line.size - line.linked;
    if (line.linked * 3 > line.size) {
      kinds_[i] = plain >= 120 && line.sentence && line.linked * 2 < line.size ? kNear : kBad;
    } else if (IsHeading(nodes[line.node].tag)) {
      kinds_[i] = kShort;
    } else if (plain >= 80 && (line.sentence || line.commas > 1 || plain >= 200)) {
      kinds_[i] = kGood;
    } else if (plain >= 25 && line.sentence) {
      kinds_[i] = kNear;
    } else {
      kinds_[i] = kShort;
    }
  }
}

void MainTextFinder::SetAside() {
  const auto& nodes = tree_.nodes();
  const auto& lines = tree_.lines();
  weights_.assign(nodes.size(), {});
  aside_.assign(nodes.size(), 0);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (kinds_[i] >= kNear) weights_[lines[i].node].prose += lines[i].size - lines[i].linked;
  }
  for (size_t i = nodes.size(); i-- > 1;) weights_[nodes[i].parent].prose += weights_[i].prose;
  const int64_t all = weights_[0].prose;
  for (size_t i = 1; i < nodes.size(); ++i) {
    const uint32_t parent = nodes[i].parent;
    aside_[i] = aside_[parent];
    if (aside_[i] == 0 && LooksAside(nodes[i], nodes[parent]) &&
        ((nodes[i].hints & kHintNever) != 0 || weights_[i].prose * 2 <= all)) {
      aside_[i] = 1;
    }
  }
}

uint32_t MainTextFinder::BestBlock() {
  const auto& nodes = tree_.nodes();
  const auto& lines = tree_.lines();
  for (size_t i = 0; i < lines.size(); ++i) {
    const TextLine& line = lines[i];
    const int64_t plain = line.size - line.linked;
    int64_t& value = weights_[line.node].value;
    if (aside_[line.node] != 0) {
      value -= std::min<int64_t>(line.size, 20);
      continue;
    }
    switch (kinds_[i]) {
      case kGood:
      case kNear:
        value += std::min<int64_t>(plain, 1000);
        break;
      case kShort:
        value -= 5;
        break;
      default:
        value -= 10 + std::min<int64_t>(line.linked, 60);
        break;
    }
  }
  uint32_t best = 0;
  for (size_t i = nodes.size(); i-- > 1;) {
    weights_[nodes[i].parent].value += weights_[i].value;
    int64_t& value = weights_[i].value;
    if ((nodes[i].hints & kHintBody) != 0 && value > 0) value += value / 2 + 300;
    if (nodes[i].tag == Tag::kArticle && value > 0) value += value / 8;
  }
  // An inner block wins a tie against the one around it.
  for (size_t i = 1; i < nodes.size(); ++i) {
    if (aside_[i] == 0 && weights_[i].value >= weights_[best].value) best = static_cast<uint32_t>(i);
  }
  return best;
}

// The block whose own paragraphs hold most of the prose.
uint32_t MainTextFinder::ParentOfProse(uint32_t first, uint32_t last) {
  const auto& nodes = tree_.nodes();
  const auto& lines = tree_.lines();
  for (Weights& weights : weights_) weights.prose = 0;
  uint32_t best = 0;
  for (uint32_t i = first; i < last; ++i) {
    if (kinds_[i] < kNear || aside_[lines[i].node] != 0) continue;
    const BlockNode& node = nodes[lines[i].node];
    const uint32_t parent = node.tag == Tag::kP ? node.parent : lines[i].node;
    weights_[parent].prose += lines[i].size;
    if (best == 0 || weights_[parent].prose > weights_[best].prose) best = parent;
  }
  return best;
}

// A line of links that stands among the paragraphs: a heading, a paragraph that is not a link as a whole, a quotation.
bool MainTextFinder::BelongsToProse(uint32_t index, uint32_t prose_parent) const {
  const auto& nodes = tree_.nodes();
  const TextLine& line = tree_.lines()[index];
  const BlockNode& node = nodes[line.node];
  const BlockNode& parent = nodes[node.parent];
  if (node.tag == Tag::kBlockquote) return node.parent == prose_parent;
  if (parent.tag == Tag::kBlockquote) return true;
  return node.parent == prose_parent && (IsHeading(node.tag) || (node.tag == Tag::kP && line.linked + 10 < line.size));
}

void MainTextFinder::Keep(uint32_t block) {
  const auto& nodes = tree_.nodes();
  const auto& lines = tree_.lines();
  kept_.assign(lines.size(), 0);
  const uint32_t first = nodes[block].first;
  const uint32_t last = nodes[block].last;
  uint32_t first_good = last;
  uint32_t last_good = first;
  for (uint32_t i = first; i < last; ++i) {
    if (aside_[lines[i].node] != 0 || kinds_[i] < kNear) continue;
    first_good = std::min(first_good, i);
    last_good = i;
  }
  const uint32_t prose_parent = ParentOfProse(first, last);
  for (uint32_t i = first; i < last; ++i) {
    if (aside_[lines[i].node] != 0) continue;
    const bool inside = i >= first_good && i <= last_good;
    kept_[i] = kinds_[i] >= kNear || (inside && (kinds_[i] == kShort || BelongsToProse(i, prose_parent))) ? 1 : 0;
  }
  ranges_.clear();
  for (uint32_t i = first; i < last; ++i) {
    if (kept_[i] == 0) continue;
    if (i > first && kept_[i - 1] != 0 && !ranges_.empty()) {
      ranges_.back().size = lines[i].begin + lines[i].size - ranges_.back().begin;
    } else {
      ranges_.push_back({lines[i].begin, lines[i].size});
    }
  }
}

const std::vector<TextRange>& MainTextFinder::Find(const Page& page) {
  tree_.Build(page);
  ranges_.clear();
  if (tree_.lines().empty()) return ranges_;
  Judge();
  SetAside();
  Keep(BestBlock());
  return ranges_;
}

void JoinRanges(std::string_view text, std::span<const TextRange> ranges, std::string& out) {
  out.clear();
  for (const TextRange& range : ranges) {
    if (!out.empty()) out += '\n';
    out += text.substr(range.begin, range.size);
  }
}

}  // namespace portolan
