#include "fetch/forget_unsent.h"

#include <sys/socket.h>

namespace portolan {

void ForgetUnsent(int fd) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

}  // namespace portolan
