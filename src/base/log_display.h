// For a display that draws a block in place on the terminal to which log lines go: lines and block must not be written
// over each other, whichever thread logs.
//
// Thread: any.

#pragma once

#include <functional>
#include <mutex>
#include <string>

namespace portolan {

// Held while a log line is written. The code that draws the block must hold it, too.
[[nodiscard]] std::unique_lock<std::mutex> LockLog();

// `prelude` returns what to write before each line (it erases the block); it is called while LockLog is held. An empty
// function: there is no display any more.
void SetLogPrelude(std::function<std::string()> prelude);

}  // namespace portolan
