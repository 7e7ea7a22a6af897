// portolan dups: clusters of pages with nearly the same text, or with the same bytes.

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "base/csv.h"
#include "base/log.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/crawl_sources.h"
#include "cli/verb_app.h"
#include "cli/verbs.h"
#include "follow/dup_clusters.h"
#include "io/env.h"

namespace portolan {
namespace {

struct DupFlags {
  std::string dir;
  std::string memory = "256M";
  uint64_t pages = 10;  // per cluster, for people
  bool json = false;
  bool csv = false;
  DupOptions options;
};

class DupPrinter {
 public:
  explicit DupPrinter(const DupFlags& flags) : flags_(flags) {
    if (flags_.csv) Print("cluster,size,bits,same_bytes,url\n");
  }

  Status Add(const DupMember& member) {
    if (flags_.csv) {
      std::string line = fmt::format("{},{},{},{},", member.cluster + 1, member.size, member.bits, member.same_bytes);
      AppendCsv(line, member.url);
      return Print(line + "\n");
    }
    if (flags_.json) {
      std::string text;
      if (member.place == 0) {
        text = open_ ? "]}\n" : "";
        open_ = true;
        text += fmt::format(R"({{"cluster":{},"size":{},"representative":{},"pages":[)", member.cluster + 1,
                            member.size, JsonQuote(member.url));
      } else {
        text = ",";
      }
      return Print(text + fmt::format(R"({{"url":{},"bits":{},"same_bytes":{}}})", JsonQuote(member.url), member.bits,
                                      member.same_bytes));
    }
    std::string text;
    if (member.place == 0) text = fmt::format("{}. {} pages\n", member.cluster + 1, member.size);
    text += fmt::format("  {:>5}  {}\n",
                        member.place == 0   ? "first"
                        : member.same_bytes ? "same"
                                            : fmt::format("{}", member.bits),
                        member.url);
    if (flags_.pages > 0 && member.place + 1 == flags_.pages && member.size > flags_.pages) {
      text += fmt::format("         … and {} more\n", member.size - flags_.pages);
    }
    return Print(text);
  }

  Status End() {
    if (open_) RETURN_IF_ERROR(Print("]}\n"));
    if (std::fflush(stdout) != 0) return Unwritable();
    return {};
  }

 private:
  static Status Unwritable() { return Fail(ErrorCode::kIo, "standard output cannot be written"); }
  static Status Print(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return {};
    return Unwritable();
  }

  const DupFlags& flags_;
  bool open_ = false;  // a cluster's JSON object
};

// What the user should know besides the clusters; an exit code.
int Explain(const DupFlags& flags, const DupSummary& summary) {
  const DupOptions& options = flags.options;
  if (!options.exact && summary.pages > 0 && summary.with_text == 0) {
    PrintError(fmt::format(
        "{}: no page in its log has a similarity hash; start the crawl with --set page.similarity=true (or with "
        "content.near_duplicates=mark) to get them. --exact works without",
        flags.dir));
    return kExitBadInput;
  }
  if (!options.url.empty() && !summary.url_found) {
    PrintError(fmt::format("{}: the log has no page {}; 'portolan why {} URL' says what became of it", flags.dir,
                           options.url, flags.dir));
    return kExitBadInput;
  }
  if (summary.parts > 0) {
    fmt::print(stderr,
               "{}: {} times there were more texts with the same beginning of their hash than memory holds; some pairs "
               "may be missing: use more --memory\n",
               flags.dir, summary.parts);
  }
  if (flags.json || flags.csv) return kExitOk;
  if (!options.url.empty() && !summary.url_hashed) {
    fmt::print("{} has no text to compare\n", options.url);
    return kExitOk;
  }
  fmt::print("{}: {}{}, {} in {}{}\n", flags.dir, Counted(summary.pages, "page"),
             options.exact ? " with a body" : fmt::format(", {} of them with text", summary.with_text),
             Counted(summary.clustered, "page"), Counted(summary.clusters, "cluster"),
             options.exact ? " of the same bytes" : fmt::format(" (pairs differ in at most {} bits)", options.bits));
  return kExitOk;
}

}  // namespace

int RunDups(int argc, char** argv) {
  VerbApp app(
      "dups",
      "Lists clusters of pages with nearly the same text, or with the same bytes (--exact), the largest first.\n"
      "Reads what the last checkpoint holds, whether the crawl runs or not. For near duplicates the crawl must\n"
      "have been made with page.similarity or content.near_duplicates.");
  DupFlags flags;
  DupOptions& options = flags.options;
  app->add_option("dir", flags.dir, "The crawl's directory, or a node's, with shards of a cluster")
      ->required()
      ->type_name("DIR");
  app->add_option("--url", options.url, "Only the cluster of this page; the URL as the crawl stores it")
      ->type_name("URL");
  auto* const exact = app->add_flag("--exact", options.exact, "Pages with the same bytes, whatever they are");
  app->add_option("--bits", options.bits, "How many of the 64 bits of two pages' hashes may differ")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(0, 8))
      ->excludes(exact);
  app->add_option("--limit", options.limit, "How many clusters; 0: all")->type_name("N")->capture_default_str();
  app->add_option("--min-size", options.min_size, "Only clusters of at least so many pages")
      ->type_name("N")
      ->capture_default_str()
      ->check(CLI::Range(uint64_t{2}, ~uint64_t{0}));
  app->add_option("--pages", flags.pages, "How many pages of each cluster, in the listing for people; 0: all")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--memory", flags.memory, "How much memory it may take; more than that is sorted on disk")
      ->type_name("SIZE")
      ->capture_default_str()
      ->check(Checked(&ParseBytes, "SIZE"));
  auto* const json = app->add_flag("--json", flags.json, "One JSON object per cluster and line");
  app->add_flag("--csv", flags.csv, "One line per page: cluster, size, bits, same_bytes, url")->excludes(json);
  app.Footer(
      "Each cluster begins with the page that was fetched first; of several shards, with one of the shard that was\n"
      "read first. The number before another page says in how many\n"
      "bits its text's hash differs from the first page's; 'same' means the same bytes. Pages that are connected\n"
      "by pairs are one cluster, so the ends of a chain may differ in more bits than --bits.\n\n"
      "What was read of the log is kept in DIR/dups, so the next time only what is new is read. The directory\n"
      "may be removed at any time.\n\n"
      "Examples:\n"
      "  portolan dups crawl-example.org\n"
      "  portolan dups crawl-example.org --min-size 100 --pages 3\n"
      "  portolan dups crawl-example.org --url https://example.org/about --pages 0\n"
      "  portolan dups crawl-example.org --exact --limit 0 --csv > copies.csv");
  if (const auto code = app.Parse(argc, argv)) return *code;
  options.memory = *ParseBytes(flags.memory);
  if (options.memory < DupOptions::kMinMemory) {
    PrintError(fmt::format("--memory {}: at least {} are needed", flags.memory, FormatBytes(DupOptions::kMinMemory)));
    return kExitBadInput;
  }
  options.members = flags.json || flags.csv ? 0 : flags.pages;
  const auto crawl = OpenCrawlSources(flags.dir);
  if (!crawl) return Complain(crawl.error());
  auto told = std::chrono::steady_clock::now();
  options.progress = [&](std::string_view step, uint64_t done) {
    const auto now = std::chrono::steady_clock::now();
    if (app.quiet() || now - told < std::chrono::seconds(2)) return;
    told = now;
    fmt::print(stderr, "{}: {} …\n", step, FormatCount(static_cast<double>(done)));
  };
  const auto pages = DupPages::Follow(Env::Posix(), crawl->CrawlLogs(), JoinPath(flags.dir, "dups"), options.progress);
  if (!pages) {
    if (pages.error().code() != ErrorCode::kBusy) return Complain(pages.error());
    PrintError(fmt::format("{}: another 'portolan dups' is working on it; wait until it is done", flags.dir));
    return kExitSystem;
  }
  DupPrinter printer(flags);
  const auto summary =
      ListDups(Env::Posix(), *pages, options, [&](const DupMember& member) { return printer.Add(member); });
  if (!summary) return Complain(summary.error());
  if (const Status ended = printer.End(); !ended) return Complain(ended.error());
  return Explain(flags, *summary);
}

}  // namespace portolan
