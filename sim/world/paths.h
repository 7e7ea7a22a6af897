// Paths: the path and query of every place, and the way back.
//
// A page's number is the last run of digits in its path; words, directories and the form around it are drawn from host
// and number, so a path that differs in one byte from what would be written is not a page. All paths are in the form
// that the WHATWG URL standard gives them: nothing to escape, nothing to resolve.
//
// Restricted sections: some pages are in sections that rules of robots.txt may name. A section has an inside, which its
// rule forbids, and an outside, which looks similar and is not meant by the rule; so truth follows from the place.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/world/atlas.h"

namespace portolan::sim {

// Index of the rule of robots.txt (host_robots.cc) that speaks of a page.
inline constexpr int kSections = 8;
inline constexpr int kTrapSection = kSections;  // all traps of a host together
struct Section {
  int8_t index = -1;    // 0 … kSections-1; -1: no rule speaks of the page
  bool inside = false;  // the rule forbids it
};

class Paths {
 public:
  Paths(const WorldParams& params, uint64_t seed, const Atlas& atlas);

  Section SectionOf(uint32_t content, uint64_t page) const;

  // `content` is HostFacts::content. Writes at most kMaxPagePath bytes and returns their end.
  static constexpr size_t kMaxPagePath = 128;
  char* WritePage(char* to, uint32_t content, uint64_t page) const;
  void AppendPage(std::string& out, uint32_t content, uint64_t page) const;
  // Traps: their states are described below.
  void AppendTrap(std::string& out, uint32_t content, PlaceClass trap, uint64_t state) const;
  void AppendMaze(std::string& out, uint32_t content, uint64_t state) const;  // maze.cc
  static void AppendSpam(std::string& out, HostId host, uint64_t page);
  static void AppendRobots(std::string& out, uint64_t number);
  static void AppendSitemap(std::string& out, bool gz, uint64_t part);

  // The place on that host; kNothing for what is not exactly one of the above.
  Place Find(HostId host, std::string_view path) const;

  // Sitemap files of a host: 0 for none, else /sitemap.xml and perhaps parts 1 … n-1.
  uint64_t Sitemaps(uint32_t hid) const;
  // Redirects before robots.txt is there.
  uint64_t RobotsHops(uint32_t hid) const;

 private:
  Section SectionOf(uint32_t content, uint64_t page, uint64_t draw) const;
  Place FindTrap(HostId host, uint32_t content, std::string_view path) const;
  Place FindMaze(HostId host, uint32_t content, std::string_view path) const;
  uint64_t PageOfPath(uint32_t content, std::string_view path) const;

  uint64_t seed_;
  uint64_t path_row_;
  double restricted_;
  uint64_t sitemap_entries_;
  uint64_t spam_pages_;
  uint64_t maze_words_;
  const Atlas& atlas_;
};

// Trap states.
inline constexpr uint64_t kLoopDepth = 300;  // a symlink loop ends where file systems say ELOOP; deeper is kNothing
inline constexpr int kQueryBits = 3;         // a growing query: a leading 1, then three bits per value
inline constexpr uint64_t kQuerySteps = 20;
inline constexpr uint64_t kSessionItems = 256;  // items of a shop: the low eight bits; the session stands above

}  // namespace portolan::sim
