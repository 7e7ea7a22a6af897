// portolan sim check, as src/cli/sim.cc calls it.

#pragma once

namespace portolan {

// argv[0] is the verb's own name.
int RunSimCheck(int argc, char** argv);

}  // namespace portolan
