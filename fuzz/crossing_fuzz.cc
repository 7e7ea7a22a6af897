// What crosses between shards: any bytes give a message or nothing, and a message that is written again reads the same.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "crawl/crossing.h"
#include "reputation/in_degree_histogram.h"

namespace {

// Classes descend without gaps in their order, and hold no more domains than there are.
void CheckRanks(std::string_view bytes) {
  using portolan::InDegreeHistogram;
  const auto histogram = InDegreeHistogram::Decode(bytes);
  if (!histogram) return;
  CHECK(histogram->bytes() == bytes && histogram->linked() <= histogram->domains());
  uint64_t counted = 0;
  uint64_t below = uint64_t{1} << 32;
  InDegreeHistogram::Reader reader = histogram->classes();
  for (InDegreeHistogram::Class next; reader.Next(next); below = next.least) {
    CHECK(next.least >= 1 && next.least <= next.most && next.most < below && next.count > 0);
    counted += next.count;
  }
  CHECK(reader.done() && counted <= histogram->linked());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace portolan;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto crossing = DecodeCrossing(bytes);
  if (!crossing) return 0;
  std::string again;
  switch (crossing->kind) {
    case Crossing::Kind::kLink:
      EncodeLinkCrossing(crossing->hash, crossing->record, again);
      break;
    case Crossing::Kind::kRobotsRequest:
      EncodeRobotsRequest(crossing->record, again);
      break;
    case Crossing::Kind::kRobotsAnswer:
      EncodeRobotsAnswer(crossing->url, crossing->hops, crossing->answer, again);
      break;
    case Crossing::Kind::kAgain:
      EncodeAgainCrossing(crossing->record, again);
      break;
    case Crossing::Kind::kPayload:
      EncodePayloadCrossing(crossing->first, crossing->page, again);
      break;
    case Crossing::Kind::kCopy:
      EncodeCopyCrossing(crossing->url, crossing->unix_ms, crossing->first, crossing->first_unix_ms, crossing->page,
                         again);
      break;
    case Crossing::Kind::kRanks:
      CheckRanks(crossing->ranks);
      EncodeRanksCrossing(crossing->shard, crossing->ranks, again);
      break;
  }
  const auto second = DecodeCrossing(again);
  CHECK(second && second->kind == crossing->kind && second->record == crossing->record &&
        second->url == crossing->url && second->first == crossing->first && second->page == crossing->page &&
        second->shard == crossing->shard && second->ranks == crossing->ranks && second->unix_ms == crossing->unix_ms &&
        second->first_unix_ms == crossing->first_unix_ms);
  return 0;
}
