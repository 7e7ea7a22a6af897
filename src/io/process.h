// What the system reports about this process: memory and processor time.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace portolan {

uint64_t ResidentBytes();      // now; 0 where the system does not say
uint64_t PeakResidentBytes();  // ever
int64_t ProcessorNs();         // user and system time of all threads
int64_t ThreadProcessorNs();   // of this thread
std::string HostName();        // of this machine, as the archive's file names carry it

// This thread, and those that it starts later, work when others do not want to: the lowest priority for processors
// (nice 19), and for disks the lowest of those that are always served (best effort 7; I/O schedulers without priorities
// ignore it). An Error: the system refused.
Status LowerPriority();

// Buffers of this size and above are mapped from the system and returned to it page by page: pages that are not
// written, and freed buffers, use no memory.
inline constexpr uint64_t kMappedBuffer = uint64_t{1} << 20;
// Sets malloc to that threshold and to few arenas, so that the memory the process holds follows what it uses. Call
// once, before threads are started.
void KeepMallocSmall();

// This thread's name, as top and perf show it; 15 bytes of it count.
void NameThread(const std::string& name);

}  // namespace portolan
