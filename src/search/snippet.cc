#include "search/snippet.h"

#include <xapian.h>

#include <algorithm>
#include <unordered_map>

#include "base/utf8.h"
#include "flow/output_records.h"

namespace portolan {
namespace {

struct MarkedWord {
  size_t begin;
  size_t end;
  size_t word;  // which of the question's words
};

constexpr size_t kNoWord = SIZE_MAX;
constexpr size_t kMaxMarkedWords = 4096;
constexpr size_t kLongestWord = 64;  // bytes; longer ones are not in the index either

// Languages that are written without blanks: each character is a word.
bool IsWideCharacter(uint32_t c) {
  return (c >= 0x2e80 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0xff66 && c <= 0xff9d) || c >= 0x20000;
}

class WordMarker {
 public:
  explicit WordMarker(const QueryPlan::Marks& marks) : marks_(marks) {
    for (const std::string& language : marks.stemmers) stemmers_.emplace_back(Xapian::Stem(language));
  }

  // The words of the question in the text, in order.
  std::vector<MarkedWord> Find(std::string_view text) {
    std::vector<MarkedWord> found;
    size_t at = 0;
    while (at < text.size() && found.size() < kMaxMarkedWords) {
      const auto [c, size] = Decode(text, at);
      if (size == 0 || !Xapian::Unicode::is_wordchar(c)) {
        at += std::max<size_t>(size, 1);
        continue;
      }
      if (IsWideCharacter(c)) {
        at = TakeWide(text, at, size, found);
        continue;
      }
      at = TakeWord(text, at, found);
    }
    return found;
  }

 private:
  static std::pair<uint32_t, size_t> Decode(std::string_view text, size_t at) {
    const size_t size = Utf8SequenceLength(text.substr(at, 4));
    if (size == 0) return {0, 0};
    const Xapian::Utf8Iterator character(text.data() + at, size);
    return {*character, size};
  }

  // A character, or a pair that the index has as a word.
  size_t TakeWide(std::string_view text, size_t at, size_t size, std::vector<MarkedWord>& found) const {
    const size_t next = Utf8SequenceLength(text.substr(at + size, 4));
    size_t end = at + size;
    size_t word = WordNumber(text.substr(at, size + next));
    if (word != kNoWord && next > 0) {
      end += next;
    } else {
      word = WordNumber(text.substr(at, size));
    }
    if (word == kNoWord) return at + size;
    // Pairs overlap.
    if (!found.empty() && found.back().end > at) {
      found.back().end = std::max(found.back().end, end);
    } else {
      found.push_back({at, end, word});
    }
    return at + size;
  }

  size_t TakeWord(std::string_view text, size_t at, std::vector<MarkedWord>& found) {
    const size_t begin = at;
    word_.clear();
    for (;;) {
      const auto [c, size] = Decode(text, at);
      if (size == 0) break;
      if (Xapian::Unicode::is_wordchar(c) && !IsWideCharacter(c)) {
        if (word_.size() <= kLongestWord) AppendUtf8(word_, Xapian::Unicode::tolower(c));
        at += size;
        continue;
      }
      // "don't", "AT&T", "3.14": only between two letters.
      const bool joins = c == '\'' || c == '&' || c == 0x2019 || ((c == '.' || c == ',') && word_.back() <= '9');
      const auto [after, length] = joins ? Decode(text, at + size) : std::pair<uint32_t, size_t>(0, 0);
      if (length == 0 || !Xapian::Unicode::is_wordchar(after) || IsWideCharacter(after)) break;
      if (word_.size() <= kLongestWord) word_ += c == 0x2019 ? '\'' : static_cast<char>(c);
      at += size;
    }
    // "C++", "C#"
    size_t end = at;
    while (end < text.size() && end - at < 3 && (text[end] == '+' || text[end] == '#')) ++end;
    if (end > at && std::ranges::binary_search(marks_.words, word_ + std::string(text.substr(at, end - at)))) {
      word_ += text.substr(at, end - at);
      at = end;
    }
    if (word_.size() <= kLongestWord) {
      if (const size_t word = Lookup(); word != kNoWord) found.push_back({begin, at, word});
    }
    return at;
  }

  size_t WordNumber(std::string_view word) const {
    const auto place = std::ranges::lower_bound(marks_.words, word);
    return place != marks_.words.end() && *place == word ? static_cast<size_t>(place - marks_.words.begin()) : kNoWord;
  }

  // Of word_; what was looked up is remembered, since stemming takes longer.
  size_t Lookup() {
    const auto [place, added] = known_.try_emplace(word_, kNoWord);
    if (!added) return place->second;
    size_t number = WordNumber(word_);
    for (size_t i = 0; number == kNoWord && i < stemmers_.size(); ++i) {
      const std::string stem = stemmers_[i](word_);
      const auto at = std::ranges::lower_bound(marks_.stems, stem);
      if (at != marks_.stems.end() && *at == stem) {
        number = marks_.words.size() + static_cast<size_t>(at - marks_.stems.begin());
      }
    }
    place->second = number;
    return number;
  }

  const QueryPlan::Marks& marks_;
  std::vector<Xapian::Stem> stemmers_;
  std::unordered_map<std::string, size_t> known_;
  std::string word_;
};

// The text from `begin` to `end`, marked; line ends as blanks.
MarkedText Marked(std::string_view text, size_t begin, size_t end, const std::vector<MarkedWord>& found) {
  MarkedText pieces(1);
  const auto append = [&](size_t from, size_t to) {
    for (const char c : text.substr(from, to - from)) pieces.back() += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  };
  size_t at = begin;
  for (const MarkedWord& word : found) {
    if (word.begin < begin || word.end > end || word.begin < at) continue;
    append(at, word.begin);
    pieces.emplace_back();
    append(word.begin, word.end);
    pieces.emplace_back();
    at = word.end;
  }
  append(at, end);
  return pieces;
}

bool IsBreak(char c) { return c == ' ' || c == '\n'; }

// Where the snippet begins: at most `back` bytes before `at`, after a line or a sentence if one ends there.
size_t BeginBefore(std::string_view text, size_t at, size_t back) {
  const size_t least = at > back ? at - back : 0;
  size_t word = at;
  for (size_t i = at; i > least; --i) {
    if (text[i - 1] == '\n' ||
        (IsBreak(text[i - 1]) && i > 1 && std::string_view(".!?").find(text[i - 2]) != std::string_view::npos)) {
      return i;
    }
    if (IsBreak(text[i - 1])) word = i;
  }
  return least == 0 ? 0 : word;
}

// Where it ends: at the last word that is whole.
size_t EndAfter(std::string_view text, size_t begin, size_t least, size_t most) {
  if (text.size() - begin <= most) return text.size();
  size_t end = begin + CutUtf8(text.substr(begin), most).size();
  for (size_t i = end; i > std::max(least, begin + most / 2); --i) {
    if (IsBreak(text[i - 1])) return i - 1;
  }
  return std::max(end, least);
}

}  // namespace

MarkedText MarkWords(std::string_view text, const QueryPlan::Marks& marks) {
  text = CutUtf8(text, kMaxSnippetText);
  return Marked(text, 0, text.size(), WordMarker(marks).Find(text));
}

MarkedText MakeSnippet(std::string_view text, const QueryPlan::Marks& marks, size_t most) {
  text = CutUtf8(text, kMaxSnippetText);
  const std::vector<MarkedWord> found = WordMarker(marks).Find(text);
  const size_t back = most / 4;
  size_t best = 0;
  std::pair<size_t, size_t> best_value = {0, 0};
  std::unordered_map<size_t, size_t> inside;  // words in the window, how often
  size_t next = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    for (; next < found.size() && found[next].end - found[i].begin <= most - back; ++next) ++inside[found[next].word];
    const std::pair<size_t, size_t> value = {inside.size(), next > i ? next - i : 0};
    if (value > best_value) {
      best_value = value;
      best = i;
    }
    if (next <= i) {
      next = i + 1;
      continue;
    }
    const auto word = inside.find(found[i].word);
    if (--word->second == 0) inside.erase(word);
  }
  const size_t begin = found.empty() ? 0 : BeginBefore(text, found[best].begin, back);
  const size_t least = found.empty() ? 0 : std::min(found[best].end, begin + 2 * most);
  const size_t end = EndAfter(text, begin, least, most);
  MarkedText pieces = Marked(text, begin, end, found);
  if (begin > 0) pieces.front().insert(0, "… ");
  if (end < text.size()) pieces.back() += " …";
  return pieces;
}

}  // namespace portolan
