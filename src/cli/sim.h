// The parts of the verb `sim`, one function each; the table is in sim.cc.

#pragma once

namespace portolan {

int RunSimCheck(int argc, char** argv);
int RunSimServe(int argc, char** argv);

}  // namespace portolan
