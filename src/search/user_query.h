// UserQuery: what a person asks for, read from the words as they were typed.
//
//   whale "moby dick" -film        pages with whale and the phrase, without film
//   whale OR dolphin               either
//   site:example.org               of this host and the hosts below it (several: of any of them); -site: not of it
//   lang:de  type:application/pdf  in this language and its varieties; of this media type (-lang:, -type: not)
//   after:2024-05-01 before:2025   fetched, or published where the page gives a date, on this day or later; before it
//
// Everything else is words, so that a question never fails because it holds some sign. There are no wildcards: what a
// question costs is bounded by its words.
//
// Thread: a pure function. Bounds: kMaxQueryBytes, kMaxQueryWords (words of phrases count), kMaxQueryFilters. Any bytes
// give a query or a refusal (kBusy: too much of something; kInvalidArgument: empty, not UTF-8, or a date that is none).

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace portolan {

inline constexpr size_t kMaxQueryBytes = 2048;
inline constexpr size_t kMaxQueryWords = 32;
inline constexpr size_t kMaxQueryFilters = 16;

struct UserQuery {
  struct Piece {
    std::string text;     // words between two blanks, or between quotes
    bool phrase = false;  // in quotes: next to each other, in this order
    bool operator==(const Piece&) const = default;
  };
  struct Filter {
    enum class Kind : uint8_t { kSite, kLanguage, kType } kind;
    std::string value;  // lower case; of a site its host
    bool excluded = false;
    bool operator==(const Filter&) const = default;
  };

  std::vector<std::vector<Piece>> wanted;  // of each list one piece, in all of them
  std::vector<Piece> unwanted;
  std::vector<Filter> filters;
  std::string after;   // "20240501": this time or later; empty: any
  std::string before;  // earlier than this
  bool operator==(const UserQuery&) const = default;

  static Result<UserQuery> Parse(std::string_view text);
};

}  // namespace portolan
