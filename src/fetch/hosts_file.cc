#include "fetch/hosts_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "base/ascii.h"
#include "base/log.h"

namespace portolan {
namespace {

constexpr size_t kMaxAddresses = 64;  // of a name

std::string_view WithoutLastDot(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

std::string_view TakeWord(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t\r\f\v";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

void TakeLine(std::string_view line, HostAddresses& out) {
  line = line.substr(0, line.find('#'));
  const std::string_view first = TakeWord(line);
  const auto address = first.starts_with('[') ? std::nullopt : Address::Parse(first);
  if (!address) return;
  for (std::string_view word = TakeWord(line); !word.empty(); word = TakeWord(line)) {
    std::string name = LowerCase(WithoutLastDot(word));
    if (name.empty()) continue;
    std::vector<Address>& known = out[std::move(name)];
    if (known.size() < kMaxAddresses && std::ranges::find(known, *address) == known.end()) known.push_back(*address);
  }
}

}  // namespace

HostAddresses ParseHosts(std::string_view text) {
  HostAddresses by_name;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    TakeLine(text.substr(0, end), by_name);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return by_name;
}

HostsFile::Stamp HostsFile::StampOf(const std::string& path) {
  struct stat found{};
  if (path.empty() || stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  return {.device = found.st_dev,
          .inode = found.st_ino,
          .size = static_cast<uint64_t>(found.st_size),
          .changed_ns = found.st_mtim.tv_sec * kSecond + found.st_mtim.tv_nsec,
          .there = true};
}

const std::vector<Address>* HostsFile::Find(std::string_view name, int64_t now_ns) {
  if (now_ns >= look_again_ns_) {
    look_again_ns_ = now_ns + kLookAgainNs;
    const Stamp stamp = StampOf(path_);
    if (stamp != stamp_) {
      stamp_ = stamp;
      Read();
    }
  }
  if (by_name_.empty()) return nullptr;
  const auto found = by_name_.find(std::string(WithoutLastDot(name)));
  return found == by_name_.end() ? nullptr : &found->second;
}

void HostsFile::Read() {
  by_name_.clear();
  if (!stamp_.there) return;
  std::string text(std::min<uint64_t>(stamp_.size, kMaxBytes) + 1, '\0');
  std::ifstream file(path_, std::ios::binary);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxBytes) {
    Log(LogLevel::kWarn, "the hosts file is too long; its later lines do not count",
        {{"path", path_}, {"bytes read", uint64_t{kMaxBytes}}});
    text.resize(text.rfind('\n', kMaxBytes - 1) + 1);  // whole lines; none: nothing
  }
  by_name_ = ParseHosts(text);
}

bool IsLocalhost(std::string_view name) {
  constexpr std::string_view kLocalhost = "localhost";
  name = WithoutLastDot(name);
  return name == kLocalhost || (name.ends_with(kLocalhost) && name[name.size() - kLocalhost.size() - 1] == '.');
}

}  // namespace portolan
