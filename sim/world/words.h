// The words that names, paths and texts are made of.
//
// Words of names and paths hold no digit and begin with none of the directories that robots.txt speaks of (paths.h).

#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace portolan::sim {

std::span<const std::string_view> PathWords();  // 128
std::span<const std::string_view> HostWords();  // 16: blog, news …
std::span<const std::string_view> SpamWords();  // 32
// Of mazes: list 0 or 1, 64 each, in groups of eight for each kind. No word is in both, or among PathWords.
std::span<const std::string_view> MazeWords(uint64_t list);

struct Language {
  std::string_view tag;                        // "en"
  std::string_view blank;                      // between words; empty for scripts without blanks
  std::string_view stop;                       // end of a sentence
  std::span<const std::string_view> words;     // UTF-8
  std::span<const std::string_view> charsets;  // the first is utf-8
};
std::span<const Language> Languages();

}  // namespace portolan::sim
