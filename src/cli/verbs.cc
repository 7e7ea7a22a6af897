#include "cli/verbs.h"

#include <array>

#include "cli/cli.h"

namespace portolan {

std::span<const Verb> Verbs() {
  static constexpr std::array kVerbs = {
      Verb{"crawl", "Crawl", "crawl from seeds into a directory", &RunCrawl},
      Verb{"resume", "Crawl", "continue a crawl that was stopped or that crashed", &RunResume},
      Verb{"run", "Crawl", "crawl into a directory, or continue the crawl that is there", &RunRun},
      Verb{"status", "Crawl", "show the status of a crawl", &RunStatus},
      Verb{"demo", "Crawl", "crawl a simulated web on this machine: no network needed", &RunDemo},
      Verb{"cluster", "Crawl", "make and direct a crawl on several machines", &RunCluster},
      Verb{"node", "Crawl", "work for such a crawl on this machine", &RunNode},
      Verb{"config", "Set up", "print the settings in force, with comments", &RunConfig},
      Verb{"plan", "Set up", "compute what a crawl of a given size needs: disk, memory, time", &RunPlan},
      Verb{"check", "Look inside", "check that everything that a crawl keeps is intact", &RunCheck},
      Verb{"domains", "Look inside", "list a crawl's domains by reputation, with their budgets", &RunDomains},
      Verb{"why", "Look inside", "say where a URL is and what it waits for", &RunWhy},
      Verb{"fresh", "Look inside", "say how up to date a crawl's copies are and what is due", &RunFresh},
      Verb{"links", "Look inside", "list a crawl's links, or those that are broken", &RunLinks},
      Verb{"report", "Look inside", "print what a crawl found and how it went, or write it as HTML", &RunReport},
      Verb{"graph", "Look inside", "build and search the link graph of a crawl", &RunGraph},
      Verb{"index", "Look inside", "build the search index of a crawl", &RunSearchIndex},
      Verb{"search", "Look inside", "find pages of a crawl by their words", &RunSearch},
      Verb{"serve", "Look inside", "serve search and link graph of a crawl over HTTP, on this machine", &RunServe},
      Verb{"text", "Look inside", "show the text of a crawl's pages, with language and date", &RunText},
      Verb{"dups", "Look inside", "list pages with nearly the same text, or with the same bytes", &RunDups},
      Verb{"disk", "Look inside", "dump or check a file of the crawl's state", &RunDisk},
      Verb{"warc", "Look inside", "list, print, check and index WARC and ARC files", &RunWarc},
      Verb{"sim", "Try out", "serve a simulated web on this machine, to test crawlers", &RunSim},
      Verb{"bench", "Measure", "run a benchmark against its rivals ('bench list' names them)", &RunBench},
      Verb{"version", "About", "print version, commit and build type", &RunVersion},
  };
  return kVerbs;
}

}  // namespace portolan
