#include "cli/cli.h"

int main(int argc, char** argv) { return portolan::RunCli(argc, argv); }
