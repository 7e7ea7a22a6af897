// The mark of a shard's directory: any text is a mark or none, a mark is written again as it was, and what a node
// wants to do with such a directory does not depend on what is not in it.

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cluster/shard_place.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto place = DecodeShardPlace(text);
  if (!place) return 0;
  CHECK(EncodeShardPlace(*place) == text && place->shard < place->shards);
  CHECK(ShardOfDirName(ShardDirName(place->shard)).value_or(place->shard) == place->shard);
  const PlaceRecord same{.node = "one", .files = place->files, .to = {}, .done = false};
  CHECK(WishFor("one", place, same) == ClaimWish::kClaim);
  CHECK(WishFor("two", place, same) == ClaimWish::kElsewhere);
  const PlaceRecord replaced{.node = "one", .files = place->before, .to = "two", .done = false};
  CHECK(WishFor("two", place, replaced) == ClaimWish::kClaim);
  const uint64_t other = place->files ^ place->before ^ 1;
  if (other == place->files || other == place->before) return 0;
  CHECK(WishFor("two", place, PlaceRecord{.node = "one", .files = other, .to = "two", .done = false}) ==
        ClaimWish::kCopyMissing);
  return 0;
}
