// UrlText: made-up URLs that look and compress like real ones, each a function of a few numbers.
//
// Nothing is stored but a vocabulary of 4,096 words (64 KiB). A site has a style (blog, shop, forum, wiki, newspaper,
// media server) that decides the shape of its paths; numbers close to each other share dates and sections, as pages
// published one after the other do. Shapes and word lengths were chosen so that 64 KiB blocks of a crawl's links
// compress like those of real pages.
//
// All writers put bytes at `to`, of which there must be kMaxUrl, and return the end.
// Thread: const members from any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace portolan::bench {

inline constexpr size_t kMaxUrl = 512;

class UrlText {
 public:
  UrlText();

  // "https://www.harbour-lines.org": different hosts have different text.
  char* Host(uint64_t host, char* to) const;

  // Path of the index-th navigation link of a site; index 0 is "/".
  char* Navigation(uint64_t host, uint32_t index, char* to) const;

  // Path (and query) of the number-th page of a site.
  char* Content(uint64_t host, uint64_t number, char* to) const;

 private:
  // Sixteen bytes so that a word is copied by two moves, whatever its length.
  struct Word {
    char text[15];
    uint8_t length;
  };
  static constexpr uint32_t kWords = 4096;

  char* PutWord(uint32_t index, char* to) const;
  // Common words (low index) come often: the square of a uniform number.
  char* PutSkewedWord(uint64_t random16, char* to) const;
  char* PutSlug(uint64_t random, uint32_t words, char separator, char* to) const;

  std::array<Word, kWords> words_;
};

}  // namespace portolan::bench
