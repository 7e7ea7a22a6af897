// A fetch that was given up leaves no ghost.
//
// The system goes on sending what was written to a socket after it is closed: when a network that was gone is back, a
// host would get requests that nobody waits for any more, beside those that are made by then. A socket that is told to
// forget is reset instead.

#pragma once

namespace portolan {

// REQUIRES: it is closed next.
void ForgetUnsent(int fd);

}  // namespace portolan
