#include "disk/drum_types.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

namespace portolan {

Result<DrumMemoryPlan> DrumMemoryPlan::Make(const DrumOptions& options) {
  const auto wrong = [&](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("drum {}: {}", options.name, what));
  };
  DrumMemoryPlan plan;
  plan.row_size = sizeof(uint64_t) + (options.only_op ? 0 : 1) + options.value_size;
  const uint64_t least = std::max(kMinMemory, uint64_t{plan.row_size} * 2048);
  if (options.memory < least)
    return wrong(fmt::format("{} bytes of memory, at least {} are needed", options.memory, least));
  if (options.value_size > 4096) return wrong("values of more than 4096 bytes: store a reference instead");
  if (options.bucket_bits.value_or(0) > kMostBucketBits) return wrong("more than 256 buckets");

  // A filter that may forget keys: a duplicate that is not reported can be dropped without asking the disk.
  const bool filter = options.only_op == DrumOp::kCheckUpdate && options.value_size == 0 && !options.emit_duplicates &&
                      !options.expunge;
  if (filter) plan.recent_bytes = std::min(options.recent_bytes.value_or(options.memory / 32), options.memory / 4);
  const uint64_t memory = options.memory - plan.recent_bytes;
  const uint64_t pool = memory / 4 * 3;
  // Half of the pool for the open batch; with at least 16 chunks per bucket, half-filled last chunks waste little.
  const uint64_t half = pool / 2;
  plan.bucket_bits = options.bucket_bits.value_or(
      std::min(kMostBucketBits, static_cast<unsigned>(std::bit_width(half / (uint64_t{plan.row_size} * 128))) - 1));
  const uint64_t per_bucket = half >> plan.bucket_bits;
  const uint64_t rows_per_chunk = std::clamp<uint64_t>(per_bucket / 16 / plan.row_size, 1, 512);
  plan.chunk_bytes = rows_per_chunk * plan.row_size;
  plan.chunks = pool / plan.chunk_bytes;
  if (plan.chunks < (size_t{2} << plan.bucket_bits)) return wrong("too little memory for that many buckets");
  plan.rows_in_ram = half / plan.row_size;
  // The other batch may hold rows_in_ram rows and waste a part of a chunk per bucket; this one may waste as much.
  const uint64_t wasted = rows_per_chunk == 1 ? 0 : uint64_t{2} << plan.bucket_bits;
  const uint64_t others = (plan.rows_in_ram + rows_per_chunk - 1) / rows_per_chunk;
  plan.sure_in_ram =
      std::min(plan.rows_in_ram, (plan.chunks - std::min<uint64_t>(plan.chunks, others + wasted)) * rows_per_chunk);
  plan.rows_per_bucket =
      std::max<uint64_t>(2 * rows_per_chunk, memory / 16 * 3 / (plan.row_size + 17 + options.value_size)) -
      rows_per_chunk;
  plan.max_aux = memory / 64;
  plan.block_size = std::clamp<uint64_t>(memory / 256, 1024, 64 << 10);
  plan.read_ahead = std::clamp<uint64_t>(memory / 512, 4096, 512 << 10);
  // A sixteenth of a block for each bucket's answers: all buckets together hold 1/256 of the memory.
  plan.answers_per_block =
      static_cast<uint32_t>(std::max<uint64_t>(64, plan.block_size / 2 / (1 + 8 * options.value_size) / 8 * 8));
  plan.runs = 64;
  return plan;
}

uint64_t DrumMemoryPlan::empty_room() const { return std::min(sure_in_ram, rows_per_bucket - rows_per_chunk()); }

}  // namespace portolan
