// What the system says of this process: memory and processor time.

#pragma once

#include <cstdint>
#include <string>

namespace portolan {

uint64_t ResidentBytes();      // now; 0 where the system does not say
uint64_t PeakResidentBytes();  // ever
int64_t ProcessorNs();         // user and system time of all threads
int64_t ThreadProcessorNs();   // of this thread
std::string HostName();        // of this machine, as the archive's file names carry it

// Buffers from here on come from the system and go back to it, page by page, so that what is not written of them is no
// memory and what is freed is none either.
inline constexpr uint64_t kMappedBuffer = uint64_t{1} << 20;
// Makes malloc keep to that, and to few arenas: what the process holds then follows what it uses. Once, before threads.
void KeepMallocSmall();

// This thread's name, as top and perf show it; 15 bytes of it count.
void NameThread(const std::string& name);

}  // namespace portolan
