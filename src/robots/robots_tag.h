// RobotsTag: a page's directives for crawlers, in <meta name=robots> and in X-Robots-Tag fields.
//
// No RFC: the values are those that search engines document. Values for all agents and values for our agent add up, and
// the stricter always wins. Unknown directives are ignored. Values may hold parameters ("max-snippet: -1"); only
// unavailable_after's date is read.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace portolan {

class RobotsTag {
 public:
  // In records of the text log: never renumber.
  enum Flag : uint16_t {
    kNoIndex = 1,    // also set by "none"
    kNoFollow = 2,   // also set by "none"
    kNoArchive = 4,  // also "nocache"
    kNoSnippet = 8,
    kNoImageIndex = 16,
    kNoTranslate = 32,
    kIndexIfEmbedded = 64,
    kNoOdp = 128,  // historic: noodp, noydir
    kNoAi = 256,   // noai, noimageai, notrain…: not for the training of models
  };

  // `agent` is our product token, as in robots.txt.
  explicit RobotsTag(std::string_view agent) : agent_(agent) {}

  // A <meta> element's name and content. Names other than "robots" and our agent are ignored.
  void AddMeta(std::string_view name, std::string_view content);

  // The value of one X-Robots-Tag field. "agent: a, b" applies to that agent only, up to the next agent in the field.
  void AddField(std::string_view value);

  bool Has(Flag flag) const { return (flags_ & flag) != 0; }
  uint16_t flags() const { return flags_; }

  // The earliest date, in seconds since 1970, after which the page asks to be forgotten.
  std::optional<int64_t> unavailable_after() const { return unavailable_after_; }

 private:
  void AddDirective(std::string_view directive);
  // `agents`: may a name and a colon stand before directives?
  void AddList(std::string_view list, bool agents);

  std::string_view agent_;
  uint16_t flags_ = 0;
  std::optional<int64_t> unavailable_after_;
};

}  // namespace portolan
