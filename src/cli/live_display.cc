#include "cli/live_display.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/log_display.h"
#include "base/units.h"

namespace portolan {
namespace {

constexpr double kDrawEvery = 0.2;  // seconds, on a terminal
constexpr double kLineEvery = 10;   // seconds, in a log
constexpr double kRateWindow = 10;  // seconds that the rates look back
constexpr size_t kShownUrls = 3;    // in flight, and awaited

int TerminalWidth() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) return size.ws_col;
  return 80;
}

std::string Count(uint64_t count) { return count < 100'000 ? std::to_string(count) : FormatCount(double(count)); }

// "12 dns, 3 tls": what went wrong, the most frequent first.
std::string Troubles(const CrawlCounts& counts) {
  std::vector<std::pair<uint64_t, std::string>> kinds;
  const auto add = [&](uint64_t count, std::string name) {
    if (count > 0) kinds.emplace_back(count, std::move(name));
  };
  for (int i = static_cast<int>(CountAs::kClientError); i < kCountAs; ++i) {
    add(counts.done[static_cast<size_t>(i)], std::string(CountAsName(static_cast<CountAs>(i))));
  }
  add(counts.denied, "robots");
  add(counts.unreachable, "robots unreachable");
  add(counts.retries, "tried again");
  std::sort(kinds.begin(), kinds.end(), std::greater<>());
  std::string text;
  for (auto& [count, name] : kinds) {
    std::replace(name.begin(), name.end(), '_', ' ');
    text += fmt::format("{}{} {}", text.empty() ? "" : " · ", Count(count), name);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

LiveDisplay::Style LiveDisplay::Choose(bool quiet) {
  if (quiet) return Style::kSilent;
  return isatty(STDERR_FILENO) == 1 ? Style::kTerminal : Style::kLines;
}

std::string LiveDisplay::Render(const CrawlProgress& progress, const CrawlRates& rates, int width) {
  const CrawlCounts& counts = progress.counts;
  std::string goal;
  if (progress.goal_pages > 0) {
    const double share = std::min(1.0, double(counts.pages()) / double(progress.goal_pages));
    const int cells = 20;
    const int full = static_cast<int>(share * cells);
    for (int i = 0; i < cells; ++i) goal += i < full ? "█" : "░";
    goal = fmt::format("{} {:.0f} % of {}", goal, share * 100, Count(progress.goal_pages));
  }
  const std::string eta = rates.eta_s >= 0 ? "about " + FormatDuration(rates.eta_s) + " left" : "";
  std::vector<std::string> lines;
  lines.push_back(fmt::format("{:<9} {}   {}", progress.state, FormatDuration(progress.seconds), eta));
  lines.push_back(
      fmt::format("pages     {:<10} {:>12}   {}", Count(counts.pages()), FormatRate(rates.pages_per_s), goal));
  lines.push_back(fmt::format("received  {:<10} {:>10}/s", FormatBytes(counts.wire_bytes),
                              FormatBytes(static_cast<uint64_t>(rates.bytes_per_s))));
  lines.push_back(fmt::format("queues    {} waiting · {} at robots.txt · {} unchecked · {} in flight",
                              Count(progress.waiting), Count(progress.at_gate), Count(progress.unanswered),
                              progress.in_flight));
  lines.push_back(fmt::format("known     {} URLs · {}{} hosts crawled · {} in memory · {} RSS",
                              Count(progress.urls_seen), Count(progress.hosts_crawled),
                              progress.hosts_counted ? "" : "+", Count(progress.hosts),
                              FormatBytes(progress.rss_bytes)));
  if (progress.continuous) {
    lines.push_back(fmt::format("visits    {} scheduled · {} due · {} under way · {} changed · {} same",
                                Count(progress.scheduled), Count(progress.due), Count(progress.visiting),
                                Count(progress.refresh.changed), Count(progress.refresh.same)));
  }
  for (size_t i = 0; i < std::min(progress.flying.size(), kShownUrls); ++i) {
    const FlyingUrl& url = progress.flying[i];
    const std::string since = url.seconds >= 1 ? fmt::format(" for {}", FormatDuration(url.seconds)) : "";
    lines.push_back(fmt::format("{}{}{}", i == 0 ? "fetching  " : "          ", url.url, since));
  }
  if (progress.slowest_waiting > 1) {
    lines.push_back(fmt::format("slowest   {}: {} waiting, one every {}", progress.slowest_host,
                                Count(progress.slowest_waiting), FormatDuration(progress.slowest_gap_s)));
  }
  for (size_t i = 0; i < std::min(progress.awaited.size(), kShownUrls); ++i) {
    lines.push_back(
        fmt::format("{}{}", i == 0 ? "waiting   for " : "          for ", AwaitedWords(progress.awaited[i])));
  }
  lines.push_back("troubles  " + Troubles(counts));
  for (size_t i = 0; i < progress.left_out.size(); ++i) {
    lines.push_back(fmt::format("{}{}", i == 0 ? "left out  " : "          ", LeftOutWords(progress.left_out[i])));
  }
  std::string text;
  for (const std::string& line : lines) {
    // Cut at the width, counting characters: a line that wraps would break drawing in place.
    size_t at = 0;
    for (int column = 0; at < line.size(); ++column) {
      size_t next = at + 1;
      while (next < line.size() && (static_cast<uint8_t>(line[next]) & 0xc0) == 0x80) ++next;
      if (column == width - 1) break;
      at = next;
    }
    text += line.substr(0, at);
    text += '\n';
  }
  return text;
}

LiveDisplay::LiveDisplay(Style style) : style_(style) {
  if (style_ == Style::kTerminal) SetLogPrelude([this] { return TakeAway(); });
}

LiveDisplay::~LiveDisplay() {
  if (style_ == Style::kTerminal) SetLogPrelude({});
}

std::string LiveDisplay::TakeAway() {
  std::string out = lines_ > 0 ? fmt::format("\r\x1b[{}A\x1b[J", lines_) : std::string();
  lines_ = 0;
  return out;
}

CrawlRates LiveDisplay::Rates(const CrawlProgress& progress) {
  if (last_.empty() || progress.session_seconds - last_.back().session_seconds >= 1) last_.push_back(progress);
  while (last_.size() > 2 && progress.session_seconds - last_[1].session_seconds > kRateWindow) last_.pop_front();
  CrawlProgress begin = last_.front();
  if (last_.size() < 2) {  // the first second: since the run began
    begin.session_seconds = 0;
    begin.counts = progress.session_start;
  }
  return RatesBetween(begin, progress);
}

void LiveDisplay::Draw(const CrawlProgress& progress) {
  drawn_at_ = progress.session_seconds;
  const CrawlRates rates = Rates(progress);
  if (style_ == Style::kLines) {
    const std::string waiting_for = progress.awaited.empty() ? "nothing" : AwaitedWords(progress.awaited.front());
    Log(LogLevel::kInfo, "crawl",
        {{"state", progress.state},
         {"pages", progress.counts.pages()},
         {"pages_per_s", rates.pages_per_s},
         {"waiting", progress.waiting},
         {"at_gate", progress.at_gate},
         {"in_flight", progress.in_flight},
         {"hosts", progress.hosts},
         {"received_bytes", progress.counts.wire_bytes},
         {"waiting_for", waiting_for},
         {"troubles", Troubles(progress.counts)}});
    return;
  }
  const std::string block = Render(progress, rates, TerminalWidth());
  const auto lock = LockLog();
  // Starts at the first column and erases everything below: the terminal may have written ^C there.
  std::string out = "\r";
  if (lines_ > 0) out += fmt::format("\x1b[{}A", lines_);
  lines_ = 0;
  for (size_t begin = 0; begin < block.size(); ++lines_) {
    const size_t end = block.find('\n', begin);
    out += block.substr(begin, end - begin) + "\x1b[K\n";
    begin = end + 1;
  }
  out += "\x1b[J";  // lines of a block that was longer
  std::fwrite(out.data(), 1, out.size(), stderr);
  std::fflush(stderr);
}

void LiveDisplay::Show(const CrawlProgress& progress) {
  if (style_ == Style::kSilent) return;
  const double every = style_ == Style::kTerminal ? kDrawEvery : kLineEvery;
  if (progress.session_seconds - drawn_at_ >= every) Draw(progress);
}

void LiveDisplay::End(const CrawlProgress& progress) {
  if (style_ != Style::kSilent) Draw(progress);
  const auto lock = LockLog();
  lines_ = 0;
}

}  // namespace portolan
