#include "cli/limits.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

namespace portolan {
namespace {

constexpr uint64_t kMostQuestions = 256;  // the frontier never has more questions at one time

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// 0: not a number, for example "max".
uint64_t NumberIn(std::string_view text) {
  uint64_t number = 0;
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), number);
  return error == std::errc{} ? number : 0;
}

uint64_t Smaller(uint64_t a, uint64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

}  // namespace

uint64_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

ConnectionPlan PlanConnections(uint64_t descriptors, uint64_t wanted, uint64_t loops, uint64_t queues) {
  loops = std::max<uint64_t>(loops, 1);
  const uint64_t files = kDescriptorsForFiles + 8 * loops + queues;
  if (descriptors <= files) return {};
  uint64_t room = descriptors - files;
  ConnectionPlan plan;
  // One is among the libraries' own.
  const uint64_t more_questions = std::min(kMostQuestions - 1, room / 8);
  plan.questions = 1 + more_questions;
  room -= more_questions;
  // As many again for idle connections, if there are enough.
  plan.connections = room >= wanted ? wanted : std::max<uint64_t>(1, room - room / 4);
  // Both engines of a loop keep their own.
  plan.idle = std::min(wanted, (room - plan.connections) / (2 * loops));
  return plan;
}

uint64_t MemoryLimit(const std::string& root) {
  uint64_t limit = 0;
  const std::string meminfo = ReadText(root + "/proc/meminfo");
  if (const size_t at = meminfo.find("MemTotal:"); at != std::string::npos) {
    limit = NumberIn(std::string_view(meminfo).substr(at + 9)) << 10;
  }
  // "0::/user.slice/…": the unified hierarchy.
  std::istringstream groups(ReadText(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    std::string group = line.substr(3);
    for (;;) {
      limit = Smaller(limit, NumberIn(ReadText(root + "/sys/fs/cgroup" + group + "/memory.max")));
      if (group.empty() || group == "/") break;
      group.resize(group.find_last_of('/'));
    }
  }
  return limit;
}

uint64_t SafeMemory(uint64_t limit) { return limit / 4 * 3; }

}  // namespace portolan
