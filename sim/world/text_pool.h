// TextPools: ready-made pieces of pages in every language and charset, so that rendering is copying.
//
// A piece is whole markup (a paragraph, a list, a table, a script): no piece holds a link that a crawler would take,
// but many hold what only looks like one (in scripts, comments, textareas, templates; mailto: and javascript:). The
// malformed pieces are what people write: unclosed, misnested, unquoted, with stray bytes; each still leaves the
// tokenizer outside of any tag, comment or raw text.
//
// Memory: about 3 MB. Thread: const after construction.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace portolan::sim {

class Pieces {
 public:
  void Add(std::string_view piece) {
    bytes_ += piece;
    ends_.push_back(static_cast<uint32_t>(bytes_.size()));
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t index) const {
    const uint32_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }

 private:
  std::string bytes_;
  std::vector<uint32_t> ends_;
};

inline constexpr size_t kParagraphs = 256;
inline constexpr size_t kAnchors = 256;
inline constexpr size_t kOddPieces = 64;
inline constexpr size_t kScripts = 64;

struct TextPool {
  Pieces paragraphs;  // kParagraphs of 100 to 1500 bytes
  Pieces odd;         // kOddPieces, malformed
  Pieces anchors;     // kAnchors of one to four words, no markup
};

class TextPools {
 public:
  explicit TextPools(uint64_t seed);
  const TextPool& Of(uint8_t language, uint8_t charset) const { return pools_[language][charset]; }
  const Pieces& scripts() const { return scripts_; }  // ASCII

 private:
  std::vector<std::vector<TextPool>> pools_;  // by language, then by its charsets
  Pieces scripts_;
};

}  // namespace portolan::sim
