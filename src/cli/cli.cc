#include "cli/cli.h"

#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.h"
#include "cli/exit_code.h"

namespace portolan {
namespace {

void PrintHelp() {
  std::string page =
      "portolan - a web crawler that charts the web\n"
      "\n"
      "usage: portolan VERB [FLAGS] [ARGUMENTS]\n"
      "       portolan help VERB\n";
  std::string_view group;
  for (const Verb& verb : Verbs()) {
    if (verb.group != group) page += fmt::format("\n{}\n", group = verb.group);
    page += fmt::format("  {:<10} {}\n", verb.name, verb.summary);
  }
  page +=
      "\n"
      "Every verb takes\n"
      "  --config FILE        settings from a TOML file; flags override it ('portolan config' shows them all)\n"
      "  --log-level LEVEL    debug, info, warn, error or off; -v is debug, -q is warn without a display\n"
      "  --log-format FORMAT  human (default) or json: one object per line on standard error\n"
      "\n"
      "Results go to standard output, progress and messages to standard error.\n"
      "\n"
      "Exit codes\n"
      "  0 done   1 done, and the answer is no   2 wrong usage   3 unusable input file\n"
      "  4 a system error (disk, permission)   5 a bug in portolan\n";
  std::fputs(page.c_str(), stdout);
}

int UnknownVerb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Verb& verb : Verbs()) names.push_back(verb.name);
  const std::string_view nearest = NearestWord(name, names);
  PrintError(nearest.empty() ? fmt::format("unknown verb '{}' (see 'portolan --help')", name)
                             : fmt::format("unknown verb '{}': did you mean '{}'?", name, nearest));
  return kExitUsage;
}

// "help warc ls" is "warc ls --help".
int HelpOn(int argc, char** argv) {
  std::string program = "portolan";
  std::string flag = "--help";
  std::vector<char*> words = {program.data()};
  words.insert(words.end(), argv, argv + argc);
  words.push_back(flag.data());
  if (words[1] == flag || words[1] == std::string_view("help")) words.resize(1);
  const auto count = static_cast<int>(words.size());
  words.push_back(nullptr);
  return count == 1 ? (PrintHelp(), kExitOk) : RunCli(count, words.data());
}

}  // namespace

std::string TempDirectory() {
  std::error_code error;
  const std::filesystem::path dir = std::filesystem::temp_directory_path(error);
  return error ? std::string("/tmp") : dir.string();
}

void PrintError(std::string_view message) {
  std::string line = "portolan: " + Printable(message);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int RunCli(int argc, char** argv) {
  if (argc < 2) {
    PrintHelp();
    return kExitUsage;
  }
  std::string_view name = argv[1];
  const bool asks_help = name == "--help" || name == "-h" || name == "help";
  if (asks_help && argc == 2) {
    PrintHelp();
    return kExitOk;
  }
  if (asks_help) return HelpOn(argc - 2, argv + 2);
  if (name == "--version" || name == "-V") name = "version";
  for (const Verb& verb : Verbs()) {
    if (verb.name != name) continue;
    try {
      const int code = verb.run(argc - 1, argv + 1);
      // A full disk or a closed pipe shows only when the last bytes are written.
      if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        PrintError("cannot write to standard output");
        return kExitSystem;
      }
      return code;
    } catch (const std::bad_alloc&) {
      PrintError("out of memory");
      return kExitSystem;
    } catch (const std::system_error& error) {
      const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
      PrintError(no_thread ? "the system allows no more threads (ulimit -u, or pids.max of the control group)"
                           : fmt::format("system error: {}", error.what()));
      return kExitSystem;
    } catch (const std::exception& error) {
      PrintError(fmt::format("internal error: {}", error.what()));
      return kExitInternal;
    }
  }
  return UnknownVerb(name);
}

}  // namespace portolan
