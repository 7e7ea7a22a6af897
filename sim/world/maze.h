// Mazes: traps of eight kinds, endless, whose words and forms are drawn for each host from the seed.
//
// What a crawler can know of a maze before it has read any of it is nothing: a calendar may be "/dates/2031/07/",
// "/agenda?y=2031&m=7" or "/when/20310714", a session "/walk/<token>/page" or "?guestid=<token>". Their pages are what
// such pages are on the web:
//
//   kind            URLs                                           what they show
//   repeat          /a/b/a/b/a/file-3.html                         eight files, whatever the depth
//   calendar        days or months without end                     an empty calendar; a few words differ
//   session_path    /a-<token>/<path> or <path>;a=<token>          that page, with links that carry other tokens
//   session_query   <path of a page>?a=<token>                     likewise
//   growing         /a?b=x&b=y&b=z or /a?b=x,y,z                   a list of the same items, a few words differ
//   facets          /a?b=2&c=5&d=1, any combination of six         likewise
//   soft404         /a/word-<token>                                "not found", status 200, links to more of them
//   redirect        /a/<number>                                    302 to another one
//
// All of them but redirects link to the home page and to three pages of the host, so a crawler does find pages there.
//
// A state is the kind in its four highest bits and what the kind needs below. Pure functions.

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "sim/world/draw.h"
#include "sim/world/web.h"

namespace portolan::sim {

enum class MazeKind : uint8_t {
  kRepeat,
  kCalendar,
  kSessionPath,
  kSessionQuery,
  kGrowing,
  kFacets,
  kSoft404,
  kRedirect,
};
inline constexpr unsigned kMazeKinds = 8;
std::string_view MazeKindName(MazeKind kind);

inline constexpr unsigned kMazeShift = 60;
inline constexpr uint64_t kMazeMask = (uint64_t{1} << kMazeShift) - 1;
inline constexpr uint64_t kMazeToken = (uint64_t{1} << 36) - 1;  // nine hexadecimal digits
inline constexpr uint64_t kMazeFiles = 8;
inline constexpr uint64_t kMazeDepth = 300;  // of repeated segments
inline constexpr unsigned kMazeSteps = 18;   // of a growing query, three bits each
inline constexpr unsigned kMazeFacets = 6;   // three bits each; 0: not there

constexpr MazeKind MazeKindOf(uint64_t state) { return static_cast<MazeKind>(state >> kMazeShift); }
constexpr uint64_t MazeState(MazeKind kind, uint64_t rest) {
  return uint64_t{static_cast<uint8_t>(kind)} << kMazeShift | (rest & kMazeMask);
}
// Of a session: the token above the page's number.
constexpr uint64_t MazeSession(MazeKind kind, uint64_t draw, uint64_t page) {
  return MazeState(kind, (draw & kMazeToken) << 24 | (page & 0xffffff));
}
constexpr uint64_t NextMazeRedirect(uint64_t state) {
  return MazeState(MazeKind::kRedirect, Mix64(state) & kMazeToken);
}

// What a state shows.
struct MazeLook {
  uint64_t text = 0;   // seed of its text
  uint64_t twist = 0;  // not 0: a few words differ
  bool page = false;   // it is the host's page `number`
  uint64_t number = 0;
};
MazeLook LookOfMaze(const Web& web, uint32_t content, uint64_t state);

// Where links from pages lead.
inline uint64_t MazeEntry(const Web& web, uint32_t content, MazeKind kind, uint64_t draw) {
  switch (kind) {
    case MazeKind::kRepeat:
      return MazeState(kind, draw % kMazeFiles);
    case MazeKind::kCalendar:
      return MazeState(kind, 20'000 + draw % 600);  // days since 1970
    case MazeKind::kSessionPath:
    case MazeKind::kSessionQuery:
      return MazeSession(kind, draw, Below(Mix64(draw), web.atlas.Pages(content)));
    case MazeKind::kGrowing:
      return MazeState(kind, 8 | (draw & 7));  // a leading 1, then three bits per value
    case MazeKind::kFacets:
      return MazeState(kind, uint64_t{1 + draw % 7} << 3 * (draw / 8 % kMazeFacets));
    case MazeKind::kSoft404:
    case MazeKind::kRedirect:
      return MazeState(kind, draw & kMazeToken);
  }
  return 0;
}

// Where its own links lead.
template <typename Each>
void MazeSteps(const Web& web, uint32_t content, uint64_t state, uint64_t& row, Each&& each) {
  const MazeKind kind = MazeKindOf(state);
  const uint64_t rest = state & kMazeMask;
  switch (kind) {
    case MazeKind::kRepeat: {
      const uint64_t depth = rest / kMazeFiles;
      for (uint64_t file = 0; file < kMazeFiles; file += 3) each(MazeState(kind, depth * kMazeFiles + file));
      if (depth < kMazeDepth) each(MazeState(kind, (depth + 1) * kMazeFiles + NextDraw(row) % kMazeFiles));
      return;
    }
    case MazeKind::kCalendar:
      if (rest > 31) each(MazeState(kind, rest - 31));
      for (const uint64_t step : {1, 31, 365}) each(MazeState(kind, rest + step));
      return;
    case MazeKind::kSessionPath:
    case MazeKind::kSessionQuery:
      for (int i = 0; i < 6; ++i) {
        const uint64_t token = NextDraw(row);
        each(MazeSession(kind, token, Below(NextDraw(row), web.atlas.Pages(content))));
      }
      return;
    case MazeKind::kGrowing:
      if (rest >> (3 * kMazeSteps) == 0) {
        for (uint64_t value = 0; value < 8; value += 2) each(MazeState(kind, rest << 3 | value));
      }
      return;
    case MazeKind::kFacets:
      for (unsigned facet = 0; facet < kMazeFacets; ++facet) {
        const uint64_t others = rest & ~(uint64_t{7} << 3 * facet);
        each(MazeState(kind, others | (1 + NextDraw(row) % 7) << 3 * facet));
      }
      return;
    case MazeKind::kSoft404:
    case MazeKind::kRedirect:
      for (int i = 0; i < 5; ++i) each(MazeState(kind, NextDraw(row) & kMazeToken));
      return;
  }
}

}  // namespace portolan::sim
