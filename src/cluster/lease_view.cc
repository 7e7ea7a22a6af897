#include "cluster/lease_view.h"

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"

namespace portolan {
namespace {

constexpr size_t kMaxOpenWrites = 8;

}  // namespace

LeaseView::LeaseView(const LeaseOptions& options) : options_(options), shards_(options.shards) {
  CHECK(options.Valid());
  for (Shard& shard : shards_) shard.wanted = options.wants_all;
  first_ = static_cast<uint32_t>(Mix64(options.holder) % options.shards);
}

void LeaseView::EndIfOver(Shard& shard, int64_t now_ns) const {
  if (shard.held_until != 0 && now_ns >= shard.held_until) shard.held_until = 0;
}

std::optional<uint64_t> LeaseView::Holds(uint32_t shard, int64_t now_ns) const {
  if (now_ns >= shards_[shard].held_until) return std::nullopt;
  return shards_[shard].epoch;
}

uint32_t LeaseView::HeldCount(int64_t now_ns) const {
  uint32_t count = 0;
  for (uint32_t i = 0; i < shards_.size(); ++i) count += Holds(i, now_ns) ? 1 : 0;
  return count;
}

bool LeaseView::MayClaim(const Shard& shard, int64_t now_ns) const {
  if (!shard.wanted || !shard.known || HeldCount(now_ns) >= options_.capacity) return false;
  if (!shard.record || shard.record->holder == 0 || shard.record->holder == options_.holder) return true;
  if (options_.dead_holder != 0 && shard.record->holder == options_.dead_holder) return true;
  return shard.unchanged >= options_.unchanged;
}

LeaseCommand LeaseView::Write(uint32_t index, uint64_t epoch, bool free, int64_t now_ns) {
  Shard& shard = shards_[index];
  shard.busy = true;
  shard.sent_ns = now_ns;
  shard.written = {.epoch = epoch,
                   .holder = free ? 0 : options_.holder,
                   .beat = ++beat_,
                   .node = free ? std::string() : options_.node};
  shard.open.emplace_back(beat_, now_ns);
  if (shard.open.size() > kMaxOpenWrites) shard.open.pop_front();
  return {.kind = LeaseCommand::Kind::kWrite, .shard = index, .expected = shard.revision, .record = shard.written};
}

std::vector<LeaseCommand> LeaseView::Turn(int64_t now_ns) {
  std::vector<LeaseCommand> commands;
  uint32_t claims = 0;
  for (uint32_t i = 0; i < shards_.size(); ++i) {
    const uint32_t index = (first_ + i) % options_.shards;
    Shard& shard = shards_[index];
    if (shard.busy || now_ns < shard.next_ns) continue;
    EndIfOver(shard, now_ns);
    const bool ours = shard.record && shard.record->holder == options_.holder;
    if (shard.known && shard.held_until != 0) {
      commands.push_back(Write(index, shard.epoch, false, now_ns));
    } else if (shard.known && ours && !shard.wanted) {
      commands.push_back(Write(index, shard.record->epoch, true, now_ns));
    } else if (MayClaim(shard, now_ns) && HeldCount(now_ns) + claims < options_.capacity) {
      ++claims;
      commands.push_back(Write(index, shard.record ? shard.record->epoch + 1 : 1, false, now_ns));
    } else {
      shard.busy = true;
      commands.push_back({.kind = LeaseCommand::Kind::kRead, .shard = index, .expected = 0, .record = {}});
    }
  }
  return commands;
}

int64_t LeaseView::NextTurn() const {
  int64_t next = INT64_MAX;
  for (const Shard& shard : shards_) {
    if (!shard.busy) next = std::min(next, shard.next_ns);
  }
  return next;
}

void LeaseView::Taken(Shard& shard, const LeaseRecord& record, int64_t sent_ns, int64_t now_ns) {
  const bool renewal = record.epoch == shard.epoch;
  EndIfOver(shard, now_ns);
  // An ended belief stays ended: only a newer epoch begins one.
  if (renewal && shard.held_until == 0) return;
  if (record.epoch < shard.epoch) return;
  const int64_t until = sent_ns + options_.hold_ns;
  if (!renewal && (now_ns >= until || !shard.wanted)) {
    shard.epoch = record.epoch;  // it came too late to believe in
    shard.held_until = 0;
    return;
  }
  shard.epoch = record.epoch;
  shard.held_until = std::max(shard.held_until, until);
}

void LeaseView::Read(uint32_t index, uint64_t revision, const std::optional<LeaseRecord>& record, int64_t now_ns) {
  Shard& shard = shards_[index];
  shard.busy = false;
  EndIfOver(shard, now_ns);
  if (shard.known && shard.revision == revision) {
    ++shard.unchanged;
  } else {
    shard.unchanged = 1;
  }
  shard.known = true;
  shard.revision = revision;
  shard.record = record;
  shard.next_ns = now_ns + options_.look_ns;
  if (record && record->holder == options_.holder) {
    const auto open = std::ranges::find(shard.open, record->beat, &std::pair<uint64_t, int64_t>::first);
    if (open != shard.open.end()) {
      const int64_t sent_ns = open->second;
      shard.open.erase(shard.open.begin(), open + 1);
      Taken(shard, *record, sent_ns, now_ns);
    }
    shard.next_ns = now_ns;  // renew, claim anew or give back
    if (shard.wanted && shard.held_until == 0 && HeldCount(now_ns) >= options_.capacity) {
      shard.next_ns = now_ns + options_.look_ns;
    }
  } else {
    shard.held_until = 0;  // somebody else's, or nobody's
    if (MayClaim(shard, now_ns)) shard.next_ns = now_ns;
  }
}

void LeaseView::ReadFailed(uint32_t index, int64_t now_ns) {
  Shard& shard = shards_[index];
  shard.busy = false;
  shard.unchanged = 0;
  shard.next_ns = now_ns + options_.look_ns;
  EndIfOver(shard, now_ns);
}

void LeaseView::Written(uint32_t index, WriteOutcome outcome, uint64_t revision, int64_t now_ns) {
  Shard& shard = shards_[index];
  shard.busy = false;
  if (outcome != WriteOutcome::kTaken) {
    // What stands there decides: our belief goes on until it ends or a read shows another holder.
    shard.known = false;
    shard.unchanged = 0;
    shard.next_ns = now_ns + options_.renew_ns / 4;
    EndIfOver(shard, now_ns);
    return;
  }
  std::erase_if(shard.open, [&](const auto& open) { return open.first <= shard.written.beat; });
  shard.revision = revision;
  shard.record = shard.written;
  shard.unchanged = 1;
  shard.known = true;
  if (shard.written.holder != 0) Taken(shard, shard.written, shard.sent_ns, now_ns);
  shard.next_ns = shard.held_until != 0 ? shard.sent_ns + options_.renew_ns : now_ns + options_.look_ns;
}

void LeaseView::Release(uint32_t index, int64_t now_ns) {
  Shard& shard = shards_[index];
  shard.wanted = false;
  shard.held_until = 0;
  shard.next_ns = now_ns;
}

void LeaseView::Want(uint32_t index) { shards_[index].wanted = true; }

}  // namespace portolan
