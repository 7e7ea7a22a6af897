// The parts of `portolan graph`, one line each: the functions behind the table in verb_graph.cc. A file graph_NAME.cc
// has one part or a few that belong together.

#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "follow/graph_files.h"

namespace portolan {

int RunGraphBuild(int argc, char** argv);
int RunGraphCheck(int argc, char** argv);
int RunGraphOut(int argc, char** argv);
int RunGraphIn(int argc, char** argv);
int RunGraphExport(int argc, char** argv);
int RunGraphImport(int argc, char** argv);

// The folder of the graph in a crawl's directory.
std::string GraphDirOf(const std::string& dir);
// The newest generation of the graph of the crawl in `dir`, or of an imported graph.
Result<std::unique_ptr<GraphFiles>> OpenGraphOf(const std::string& dir);

}  // namespace portolan
