// portolan config: the settings in force, as a TOML file that can be edited and given back with --config.

#include <cstdio>

#include "cli/verb_app.h"
#include "cli/verbs.h"

namespace portolan {

int RunConfig(int argc, char** argv) {
  VerbApp app("config", "Prints the settings in force as a commented TOML file.");
  app.Footer("Example:\n  portolan config > portolan.toml    # edit it, then: portolan VERB --config portolan.toml");
  if (const auto code = app.Parse(argc, argv)) return *code;
  std::fputs(ConfigToToml(app.config()).c_str(), stdout);
  return kExitOk;
}

}  // namespace portolan
