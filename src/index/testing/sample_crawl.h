// A crawl in a folder of the system's, for tests of the index: pages with words, links with texts, pages that are gone.
// Only its outputs are real: they are written and committed as a crawl does it.

#pragma once

#include <gtest/gtest.h>
#include <xapian.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "disk/manifest.h"
#include "flow/output_records.h"
#include "index/index_build.h"
#include "io/clock.h"
#include "io/env.h"
#include "io/remove_tree.h"
#include "outputs/outputs.h"

namespace portolan {

class TempFolder {
 public:
  // In memory where the system has such a place: Xapian syncs at each commit, and these tests commit often.
  TempFolder() {
    const auto room = Env::Posix().FreeSpace("/dev/shm");
    std::string name = room && *room > uint64_t{48} << 20 ? "/dev/shm" : testing::TempDir();
    name += "/portolan-index-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~TempFolder() { static_cast<void>(RemoveTree(path_)); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct SamplePage {
  std::string url;
  int64_t unix_ms = 1'700'000'000'000;
  std::string title = "A title";
  std::string text = "some words";
  std::string language = "en";
  uint16_t robots = 0;
  std::vector<std::pair<std::string, std::string>> links = {};  // URL, text
};

class SampleCrawl {
 public:
  // `shard` is its name, if it is one of several.
  static Result<std::unique_ptr<SampleCrawl>> Open(const std::string& dir, uint64_t file_size = 4000,
                                                   const std::string& shard = "") {
    Env& env = Env::Posix();
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, dir + "/state"));
    std::unique_ptr<SampleCrawl> crawl(new SampleCrawl(dir, shard, std::move(manifest)));
    OutputsOptions options;
    options.log.files = {.dir = dir + "/log", .names = {}, .file_size = file_size};
    options.links.files = {.dir = dir + "/links", .names = {}, .file_size = file_size};
    options.text.files = {.dir = dir + "/text", .names = {}, .file_size = file_size};
    options.links.enabled = options.text.enabled = true;
    options.threads = false;
    ASSIGN_OR_RETURN(crawl->outputs_, Outputs::Open(env, Clock::Real(), crawl->manifest_, options));
    if (crawl->manifest_.sequence() == 0) RETURN_IF_ERROR(crawl->Commit());
    return crawl;
  }

  void Add(const SamplePage& page) {
    PageResult result;
    result.outcome = FetchOutcome::kAnswered;
    result.status = 200;
    result.times.begin_unix_ns = page.unix_ms * 1'000'000;
    OutputItem links{.output = OutputId::kLinks, .records = {}};
    AppendLinkPage(links.records, page.url, page.unix_ms);
    for (const auto& [url, text] : page.links) AppendLink(links.records, url, 0, text);
    OutputItem text{.output = OutputId::kText, .records = {}};
    std::string main;
    if (!page.text.empty()) AppendPackedRange(main, 0, 0, page.text.size());
    AppendTextRecord(text.records, {.url = page.url,
                                    .unix_ms = page.unix_ms,
                                    .title = page.title,
                                    .language = page.language,
                                    .confidence = 90,
                                    .headings = "1 A heading",
                                    .text = page.text,
                                    .main = main,
                                    .robots = page.robots,
                                    .type = "text/html",
                                    .similarity = page.text.size()});
    result.outputs.push_back(std::move(links));
    result.outputs.push_back(std::move(text));
    outputs_->Write(result, {.url = page.url});
  }
  void AddGone(const std::string& url, int64_t unix_ms, int status = 404) {
    PageResult result;
    result.outcome = FetchOutcome::kAnswered;
    result.status = status;
    result.times.begin_unix_ns = unix_ms * 1'000'000;
    outputs_->Write(result, {.url = url});
  }
  Status Commit() { return manifest_.Commit(outputs_->Checkpointables()); }

  IndexSources Sources() const { return SourcesOf({this}); }
  // Of several shards.
  static IndexSources SourcesOf(const std::vector<const SampleCrawl*>& crawls) {
    std::vector<OutputSource> text;
    std::vector<OutputSource> log;
    std::vector<OutputSource> links;
    for (const SampleCrawl* const crawl : crawls) {
      text.push_back(TextLogSource(crawl->dir_ + "/state", crawl->dir_ + "/text"));
      log.push_back(CrawlLogSource(crawl->dir_ + "/state", crawl->dir_ + "/log"));
      links.push_back(LinkLogSource(crawl->dir_ + "/state", crawl->dir_ + "/links"));
      for (auto* const sources : {&text, &log, &links}) sources->back().shard = crawl->shard_;
    }
    return {.text = OutputSources(text), .log = OutputSources(log), .links = OutputSources(links)};
  }

 private:
  SampleCrawl(std::string dir, std::string shard, Manifest manifest)
      : dir_(std::move(dir)), shard_(std::move(shard)), manifest_(std::move(manifest)) {}

  std::string dir_;
  std::string shard_;
  Manifest manifest_;
  std::unique_ptr<Outputs> outputs_;
};

// Everything that a document holds, by its URL; for comparing two indexes. No document ids: they tell only in which
// order pages came.
inline std::map<std::string, std::string> ContentsOf(const std::vector<std::string>& databases) {
  std::map<std::string, std::string> contents;
  for (const std::string& path : databases) {
    const Xapian::Database database(path);
    for (auto at = database.postlist_begin(""); at != database.postlist_end(""); ++at) {
      const Xapian::Document document = database.get_document(*at);
      std::string all =
          "data " + document.get_data() + "\nlength " + std::to_string(database.get_doclength(*at)) + "\n";
      for (auto value = document.values_begin(); value != document.values_end(); ++value) {
        all += "value " + std::to_string(value.get_valueno()) + " " + *value + "\n";
      }
      for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
        all += "term " + *term + " " + std::to_string(term.get_wdf());
        for (auto position = term.positionlist_begin(); position != term.positionlist_end(); ++position) {
          all += " " + std::to_string(*position);
        }
        all += "\n";
      }
      const auto data = DocumentData::Decode(document.get_data());
      contents[data ? data->url : "?"] += all;
    }
  }
  return contents;
}

}  // namespace portolan
