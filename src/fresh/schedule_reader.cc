#include "fresh/schedule_reader.h"

#include <fmt/core.h>

#include <optional>

#include "disk/committed.h"
#include "disk/queue.h"
#include "fresh/calendar.h"
#include "fresh/checkpoint_records.h"

namespace portolan {

Status ForEachScheduled(Env& env, const Manifest& manifest, const std::string& name,
                        const std::function<bool(const ScheduledPage& page)>& each) {
  bool more = true;
  bool sound = true;
  const auto broken = [&name]() -> Status { return Fail(ErrorCode::kCorrupt, name + ": an entry cannot be read"); };
  for (size_t i = 0; i < Calendar::kQueues && more; ++i) {
    ASSIGN_OR_RETURN(const ManifestSection* queue,
                     manifest.Find(fmt::format("{}-calendar-q{:02}", name, i), DiskQueue::kKind));
    if (queue == nullptr || queue->files.empty()) continue;
    RETURN_IF_ERROR(ForEachQueued(env, manifest.dir(), *queue, [&](std::string_view record) {
      const std::optional<Calendar::Entry> filed = Calendar::Decode(record);
      const std::optional<PageEntry> entry = filed ? DecodePageEntry(filed->bytes) : std::nullopt;
      sound = entry.has_value();
      more = sound && each({*entry, filed->due_s, i == 0 ? ScheduledAt::kReady : ScheduledAt::kCalendar});
      return more;
    }));
    if (!sound) return broken();
  }
  if (!more) return {};
  CheckpointRecords out(env, manifest.dir(), name + "-out", {});
  return out.Restore(manifest, [&](std::string_view record) -> Status {
    if (!more) return {};
    if (record.size() < sizeof(uint64_t)) return broken();
    const std::optional<PageEntry> entry = DecodePageEntry(record.substr(sizeof(uint64_t)));
    if (!entry) return broken();
    more = each({*entry, 0, ScheduledAt::kOut});
    return {};
  });
}

}  // namespace portolan
