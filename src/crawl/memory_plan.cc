#include "crawl/memory_plan.h"

#include <algorithm>

#include "reputation/star.h"

namespace portolan {
namespace {

constexpr uint64_t kPerLoop = uint64_t{256} << 20;   // of the total, per loop beyond the first
constexpr uint64_t kPerQueue = uint64_t{160} << 10;  // of BEAST, in use (budget/beast.h)
constexpr uint64_t kMostIndex = uint64_t{64} << 20;  // more does not make sorting an index faster
constexpr uint64_t kMostLog = uint64_t{8} << 20;
constexpr uint64_t kMostNames = uint64_t{20} << 20;    // 100,000 names
constexpr uint64_t kMostSessions = uint64_t{8} << 20;  // per loop: 4096 sessions

}  // namespace

MemoryPlan MemoryPlan::Make(const MemoryWishes& wishes) {
  MemoryPlan plan;
  if (wishes.budget_queues > 0) {
    plan.beast = std::min(wishes.budget_queues * kPerQueue, wishes.total / 8);
    plan.star = std::max((wishes.total - plan.beast) / 32, StarOptions::kMinMemory);
  }
  const uint64_t part = (wishes.total - plan.beast - plan.star) / 64;
  plan.loops = std::clamp<size_t>(wishes.loops, 1, std::max<uint64_t>(1, wishes.total / kPerLoop));

  plan.answers = 17 * part;
  plan.pages = 12 * part;
  plan.seen = 9 * part;
  plan.frontier = 6 * part;
  plan.snapshot = 6 * part;
  plan.gate = 4 * part;
  if (wishes.content_seen) {
    plan.content = 2 * part;
    plan.answers -= part;
    plan.seen -= part;
  }
  if (wishes.near_seen) {
    plan.near = part;
    plan.seen -= part;
  }
  if (wishes.continuous) {
    plan.fresh = 2 * part;
    plan.seen -= 2 * part;
  }
  plan.tables = part;
  plan.indexes = std::min(part, kMostIndex * wishes.directories);
  plan.log = std::min(part, kMostLog);
  plan.names = std::min(part, kMostNames);
  plan.sessions = std::min(part, kMostSessions * plan.loops);
  plan.connections = 2 * part;
  plan.slack = 3 * part;

  // The body that each loop may always finish comes out of a quarter of the answers' memory (receive_room.h). A page
  // that is being parsed needs at most: its decoded form, three times the HTML for its charset, as much for the strings
  // in it, its links twice; then its record twice.
  const uint64_t page = plan.pages / plan.loops;
  plan.max_body = std::min({wishes.max_body, plan.answers / 4 / plan.loops, page / 3});
  plan.max_decoded = std::min(wishes.max_decoded, page / 3);
  plan.max_html = std::min(wishes.max_decoded, page / 12);
  plan.max_link_bytes = page / 16;
  return plan;
}

uint64_t MemoryPlan::Sum() const {
  return seen + content + near + fresh + gate + frontier + snapshot + star + beast + tables + answers + pages +
         indexes + log + names + sessions + connections + slack;
}

}  // namespace portolan
