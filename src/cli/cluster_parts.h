// The parts of `portolan cluster`, each with a parser of its own.

#pragma once

namespace portolan {

int RunClusterInit(int argc, char** argv);
int RunClusterStatus(int argc, char** argv);
int RunClusterPause(int argc, char** argv);
int RunClusterResume(int argc, char** argv);
int RunClusterStop(int argc, char** argv);
int RunClusterMove(int argc, char** argv);
int RunClusterTakeover(int argc, char** argv);
int RunClusterUpgrade(int argc, char** argv);
int RunClusterRemove(int argc, char** argv);

}  // namespace portolan
