// The command line: finds the verb, reads the flags that all verbs share, runs it.
//
// Each verb is one file, verb_NAME.cc, with one function; kVerbs in verbs.cc lists them all in the order of the help
// page. Results go to standard output, everything else to standard error.

#pragma once

#include <span>
#include <string>
#include <string_view>

namespace portolan {

int RunCli(int argc, char** argv);

struct Verb {
  std::string_view name;
  std::string_view group;    // heading on the help page
  std::string_view summary;  // one line
  // argv[0] is the verb's name, as for a program of its own.
  int (*run)(int argc, char** argv);
};

std::span<const Verb> Verbs();

// "portolan: message" on standard error, in one line. Messages may quote files, so they are made Printable
// (base/text.h).
void PrintError(std::string_view message);

// Where temporary files go: TMPDIR, or /tmp if that is not a directory.
std::string TempDirectory();

}  // namespace portolan
