// portolan graph out and in.

#include "cli/graph_parts.h"
#include "cli/verb_app.h"

namespace portolan {

int RunGraphOut(int argc, char** argv) {
  VerbApp app("graph out", "Lists what a page, host or domain links to.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  return kExitInternal;
}

int RunGraphIn(int argc, char** argv) {
  VerbApp app("graph in", "Lists what links to a page, host or domain.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  return kExitInternal;
}

}  // namespace portolan
