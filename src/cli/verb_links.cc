// portolan links: the links of a crawl as a table, or those that are broken.

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>

#include "base/csv.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/crawl_sources.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "flow/output_records.h"
#include "follow/follower.h"
#include "follow/link_reader.h"
#include "io/env.h"
#include "outputs/append_file.h"

namespace portolan {
namespace {

struct Flags {
  std::string dir;
  std::string output;    // empty: standard output
  std::string position;  // empty: everything
  bool broken = false;
  bool json = false;
};

std::string HeaderOf(const Flags& flags) {
  if (flags.json) return {};
  return flags.broken ? "source,target,status,outcome,anchor,flags\n" : "source,target,anchor,flags\n";
}

std::string LineOf(const LinkLine& link, const Flags& flags) {
  const std::string names = LinkFlagNames(link.flags);
  std::string line;
  if (flags.json) {
    line = fmt::format(R"({{"source":{},"target":{})", JsonQuote(link.source), JsonQuote(link.target));
    if (flags.broken && link.status > 0) line += fmt::format(R"(,"status":{})", link.status);
    if (flags.broken) line += fmt::format(R"(,"outcome":{})", JsonQuote(link.outcome));
    line += fmt::format(R"(,"anchor":{},"flags":{}}})", JsonQuote(link.anchor), JsonQuote(names));
    return line + "\n";
  }
  const auto add = [&line](std::string_view value) {
    if (!line.empty()) line += ',';
    AppendCsv(line, value);
  };
  add(link.source);
  add(link.target);
  if (flags.broken) {
    add(link.status > 0 ? fmt::format("{}", link.status) : "");
    add(link.outcome);
  }
  add(link.anchor);
  line += ',';
  line += names;
  return line + "\n";
}

// Writes lines to standard output, or to a file that appears only when it is complete.
class Sink {
 public:
  static Result<Sink> Open(const std::string& path) {
    Sink sink;
    if (path.empty()) return sink;
    ASSIGN_OR_RETURN(AppendFile file, AppendFile::Make(Env::Posix(), path + ".tmp"));
    sink.file_ = std::make_unique<AppendFile>(std::move(file));
    sink.path_ = path;
    return sink;
  }
  Status Add(std::string_view line) {
    if (!file_) {
      if (std::fwrite(line.data(), 1, line.size(), stdout) == line.size()) return {};
      return Fail(ErrorCode::kIo, "standard output cannot be written");
    }
    file_->Add(line);
    return file_->wants_flush() ? file_->Flush() : Status();
  }
  Status Finish() {
    if (!file_) return std::fflush(stdout) == 0 ? Status() : Fail(ErrorCode::kIo, "standard output cannot be written");
    RETURN_IF_ERROR(file_->Sync());
    RETURN_IF_ERROR(Env::Posix().Rename(path_ + ".tmp", path_));
    return SyncDirOnce(Env::Posix(), DirName(path_));
  }

 private:
  std::unique_ptr<AppendFile> file_;
  std::string path_;
};

Status PrintAll(const Flags& flags, const OutputSources& links, const OutputSources& logs) {
  ASSIGN_OR_RETURN(Sink sink, Sink::Open(flags.output));
  RETURN_IF_ERROR(sink.Add(HeaderOf(flags)));
  const auto each = [&](const LinkLine& link) { return sink.Add(LineOf(link, flags)); };
  Env& env = Env::Posix();
  RETURN_IF_ERROR(flags.broken ? ForEachBrokenLink(env, env, links, logs, {.dir = TempDirectory()}, each)
                               : ForEachLink(env, links, each));
  return sink.Finish();
}

// Appends what is new since the position to the output file. Each link is there once, even after crashes.
Status PrintNew(const Flags& flags, const OutputSources& links) {
  Env& env = Env::Posix();
  ASSIGN_OR_RETURN(Follower follower, Follower::Open(env, links, flags.position));
  const uint64_t length = follower.copied();
  Result<AppendFile> opened =
      length == 0 ? AppendFile::Make(env, flags.output) : AppendFile::Continue(env, flags.output, length);
  if (!opened) return std::unexpected(opened.error());
  AppendFile& file = *opened;
  if (length == 0) file.Add(HeaderOf(flags));
  for (bool more = true; more;) {
    ASSIGN_OR_RETURN(more, NextLinks([&](const OutputReader::Each& each) { return follower.Next(each); },
                                     [&](const LinkLine& link) {
                                       file.Add(LineOf(link, flags));
                                       return Status();
                                     }));
    if (file.wants_flush()) RETURN_IF_ERROR(file.Flush());
  }
  RETURN_IF_ERROR(file.Sync());
  if (length == 0) RETURN_IF_ERROR(SyncDirOnce(env, DirName(flags.output)));
  return follower.Save(file.size());
}

}  // namespace

int RunLinks(int argc, char** argv) {
  VerbApp app("links",
              "Prints the links of a crawl that was made with outputs.links: source, target, anchor text, flags.\n"
              "Reads what the last checkpoint holds, whether the crawl runs or not.");
  Flags flags;
  bool csv = false;
  app->add_option("dir", flags.dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_flag("--broken", flags.broken, "Only links to URLs that were requested and failed, with the result");
  app->add_flag("--csv", csv, "As CSV with a header line (default)");
  app->add_flag("--json", flags.json, "As one JSON object per line")->excludes("--csv");
  app->add_option("--output,-o", flags.output, "Write to this file instead of standard output")->type_name("FILE");
  app->add_option("--position", flags.position,
                  "Store in this file how far the crawl was read: the next time only new links are added to --output")
      ->type_name("FILE")
      ->needs("--output")
      ->excludes("--broken");
  app.Footer(
      "Flags: redirect, nofollow, embed, canonical, frame, requisite, sitemap, sitemap-file.\n"
      "A link is broken when its target answered with a status of 400 or more, or did not answer. What was\n"
      "not requested (out of scope, denied by robots.txt, not reached) is not listed. Links and outcomes are\n"
      "compared in 64 MiB of memory and temporary files in TMPDIR (or /tmp), 32 bytes per link.\n\n"
      "Examples:\n"
      "  portolan links crawl-example.org --broken\n"
      "  portolan links crawl-example.org --json -o links.jsonl --position links.position");
  if (const auto code = app.Parse(argc, argv)) return *code;
  const auto crawl = OpenCrawlSources(flags.dir);
  if (!crawl) return Complain(crawl.error());
  const OutputSources links = crawl->LinkLogs();
  const auto committed = FindCommitted(Env::Posix(), links);
  if (!committed) return Complain(committed.error());
  if (committed->empty()) {
    PrintError(fmt::format("{}: this crawl has no link log; start the crawl with --set outputs.links=true to get one",
                           flags.dir));
    return kExitBadInput;
  }
  const Status status = flags.position.empty() ? PrintAll(flags, links, crawl->CrawlLogs()) : PrintNew(flags, links);
  return status ? kExitOk : Complain(status.error());
}

}  // namespace portolan
