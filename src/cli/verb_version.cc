// portolan version: which program is this.

#include <cstdio>

#include "cli/build_info.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"

namespace portolan {

int RunVersion(int argc, char** argv) {
  VerbApp app("version", "Prints version, commit and build type.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  std::puts("portolan " PORTOLAN_VERSION " commit " PORTOLAN_COMMIT " build " PORTOLAN_BUILD_TYPE);
  return kExitOk;
}

}  // namespace portolan
