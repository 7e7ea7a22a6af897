// What the system says of this process: memory and processor time.

#pragma once

#include <cstdint>
#include <string>

namespace portolan {

uint64_t ResidentBytes();      // now; 0 where the system does not say
uint64_t PeakResidentBytes();  // ever
int64_t ProcessorNs();         // user and system time of all threads
std::string HostName();        // of this machine, as the archive's file names carry it

}  // namespace portolan
