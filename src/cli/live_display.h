// LiveDisplay: a running crawl on the screen.
//
// On a terminal a block of lines that is drawn again and again in place; otherwise a log line every ten seconds.
// Everything goes to standard error: standard output is for results.
//
// Thread: one. Memory: one picture for each of the last ten seconds.

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

  explicit LiveDisplay(Style style) : style_(style) {}

  // As often as the caller likes; draws when it is time to.
  void Show(const CrawlProgress& progress);
  // The last picture; the block stays on the screen.
  void End(const CrawlProgress& progress);

  // The block as text, for a terminal of that width. For tests.
  static std::string Render(const CrawlProgress& progress, const CrawlRates& rates, int width);

 private:
  void Draw(const CrawlProgress& progress);
  CrawlRates Rates(const CrawlProgress& progress);

  const Style style_;
  std::deque<CrawlProgress> last_;  // about one a second
  double drawn_at_ = -1e9;          // session seconds
  int lines_ = 0;                   // on the screen, to be drawn over
};

}  // namespace portolan
