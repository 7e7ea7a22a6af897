// Mapped files that shrink while they are read. The system answers the read of a page that is no longer in the file
// with SIGBUS, which ends a program; a server should not end because a file was damaged.
//
// From SurviveMapFaults on, such a page is replaced by one of zeros and counted, and the read goes on: what it reads is
// wrong and must be expected to be, as with any bytes from a disk. Whoever reads mapped files compares MapFaults before
// and after, and does not use what was read if it differs.
//
// Thread: any. The handler only makes system calls that it may. A SIGBUS of another cause ends the program as before.

#pragma once

#include <cstdint>

namespace portolan {

void SurviveMapFaults();  // for the whole process; once is enough
uint64_t MapFaults();     // pages that were replaced so far

}  // namespace portolan
