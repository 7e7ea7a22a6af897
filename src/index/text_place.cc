#include "index/text_place.h"

#include <fmt/core.h>

#include "disk/block_file.h"
#include "disk/record_block.h"

namespace portolan {
namespace {

constexpr size_t kReadAhead = 256 << 10;  // most blocks of the text log are smaller than that on disk

}  // namespace

Result<TextRecord> ReadTextAt(Env& env, const OutputSource& text, const TextPlace& place, std::string_view url,
                              std::string& bytes) {
  const std::string path = JoinPath(text.dir, text.names.Name(place.serial));
  if (place.serial == 0 || !env.Exists(path)) {
    return Fail(ErrorCode::kNotFound, fmt::format("{}: the text log has no such file any more", path));
  }
  BlockFileReader::Options options;
  options.offset = place.offset;
  options.read_ahead = kReadAhead;
  ASSIGN_OR_RETURN(BlockFileReader blocks, BlockFileReader::Open(env, path, FileKind::kText, options));
  ASSIGN_OR_RETURN(const auto block, blocks.Next());
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{}: block at {}, record {}: {}", path, place.offset, place.record, what));
  };
  if (!block) return corrupt("there is none");
  RecordBlockReader records;
  records.Start(*block, text.tag_width);
  for (uint32_t at = 0; records.Next(); ++at) {
    if (at < place.record) continue;
    bytes = records.record();
    const auto page = ParseTextRecord(bytes);
    if (!page) return corrupt("it does not parse");
    if (page->url != url) return corrupt("it is of another page");
    return *page;
  }
  return corrupt("there is none");
}

}  // namespace portolan
