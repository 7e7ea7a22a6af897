// Any bytes as a Content-Type, a Cache-Control, a date and a body to sniff: values that say the same when written out.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "http/cache_control.h"
#include "http/date.h"
#include "http/mime.h"
#include "http/sniff.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto mime = portolan::ParseMimeType(bytes)) {
    const std::string text = mime->Serialize();
    const auto again = portolan::ParseMimeType(text);
    CHECK(again.has_value());
    CHECK(again->Serialize() == text);
    CHECK(mime->Is(mime->Essence()));
  }
  portolan::ExtractMimeType(bytes);

  const auto sniffed = portolan::SniffContent(std::nullopt, bytes, false);
  CHECK(portolan::ParseMimeType(sniffed.essence)->Essence() == sniffed.essence);
  const size_t line = std::min(bytes.find('\n'), bytes.size());
  portolan::SniffContent(bytes.substr(0, line), bytes.substr(line), (size & 1) != 0);

  for (const auto date : {portolan::ParseHttpDate(bytes), portolan::ParseIsoDate(bytes)}) {
    if (!date || *date < -11'000'000'000 || *date > 250'000'000'000) continue;
    CHECK(portolan::ParseHttpDate(portolan::FormatHttpDate(*date)) == date);
  }
  const portolan::CacheControl cache = portolan::ParseCacheControl(bytes);
  CHECK(cache.max_age.value_or(0) <= portolan::CacheControl::kMaxDelta);
  if (const auto wait = portolan::ParseRetryAfter(bytes, 784111777)) CHECK(*wait <= portolan::CacheControl::kMaxDelta);
  return 0;
}
