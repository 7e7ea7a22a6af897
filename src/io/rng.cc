#include "io/rng.h"

#include <sys/random.h>

#include <cerrno>
#include <cstring>

namespace portolan {

Result<std::array<uint64_t, 4>> SystemRandomWords() {
  std::array<uint64_t, 4> words{};
  // So few bytes come whole or not at all; only a signal while the system gathers its first entropy may interrupt.
  ssize_t got = -1;
  do {
    got = ::getrandom(words.data(), sizeof(words), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(words))) {
    return Fail(ErrorCode::kIo, std::string("the system gives no random numbers: ") + std::strerror(errno));
  }
  return words;
}

Result<Rng> Rng::FromSystem() {
  ASSIGN_OR_RETURN(const auto state, SystemRandomWords());
  return Rng(state);  // all zero, which would stay so, has a probability of 2^-256
}

}  // namespace portolan
