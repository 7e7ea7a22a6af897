// What users see of a crawl's shards, added up: counts, hosts that are slow or do not answer, fetches in flight.
//
// Thread: the caller's, which must prevent turns of a shard while it is read.

#pragma once

#include <cstdint>

#include "crawl/progress.h"
#include "crawl/shard.h"

namespace portolan {

// Adds one shard to the picture.
void AddShard(const Shard& shard, Moment now, CrawlProgress& picture);
// Adds the durations of a shard's turns.
void AddTurns(const TurnTimes& turns, CrawlProgress& picture);
// To be called when all shards are added: cuts the lists to the length that is shown, the most important entries first.
void FinishPicture(CrawlProgress& picture);

}  // namespace portolan
