// ForEachScheduled: all pages of a committed schedule, for tools that look at a crawl, running or not.
//
// Streamed from the queues of the calendar; a writer that commits meanwhile may remove files, and then this fails and
// the caller begins again with the newer manifest (disk/committed.h).
//
// Thread: one caller. Memory bound: that of disk/committed.h and one entry; pages that are out are in RAM one by one.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "disk/manifest.h"
#include "fresh/page_entry.h"
#include "io/env.h"

namespace portolan {

enum class ScheduledAt : uint8_t { kCalendar, kReady, kOut };

struct ScheduledPage {
  const PageEntry& entry;
  uint32_t due_s = 0;  // as it was filed, in the calendar's time; 0 of one that is out
  ScheduledAt at = ScheduledAt::kCalendar;
};

// `name` is RefreshOptions::name; `each` returns whether to continue.
Status ForEachScheduled(Env& env, const Manifest& manifest, const std::string& name,
                        const std::function<bool(const ScheduledPage& page)>& each);

}  // namespace portolan
