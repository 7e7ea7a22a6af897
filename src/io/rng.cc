#include "io/rng.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace portolan {

Result<Rng> Rng::FromSystem() {
  std::array<uint64_t, 4> state{};
  // So few bytes come whole or not at all; only a signal while the system gathers its first entropy may interrupt.
  ssize_t got = -1;
  do {
    got = ::getrandom(state.data(), sizeof(state), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(state))) {
    return Fail(ErrorCode::kIo, std::string("the system gives no random numbers: ") + std::strerror(errno));
  }
  return Rng(state);  // all zero, which would stay so, has a probability of 2^-256
}

}  // namespace portolan
