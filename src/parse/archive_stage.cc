#include "parse/archive_stage.h"

#include <utility>

#include "base/ascii.h"
#include "parse/content_stage.h"

namespace portolan {
namespace {

// Whether a body is compressed: by its content coding, or because such files always are.
bool IsPacked(const HeaderFields& fields, const Sniffed& sniffed, size_t size) {
  constexpr size_t kWorthAsking = 512;  // smaller records are mostly headers
  if (size < kWorthAsking) return false;
  if (const auto coding = fields.Find("content-encoding"); coding && !EqualsIgnoringCase(*coding, "identity")) {
    return true;
  }
  switch (sniffed.kind) {
    case ContentKind::kImage:
      return sniffed.essence != "image/svg+xml" && sniffed.essence != "image/bmp" && sniffed.essence != "image/x-icon";
    case ContentKind::kMedia:
      return sniffed.essence != "audio/wave" && sniffed.essence != "audio/basic" && sniffed.essence != "audio/midi";
    case ContentKind::kArchive:
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<std::unique_ptr<ArchiveStage>> ArchiveStage::Create(const PageMakerOptions& options) {
  ASSIGN_OR_RETURN(RecordMaker records,
                   RecordMaker::Create(
                       {.seed = options.seed, .level = options.archive_level, .metadata = options.archive_metadata}));
  return std::unique_ptr<ArchiveStage>(new ArchiveStage(options, std::move(records)));
}

void ArchiveStage::Look(PageView& view, PageResult& result) {
  if (!view.keep || (result.kind == UrlKind::kRobots && !robots_)) return;
  if (!FollowOf(result.outcome, result.status).keep) return;
  RecordFacts facts;
  facts.outcome = result.outcome;
  facts.status = result.status;
  facts.packed = view.readable && IsPacked(view.head.fields, view.sniffed, view.response.body.size());
  facts.mime_detected = view.body.empty() ? std::string_view() : std::string_view(result.mime);
  facts.charset = view.charset;
  if (result.status / 100 == 3) facts.location = view.head.fields.Find("location").value_or("");
  facts.title = result.title;
  facts.links = result.links.links.size();
  const bool content_seen = content_seen_ && !result.not_modified() && IsForContentSeen(view, result, least_payload_);
  facts.revisit = content_seen;
  if (const LastVisit* const last = view.response.task.last.get(); last != nullptr && last->captured_unix_ms != 0) {
    if (result.not_modified()) {
      facts.not_modified = last;
      facts.packed = false;
    } else if (last->has_payload() && IsForContentSeen(view, result, 0)) {
      facts.revisit = true;  // whether it is the same payload is known when its digest is
    }
  }
  records_.Make(view.response, view.head, view.url, facts, result.archive);
  if (content_seen) result.payload_sha1 = result.archive.payload_sha1;
}

}  // namespace portolan
