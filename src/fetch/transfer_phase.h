// How far a fetch has come. Which limit applies, and what an end means, depends on it.

#pragma once

#include <cstdint>

namespace portolan {

enum class TransferPhase : uint8_t {
  kConnecting,  // until TCP and TLS stand
  kAsked,       // the request goes out, no line of an answer is here
  kHead,        // some lines, head not whole
  kBody,        // head whole
};

}  // namespace portolan
