// portolan index: the search index of a crawl. Each part has a parser of its own, so that `portolan index build --help`
// shows what `build` takes.

#include <fmt/core.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit_code.h"
#include "cli/index_parts.h"
#include "cli/verbs.h"
#include "io/env.h"

namespace portolan {
namespace {

struct IndexVerbPart {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, char** argv);
};
constexpr std::array kIndexVerbParts = {
    IndexVerbPart{"build", "build the search index of a crawl, bring it up to date, or keep it so", &RunIndexBuild},
    IndexVerbPart{"check", "check that the databases of an index are intact", &RunIndexCheck},
    IndexVerbPart{"stats", "pages, words, languages and bytes of an index, and how far it is", &RunIndexStats},
    IndexVerbPart{"serve", "serve an index to searchers on other machines", &RunIndexServe},
};

void PrintIndexPage() {
  std::string page =
      "The search index of a crawl that was made with outputs.text (and outputs.links, for the texts of links):\n"
      "Xapian databases in DIR/index.\n\n"
      "usage: portolan index PART [FLAGS] DIR …\n       portolan index PART --help\n\n";
  for (const IndexVerbPart& part : kIndexVerbParts) page += fmt::format("  {:<7} {}\n", part.name, part.summary);
  page +=
      "\nExamples:\n"
      "  portolan index build crawl-example.org\n"
      "  portolan index build crawl-example.org --follow\n"
      "  portolan index stats crawl-example.org\n"
      "\ndocs/search.md explains the index.\n";
  std::fwrite(page.data(), 1, page.size(), stdout);
}

}  // namespace

std::string IndexDirOf(const std::string& dir) { return JoinPath(dir, "index"); }

int RunSearchIndex(int argc, char** argv) {
  if (argc < 2) {
    PrintIndexPage();
    return kExitUsage;
  }
  const std::string_view name = argv[1];
  if (name == "--help" || name == "-h") {
    PrintIndexPage();
    return kExitOk;
  }
  std::vector<std::string_view> names;
  for (const IndexVerbPart& part : kIndexVerbParts) {
    if (part.name == name) return part.run(argc - 1, argv + 1);
    names.push_back(part.name);
  }
  const std::string_view nearest = NearestWord(name, names);
  PrintError(nearest.empty() ? fmt::format("unknown part '{}' of index: 'portolan index' lists them", Printable(name))
                             : fmt::format("unknown part '{}' of index: did you mean '{}'?", Printable(name), nearest));
  return kExitUsage;
}

}  // namespace portolan
