// How far a fetch has come. Which limit applies, and what an end means, depends on it.

#pragma once

#include <cstdint>

namespace portolan {

enum class TransferPhase : uint8_t {
  kConnecting,  // until TCP and TLS are established
  kAsked,       // the request is being sent, no line of an answer has arrived
  kHead,        // some lines, head not whole
  kBody,        // head whole
};

}  // namespace portolan
