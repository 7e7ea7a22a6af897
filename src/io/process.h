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

// This thread's name, as top and perf show it; 15 bytes of it count.
void NameThread(const std::string& name);

}  // namespace portolan
