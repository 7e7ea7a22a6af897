// portolan graph export and import.

#include "cli/graph_parts.h"
#include "cli/verb_app.h"

namespace portolan {

int RunGraphExport(int argc, char** argv) {
  VerbApp app("graph export", "Writes a link graph as text.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  return kExitInternal;
}

int RunGraphImport(int argc, char** argv) {
  VerbApp app("graph import", "Takes over a graph in WebGraph's files.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  return kExitInternal;
}

}  // namespace portolan
