// ArchiveStage: turns the answer into WARC records (record_maker.h), unless an earlier stage cleared PageView::keep.

#pragma once

#include <memory>

#include "base/result.h"
#include "parse/content_handler.h"
#include "parse/page_options.h"
#include "parse/record_maker.h"

namespace portolan {

class ArchiveStage : public PageStage {
 public:
  // kInvalidArgument for a gzip level that does not exist.
  static Result<std::unique_ptr<ArchiveStage>> Create(const PageMakerOptions& options);

  void Look(PageView& view, PageResult& result) override;

 private:
  ArchiveStage(const PageMakerOptions& options, RecordMaker records)
      : robots_(options.archive_robots),
        content_seen_(options.content_seen),
        least_payload_(options.least_payload),
        records_(std::move(records)) {}

  const bool robots_;
  const bool content_seen_;
  const uint64_t least_payload_;
  RecordMaker records_;
};

}  // namespace portolan
