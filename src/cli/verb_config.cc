// portolan config: the settings in force, as a TOML file that can be edited and given back with --config.

#include <cstdio>
#include <string>

#include "cli/verb_app.h"
#include "cli/verbs.h"

namespace portolan {

int RunConfig(int argc, char** argv) {
  VerbApp app("config", "Prints the settings in force as a commented TOML file.");
  std::string profile;
  app->add_option("--profile", profile, "The defaults of this profile (site or web), whatever --config says")
      ->type_name("NAME");
  app.Footer("Example:\n  portolan config > portolan.toml    # edit it, then: portolan VERB --config portolan.toml");
  if (const auto code = app.Parse(argc, argv)) return *code;
  Config config = app.config();
  if (!profile.empty()) {
    const auto named = ParseProfile(profile);
    if (!named) return Complain(named.error());
    config = ForProfile(*named);
    config.log = app.config().log;
  }
  std::fputs(ConfigToToml(config).c_str(), stdout);
  return kExitOk;
}

}  // namespace portolan
