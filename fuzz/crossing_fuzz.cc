// What crosses between shards: any bytes give a message or nothing, and a message that is written again reads the same.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "crawl/crossing.h"

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
  }
  const auto second = DecodeCrossing(again);
  CHECK(second && second->kind == crossing->kind && second->record == crossing->record &&
        second->url == crossing->url && second->first == crossing->first && second->page == crossing->page &&
        second->unix_ms == crossing->unix_ms && second->first_unix_ms == crossing->first_unix_ms);
  return 0;
}
