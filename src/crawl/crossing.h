// Crossing: what one shard sends to another, encoded for the ShardExchange and for the queue of arrivals.
//
//   link            a URL that was found on a page of another shard, or a seed
//   robots request  a robots.txt that a redirect led to, to be fetched by the shard of the target's domain
//   robots answer   the result of such a fetch, for the gate of the shard that asked
//   payload         a capture, for the shard that owns its payload: was it captured before? Or one that is taken back
//   copy            the answer if it was: for the shard that owns the page's domain
//   again           a page of a mirror, for the shard of its domain: the page that stood in for it failed
//
// A link may arrive twice: URLseen knows it the second time.
//
// Format (docs/formats/crossing.md): one byte of kind, then the fields. On disk: never renumber.
// Decode returns nothing for bytes that are not a message.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flow/page_result.h"

namespace portolan {

struct Crossing {
  enum class Kind : uint8_t { kLink = 1, kRobotsRequest = 2, kRobotsAnswer = 3, kPayload = 4, kCopy = 5, kAgain = 6 };
  Kind kind = Kind::kLink;
  uint64_t hash = 0;             // kLink: of the URL, with the crawl's key
  std::string_view record = {};  // kLink, kRobotsRequest, kAgain: an encoded UrlRecord
  std::string_view url = {};     // kRobotsAnswer: the URL of the request (gate/robots_request.h). kCopy: of the page
  std::string_view first = {};   // kPayload: the capture (content/first_capture.h). kCopy: the URL of the first one
  int64_t unix_ms = 0;           // kCopy: when the page was fetched
  int64_t first_unix_ms = 0;     // kCopy
  bool page = false;             // kPayload, kCopy: it is a page with content, not an error
  uint8_t hops = 0;              // kRobotsAnswer
  RobotsAnswer answer = {};      // kRobotsAnswer
};

// These replace `out` and reuse its memory.
void EncodeLinkCrossing(uint64_t hash, std::string_view record, std::string& out);
void EncodeRobotsRequest(std::string_view record, std::string& out);
void EncodeRobotsAnswer(std::string_view url, uint8_t hops, const RobotsAnswer& answer, std::string& out);

void EncodePayloadCrossing(std::string_view capture, bool page, std::string& out);
void EncodeCopyCrossing(std::string_view url, int64_t unix_ms, std::string_view first, int64_t first_unix_ms, bool page,
                        std::string& out);

void EncodeAgainCrossing(std::string_view record, std::string& out);

// The views point into `bytes`.
std::optional<Crossing> DecodeCrossing(std::string_view bytes);

}  // namespace portolan
