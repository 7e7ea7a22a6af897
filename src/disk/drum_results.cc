#include "disk/drum_results.h"

#include <fmt/core.h>

#include "base/check.h"

namespace portolan {

DrumResults::DrumResults(const DrumOptions& options, const DrumBatch& batch, BlockFileReader log,
                         BlockFileReader answers)
    : options_(options),
      batch_(batch),
      mixed_(!options.only_op.has_value()),
      log_(std::move(log)),
      answers_(std::move(answers)),
      answers_end_(answers_.length()) {}

Result<std::unique_ptr<DrumResults>> DrumResults::Open(Env& env, const std::string& dir, const DrumOptions& options,
                                                       const DrumMemoryPlan& plan, const DrumBatch& batch,
                                                       const DrumRound& round) {
  CHECK(round.done() && round.status());
  BlockFileReader::Options log_options;
  log_options.read_ahead = plan.read_ahead;
  log_options.length = batch.tuple_log->length();
  ASSIGN_OR_RETURN(BlockFileReader log,
                   BlockFileReader::Open(env, batch.tuple_log->path(), FileKind::kTuples, log_options));
  BlockFileReader::Options answer_options;
  answer_options.read_ahead = kBlockHeaderSize + plan.answers_per_block / 8;
  ASSIGN_OR_RETURN(BlockFileReader answers,
                   BlockFileReader::Open(env, JoinPath(dir, round.answers_name()), FileKind::kAnswers, answer_options));
  std::unique_ptr<DrumResults> results(new DrumResults(options, batch, std::move(log), std::move(answers)));
  for (const uint64_t offset : round.answers_start()) {
    results->cursors_.emplace_back();
    results->cursors_.back().offset = offset;
  }
  struct Nobody : DrumSink {
    Status OnAnswer(const DrumAnswer&) override { return {}; }
  } nobody;
  uint64_t skipped = 0;
  RETURN_IF_ERROR(results->Take(nobody, batch.taken, skipped));
  CHECK(skipped == batch.taken);
  return results;
}

Result<bool> DrumResults::NextRecord() {
  while (!records_.Next()) {
    if (!records_.ok()) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: block before {}: its records are broken", batch_.tuple_log->path(), log_.offset()));
    }
    ASSIGN_OR_RETURN(const std::optional<Block> block, log_.Next());
    if (!block) return false;
    records_.Start(*block, 1);
  }
  return true;
}

Status DrumResults::NextBlock(uint32_t bucket) {
  Cursor& cursor = cursors_[bucket];
  answers_.Seek(cursor.offset, answers_end_);
  ASSIGN_OR_RETURN(const std::optional<Block> block, answers_.Next());
  const size_t bits = block ? (size_t{block->records} + 7) / 8 * (mixed_ ? 2 : 1) : 0;
  if (!block || block->kind != bucket || block->records == 0 || block->payload.size() < bits) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("drum {}: answers at {}: none of bucket {}", options_.name, cursor.offset, bucket));
  }
  cursor.offset = block->end;
  cursor.block = block->payload;
  cursor.rows = block->records;
  cursor.next = 0;
  cursor.value_at = bits;
  return {};
}

Status DrumResults::Take(DrumSink& sink, uint64_t max, uint64_t& taken) {
  const bool all = options_.emit_duplicates;
  const bool updates_only = options_.only_op == DrumOp::kUpdate;
  const size_t value_size = options_.value_size;
  for (uint64_t i = 0; i < max; ++i) {
    if (!at_record_) {
      ASSIGN_OR_RETURN(at_record_, NextRecord());
    }
    if (!at_record_) {
      if (taken_ == batch_.tuples) return {};
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: ends after {} of {} tuples", batch_.tuple_log->path(), taken_, batch_.tuples));
    }
    const uint32_t bucket = records_.tag();
    if (bucket >= cursors_.size()) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: tuple {} names bucket {}", batch_.tuple_log->path(), taken_, bucket));
    }
    Cursor& cursor = cursors_[bucket];
    if (cursor.next == cursor.rows) RETURN_IF_ERROR(NextBlock(bucket));
    const uint32_t row = cursor.next;
    const auto bit = [&](size_t from) { return ((cursor.block[from + row / 8] >> (row % 8)) & 1) != 0; };
    size_t value_end = cursor.value_at;
    if (!updates_only && !(mixed_ && bit((size_t{cursor.rows} + 7) / 8))) {
      DrumAnswer answer;
      answer.unique = bit(0);
      if (!answer.unique && value_size > 0) {
        value_end += value_size;
        if (value_end > cursor.block.size()) {
          return Fail(ErrorCode::kCorrupt, fmt::format("drum {}: answers before {}: too few values of bucket {}",
                                                       options_.name, cursor.offset, bucket));
        }
        answer.value = std::string_view(cursor.block).substr(cursor.value_at, value_size);
      }
      if (answer.unique || all) {
        answer.aux = records_.record();
        RETURN_IF_ERROR(sink.OnAnswer(answer));
      }
    }
    cursor.value_at = value_end;
    ++cursor.next;
    at_record_ = false;
    ++taken_;
    ++taken;
  }
  return {};
}

}  // namespace portolan
