// A fetch that was given up sends nothing more.
//
// After a socket is closed the system still sends what was written to it. When a lost network returns, a host would get
// these abandoned requests in addition to the current ones. ForgetUnsent makes the close a reset, which drops them.

#pragma once

namespace portolan {

// REQUIRES: it is closed next.
void ForgetUnsent(int fd);

}  // namespace portolan
