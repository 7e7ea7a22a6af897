// LiveDisplay: shows a running crawl on the terminal.
//
// On a terminal: a block of lines that is redrawn in place; otherwise a log line every ten seconds. Everything goes to
// standard error: standard output is for results.
//
// Log lines of any thread go above the block: it is erased before each line and drawn again below it.
//
// Thread: one, except for what LockLog guards. Memory: one CrawlProgress for each of the last ten seconds.

#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "crawl/progress.h"

namespace portolan {

class LiveDisplay {
 public:
  enum class Style : uint8_t { kTerminal, kLines, kSilent };

  // kTerminal if standard error is one, else kLines.
  static Style Choose(bool quiet);

  explicit LiveDisplay(Style style);
  ~LiveDisplay();
  LiveDisplay(const LiveDisplay&) = delete;
  LiveDisplay& operator=(const LiveDisplay&) = delete;

  // May be called as often as the caller likes; draws when it is time.
  void Show(const CrawlProgress& progress);
  // Draws the last state; the block stays on the screen.
  void End(const CrawlProgress& progress);

  // The block as text, for a terminal of that width. For tests.
  static std::string Render(const CrawlProgress& progress, const CrawlRates& rates, int width);

 private:
  void Draw(const CrawlProgress& progress);
  std::string
  TakeAway();  // the escape codes that move to the block's beginning and erase it. REQUIRES: LockLog is held.
  CrawlRates Rates(const CrawlProgress& progress);

  const Style style_;
  std::deque<CrawlProgress> last_;  // about one per second
  double drawn_at_ = -1e9;          // session seconds
  int lines_ = 0;                   // on the screen, to be drawn over; guarded by LockLog
};

}  // namespace portolan
