// One line per verb: the functions behind the table in verbs.cc.

#pragma once

namespace portolan {

int RunBench(int argc, char** argv);
int RunCluster(int argc, char** argv);
int RunCheck(int argc, char** argv);
int RunConfig(int argc, char** argv);
int RunCrawl(int argc, char** argv);
int RunDomains(int argc, char** argv);
int RunDemo(int argc, char** argv);
int RunResume(int argc, char** argv);
int RunRun(int argc, char** argv);
int RunStatus(int argc, char** argv);
int RunDisk(int argc, char** argv);
int RunDups(int argc, char** argv);
int RunGraph(int argc, char** argv);
int RunSearchIndex(int argc, char** argv);
int RunLinks(int argc, char** argv);
int RunReport(int argc, char** argv);
int RunNode(int argc, char** argv);
int RunPlan(int argc, char** argv);
int RunSearch(int argc, char** argv);
int RunServe(int argc, char** argv);
int RunText(int argc, char** argv);
int RunSim(int argc, char** argv);
int RunWhy(int argc, char** argv);
int RunFresh(int argc, char** argv);
int RunVersion(int argc, char** argv);
int RunWarc(int argc, char** argv);

}  // namespace portolan
