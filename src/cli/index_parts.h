// The parts of `portolan index`, one line each: the functions behind the table in verb_index.cc; and what several of
// them share. A file index_NAME.cc has one part or a few that belong together.

#pragma once

#include <string>

namespace portolan {

int RunIndexBuild(int argc, char** argv);
int RunIndexCheck(int argc, char** argv);
int RunIndexStats(int argc, char** argv);
int RunIndexServe(int argc, char** argv);

// The folder of the search index in a crawl's directory.
std::string IndexDirOf(const std::string& dir);

}  // namespace portolan
