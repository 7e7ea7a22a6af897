// portolan graph build and check.

#include <fmt/core.h>

#include <string>

#include "cli/cli.h"
#include "cli/graph_parts.h"
#include "cli/verb_app.h"

namespace portolan {

int RunGraphBuild(int argc, char** argv) {
  VerbApp app("graph build", "Builds the link graph of a crawl, or brings it up to date.");
  if (const auto code = app.Parse(argc, argv)) return *code;
  return kExitInternal;
}

int RunGraphCheck(int argc, char** argv) {
  VerbApp app("graph check", "Compares every file of a crawl's link graph with its checksum.");
  std::string dir;
  app->add_option("dir", dir, "The crawl's directory")->required()->type_name("DIR");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto files = OpenGraphOf(dir);
  const Status status = files ? (*files)->Verify() : Status(std::unexpected(files.error()));
  if (!status) {
    const int code = Complain(status.error());
    return status.error().code() == ErrorCode::kCorrupt ? kExitVerdict : code;
  }
  fmt::print("{}: generation {}: {} files are intact\n", dir, (*files)->generation(), (*files)->current().files.size());
  return kExitOk;
}

}  // namespace portolan
