// For tests of this folder: a little crawl with an archive, all logs and queues, stepwise, so that copies of it can be
// made between any two steps; and the judgement of a directory.

#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "disk/manifest.h"
#include "disk/queue.h"
#include "flow/output_records.h"
#include "io/clock.h"
#include "outputs/outputs.h"
#include "outputs/warc_samples.h"
#include "standby/checkpoint_files.h"

namespace portolan {

inline CrawlPlaces TestPlaces() {
  return {.state = "s/state",
          .log = "s/log",
          .links = "s/links",
          .text = "s/text",
          .warc = {"s/warc1", "s/warc2"},
          .prefix = "PORTOLAN"};
}

class CopiedCrawl {
 public:
  static constexpr int kItems = 40;
  static constexpr int kCheckpointEvery = 5;

  static Result<std::unique_ptr<CopiedCrawl>> Open(Env& env) {
    ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, TestPlaces().state));
    std::unique_ptr<CopiedCrawl> crawl(new CopiedCrawl(std::move(manifest)));
    OutputsOptions options;
    options.warc.directories = TestPlaces().warc;
    options.warc.files.file_size = 2500;
    options.warc.files.seed = 1;  // the same items make the same bytes
    options.log.files.dir = TestPlaces().log;
    options.log.files.file_size = 600;
    options.links.enabled = options.text.enabled = true;
    options.links.files.dir = TestPlaces().links;
    options.text.files.dir = TestPlaces().text;
    options.links.files.file_size = options.text.files.file_size = 300;
    options.threads = false;
    ASSIGN_OR_RETURN(crawl->outputs_, Outputs::Open(env, crawl->clock_, crawl->manifest_, options));
    ASSIGN_OR_RETURN(crawl->queue_,
                     DiskQueue::Open(env, crawl->manifest_, {.name = "queue", .block_size = 64, .segment_size = 256}));
    if (crawl->manifest_.sequence() == 0) RETURN_IF_ERROR(crawl->Commit());
    ASSIGN_OR_RETURN(const ManifestSection* queue, crawl->manifest_.Find("queue", DiskQueue::kKind));
    ASSIGN_OR_RETURN(const uint64_t pushed, queue->Number("pushed"));
    crawl->items_ = static_cast<int>(pushed);
    return crawl;
  }

  // The next item; and a checkpoint, if it is time. `salt` makes other bytes of the same item.
  Status Step(int salt = 0) {
    PageResult result;
    result.archive = SampleItem(items_, 200 + static_cast<size_t>(salt));
    OutputItem links{.output = OutputId::kLinks, .records = {}, .lease = {}};
    AppendLinkPage(links.records, SampleUrl(items_), items_ + salt);
    OutputItem text{.output = OutputId::kText, .records = {}, .lease = {}};
    AppendTextRecord(text.records, {.url = SampleUrl(items_), .unix_ms = items_ + salt, .text = "words"});
    result.outputs.push_back(std::move(links));
    result.outputs.push_back(std::move(text));
    outputs_->Write(result, {.url = SampleUrl(items_)});
    RETURN_IF_ERROR(queue_->Append(SampleUrl(items_) + std::string(static_cast<size_t>(salt), 'x')));
    if (items_ % 3 == 2) RETURN_IF_ERROR(queue_->Pop(2));
    ++items_;
    return items_ % kCheckpointEvery == 0 ? Commit() : Status();
  }
  Status Commit() {
    std::vector<Checkpointable*> all = outputs_->Checkpointables();
    all.push_back(queue_.get());
    RETURN_IF_ERROR(manifest_.Commit(all));
    return outputs_->FinishPacking();
  }
  int items() const { return items_; }
  uint64_t sequence() const { return manifest_.sequence(); }
  DiskQueue& queue() { return *queue_; }

 private:
  explicit CopiedCrawl(Manifest manifest) : manifest_(std::move(manifest)) {}

  Manifest manifest_;
  ManualClock clock_{1'769'862'601'250'000'000};
  std::unique_ptr<Outputs> outputs_;
  std::unique_ptr<DiskQueue> queue_;
  int items_ = 0;
};

// Recovers the directory, as a crawl would, and expects it to be whole. Gives its number of items.
inline int JudgeCrawl(Env& env, const std::string& what) {
  auto crawl = CopiedCrawl::Open(env);
  EXPECT_TRUE(crawl) << what << ": " << crawl.error().ToString();
  if (!crawl) return -1;
  EXPECT_EQ(JudgeArchive(env, TestPlaces().warc, false), SampleUrls((*crawl)->items())) << what;
  const uint64_t waiting = (*crawl)->queue().size();
  EXPECT_EQ((*crawl)->queue().Pop(1000).value().size(), waiting) << what;
  return (*crawl)->items();
}

}  // namespace portolan
