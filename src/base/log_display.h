// For a display that draws a block in place on the terminal to which log lines go: lines and block must not be written
// over each other, whichever thread logs.
//
// Thread: any.

#pragma once

#include <functional>
#include <mutex>
#include <string>

namespace portolan {

// Held while a log line is written. Whoever draws holds it, too.
[[nodiscard]] std::unique_lock<std::mutex> LockLog();

// `prelude` says what is to be written before each line (what takes the block away); it is called while LockLog is
// held. An empty function: there is no display any more.
void SetLogPrelude(std::function<std::string()> prelude);

}  // namespace portolan
