#include "cli/warc_input.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/units.h"
#include "io/clock.h"

namespace portolan {
namespace {

constexpr uint64_t kLarge = uint64_t{64} << 20;           // smaller files are read too quickly to need a progress line
constexpr int64_t kProgressNs = int64_t{250} * 1000'000;  // between two updates

}  // namespace

Result<WarcInput> WarcInput::Open(const std::string& path) {
  if (path == "-") return WarcInput(path, nullptr);
  ASSIGN_OR_RETURN(auto file, Env::Posix().Open(path, OpenMode::kRead));
  return WarcInput(path, std::move(file));
}

WarcInput::WarcInput(std::string path, std::unique_ptr<File> file) : path_(std::move(path)), file_(std::move(file)) {
  progress_ = file_ != nullptr && file_->Size() >= kLarge && ::isatty(STDERR_FILENO) == 1;
  start_ns_ = shown_ns_ = Clock::Real().NowNs();
}

WarcInput::~WarcInput() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

std::string WarcInput::Name() const { return path_.substr(path_.rfind('/') + 1); }

void WarcInput::ShowProgress(uint64_t offset) {
  const int64_t now = Clock::Real().NowNs();
  if (now - shown_ns_ < kProgressNs) return;
  shown_ns_ = now;
  shown_ = true;
  const double seconds = static_cast<double>(now - start_ns_) * 1e-9;
  fmt::print(stderr, "\r{}: {:.0f} % at {}\x1b[K", Name(),
             100.0 * static_cast<double>(offset) / static_cast<double>(file_->Size()),
             FormatRate(static_cast<double>(offset) / seconds, "B"));
}

ByteSource WarcInput::Source() {
  return [this](uint64_t offset, char* to, size_t count) -> Result<size_t> {
    if (file_ != nullptr) {
      if (progress_) ShowProgress(offset);
      return file_->ReadAt(offset, to, count);
    }
    const size_t got = std::fread(to, 1, count, stdin);
    if (got == 0 && std::ferror(stdin) != 0) return std::unexpected(Error::FromErrno(errno, "read standard input"));
    return got;
  };
}

}  // namespace portolan
