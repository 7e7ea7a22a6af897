// DuplicatePolicy: what happens to a page whose payload was captured before (docs/content.md).

#pragma once

#include <cstdint>

namespace portolan {

enum class DuplicatePolicy : uint8_t {
  kKeep,  // as to any other page; the log says what it repeats
  kMark,  // it is archived as a revisit
  kSkip,  // and links that lead to what is known are not followed; of a mirror only samples are fetched
};

}  // namespace portolan
