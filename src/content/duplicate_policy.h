// DuplicatePolicy: what happens to a page whose payload was captured before, and NearPolicy, to one whose text is
// nearly that of another (docs/content.md).

#pragma once

#include <cstdint>

namespace portolan {

enum class DuplicatePolicy : uint8_t {
  kKeep,  // as to any other page; the log says what it repeats
  kMark,  // it is archived as a revisit
  kSkip,  // and links that lead to what is known are not followed; of a mirror only samples are fetched
};

enum class NearPolicy : uint8_t {
  kKeep,  // nothing: it is not looked for
  kMark,  // the log says which page it nearly repeats
  kSkip,  // and where nearly all pages of a host are copies, its links within the host are not followed
};

}  // namespace portolan
