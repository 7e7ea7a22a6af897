// PatternSet: which of many regular expressions are found in a URL, at a cost that hardly grows with their number.
//
// One RE2::Set of all of them is not enough: its automaton has a state for each set of patterns that may still match,
// which for ten thousand patterns without an anchor are too many to keep, and building them takes milliseconds per URL
// (`bench rules` measures it). So most patterns never run: each one that needs certain literal texts ("/calendar/") is
// tried only on URLs that hold them. RE2 finds out what a pattern needs (FilteredRE2), and AtomFinder which of these
// texts a URL holds. Only the patterns that need no text are in an RE2::Set, which runs on each URL; a few patterns are
// in one set altogether.
//
// RE2 takes linear time whatever the pattern (R. Cox, 2007, 2010); it has no back references and no look-around.
//
// Thread: const after Create, any number of threads.
// Memory bound: patterns are refused when their programs need more than kPatternMemory together (about 3 KB for a usual
// pattern). Automata of single patterns are built when they run, within a share of kPatternMemory that falls with
// their number; the set's within kSetMemory, and at the bound RE2 begins a new one, which takes longer.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan {

inline constexpr int64_t kPatternMemory = int64_t{192} << 20;
inline constexpr int64_t kSetMemory = int64_t{32} << 20;
inline constexpr size_t kMaxPatternBytes = 4000;  // of one pattern

class PatternSet {
 public:
  // Empty for a pattern that can be used; otherwise what is wrong with it: "is not a regular expression: missing )".
  static std::string WhatIsWrong(std::string_view pattern);

  // Patterns that WhatIsWrong takes. kBusy: they need too much memory together; `culprit` is the first that does not
  // fit.
  static Result<PatternSet> Create(const std::vector<std::string>& patterns, size_t* culprit = nullptr);
  PatternSet(PatternSet&&) noexcept;
  PatternSet& operator=(PatternSet&&) noexcept;
  ~PatternSet();

  // The indexes of the patterns found in `url`, in ascending order, go to `found`, which is cleared.
  void Find(std::string_view url, std::vector<int>& found) const;

  size_t size() const { return size_; }
  size_t always() const;  // patterns that need no literal text: they are in the set that runs on each URL

 private:
  struct Parts;
  explicit PatternSet(std::unique_ptr<Parts> parts, size_t size);

  std::unique_ptr<Parts> parts_;
  size_t size_ = 0;
};

}  // namespace portolan
