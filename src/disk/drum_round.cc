#include "disk/drum_round.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {
namespace {

uint32_t BucketOf(uint64_t key, unsigned bits) { return bits == 0 ? 0 : static_cast<uint32_t>(key >> (64 - bits)); }

}  // namespace

AnswerBits::AnswerBits(const DrumBatch& batch) {
  uint64_t words = 0;
  for (uint32_t bucket = 0; bucket < batch.rows_in_runs.size(); ++bucket) {
    start_.push_back(words);
    words += (batch.rows(bucket) + 63) / 64;
  }
  words_.assign(words, 0);
}

DrumRound::DrumRound(Env& env, std::string dir, const DrumOptions& options, const DrumMemoryPlan& plan,
                     const DrumBatch& batch, const ZState& z, std::string new_z_name, std::string values_name)
    : env_(env),
      dir_(std::move(dir)),
      options_(options),
      plan_(plan),
      batch_(batch),
      old_z_(z),
      new_z_name_(std::move(new_z_name)),
      values_name_(std::move(values_name)),
      format_{options.value_size, !options.only_op.has_value()} {}

void DrumRound::Run() {
  status_ = Merge();
  if (!status_) {
    // Nothing half-made stays; a full disk gets its bytes back.
    writer_.reset();
    values_.reset();
    for (const std::string& name : {new_z_name_, values_name_}) {
      if (env_.Exists(JoinPath(dir_, name))) static_cast<void>(env_.Remove(JoinPath(dir_, name)));
    }
  }
  // The buffers are of no use any more; their share of memory is free for the next round.
  z_.reset();
  cursors_.clear();
  rows_ = {};
  pairs_ = {};
  starts_ = {};
  found_ = {};
  {
    const std::lock_guard lock(mutex_);
    done_.store(true, std::memory_order_release);
    changed_.notify_all();
  }
  if (options_.on_round_done) options_.on_round_done();
}

void DrumRound::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done(); });
}

Status DrumRound::Merge() {
  ASSIGN_OR_RETURN(z_, ZReader::Open(env_, old_z_.name.empty() ? "" : JoinPath(dir_, old_z_.name), old_z_.length,
                                     options_.value_size, plan_.read_ahead));
  ASSIGN_OR_RETURN(writer_, ZWriter::Create(env_, JoinPath(dir_, new_z_name_), options_.value_size));
  if (options_.value_size > 0) {
    ASSIGN_OR_RETURN(values_,
                     BlockFileWriter::Create(env_, JoinPath(dir_, values_name_), FileKind::kValues, Codec::kNone));
    value_.resize(options_.value_size);
  }
  for (const DrumRun& run : batch_.runs) {
    BlockFileReader::Options options;
    options.read_ahead = plan_.block_size;
    options.length = run.length;
    ASSIGN_OR_RETURN(BlockFileReader reader,
                     BlockFileReader::Open(env_, JoinPath(dir_, run.name), FileKind::kRun, options));
    cursors_.push_back({std::move(reader), std::nullopt});
    ASSIGN_OR_RETURN(cursors_.back().block, cursors_.back().reader.Next());
  }
  unique_ = AnswerBits(batch_);
  if (format_.has_op) silent_ = AnswerBits(batch_);

  const bool plain_set = options_.value_size == 0 && options_.only_op == DrumOp::kCheckUpdate && !options_.expunge;
  for (uint32_t bucket = 0; bucket < batch_.table->buckets(); ++bucket) {
    if (stop_) return Fail(ErrorCode::kClosed, "the round was stopped");
    RETURN_IF_ERROR(Gather(bucket));
    Sort();
    RETURN_IF_ERROR(plain_set ? WalkSet(bucket) : WalkAny(bucket));
    RETURN_IF_ERROR(WriteValues(bucket));
  }
  RETURN_IF_ERROR(writer_->Finish(options_.durable));
  new_z_ = {.name = new_z_name_, .length = writer_->length(), .keys = writer_->keys()};
  return {};
}

Status DrumRound::Gather(uint32_t bucket) {
  const size_t row_size = format_.size();
  rows_.clear();
  const uint64_t expected = batch_.rows(bucket);
  rows_.reserve(expected * row_size);
  for (RunCursor& cursor : cursors_) {
    while (cursor.block && cursor.block->kind == bucket) {
      if (cursor.block->payload.size() != cursor.block->records * row_size ||
          rows_.size() + cursor.block->payload.size() > expected * row_size) {
        return Fail(ErrorCode::kCorrupt, fmt::format("{}: run block at {}: not the rows that were written",
                                                     options_.name, cursor.block->offset));
      }
      rows_.append(cursor.block->payload);
      ASSIGN_OR_RETURN(cursor.block, cursor.reader.Next());
    }
  }
  batch_.table->ForEachPiece(bucket, [&](std::string_view piece) { rows_.append(piece); });
  if (rows_.size() != expected * row_size) {
    return Fail(ErrorCode::kCorrupt, fmt::format("{}: bucket {} has {} bytes of rows, {} were written", options_.name,
                                                 bucket, rows_.size(), expected * row_size));
  }
  return {};
}

// Keys are hashes, so one scatter by the bits after the bucket's leaves groups of a few, which insertion finishes. Keys
// that are no hashes only make some groups large; those are sorted the ordinary way. Equal keys stay in their order.
void DrumRound::Sort() {
  constexpr size_t kGroup = 4;            // aimed at
  constexpr size_t kInsertionLimit = 32;  // larger groups go to std::sort
  const size_t row_size = format_.size();
  const size_t count = rows_.size() / row_size;
  pairs_.resize(count);
  const unsigned bits = std::min(16U, static_cast<unsigned>(std::bit_width(count / kGroup)));
  const unsigned shift = 64 - bits;
  // Bits below the bucket's, moved to the top; shifting by 64 is undefined, hence two steps.
  const auto group_of = [&](uint64_t key) -> size_t { return bits == 0 ? 0 : (key << plan_.bucket_bits) >> shift; };

  starts_.assign((size_t{1} << bits) + 1, 0);
  const char* row = rows_.data();
  for (size_t i = 0; i < count; ++i, row += row_size) ++starts_[group_of(LoadLe<uint64_t>(row)) + 1];
  for (size_t group = 1; group < starts_.size(); ++group) starts_[group] += starts_[group - 1];
  row = rows_.data();
  for (size_t i = 0; i < count; ++i, row += row_size) {
    const auto key = LoadLe<uint64_t>(row);
    pairs_[starts_[group_of(key)]++] = {key, static_cast<uint32_t>(i)};
  }
  // starts_[g] is now the end of group g.
  size_t begin = 0;
  for (size_t group = 0; group + 1 < starts_.size(); ++group) {
    const size_t end = starts_[group];
    if (end - begin > kInsertionLimit) {
      std::sort(pairs_.begin() + static_cast<ptrdiff_t>(begin), pairs_.begin() + static_cast<ptrdiff_t>(end),
                [](const Pair& a, const Pair& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; });
    } else {
      for (size_t i = begin + 1; i < end; ++i) {
        const Pair pair = pairs_[i];
        size_t hole = i;
        for (; hole > begin && pairs_[hole - 1].key > pair.key; --hole) pairs_[hole] = pairs_[hole - 1];
        pairs_[hole] = pair;
      }
    }
    begin = end;
  }
}

Status DrumRound::WalkSet(uint32_t bucket) {
  ZReader& z = *z_;
  ZWriter& writer = *writer_;
  for (size_t i = 0; i < pairs_.size();) {
    const uint64_t key = pairs_[i].key;
    while (!z.done() && z.key() < key) {
      writer.Push(z.key());
      if (writer.full()) RETURN_IF_ERROR(writer.WriteBlock());
      z.Pop();
      if (z.empty_block()) RETURN_IF_ERROR(z.NextBlock());
    }
    if (z.done() || z.key() != key) {
      unique_.Set(bucket, pairs_[i].index);
      writer.Push(key);
      if (writer.full()) RETURN_IF_ERROR(writer.WriteBlock());
    }  // else it is copied when a larger key comes
    do {
      ++i;
    } while (i < pairs_.size() && pairs_[i].key == key);
  }
  return CopyRest(bucket);
}

Status DrumRound::CopyBelow(uint64_t key) {
  while (!z_->done() && z_->key() < key) {
    if (!Expunged()) {
      writer_->Push(z_->key(), z_->value());
      if (writer_->full()) RETURN_IF_ERROR(writer_->WriteBlock());
    }
    z_->Pop();
    if (z_->empty_block()) RETURN_IF_ERROR(z_->NextBlock());
  }
  return {};
}

Status DrumRound::CopyRest(uint32_t bucket) {
  while (!z_->done() && BucketOf(z_->key(), plan_.bucket_bits) <= bucket) {
    if (!Expunged()) {
      writer_->Push(z_->key(), z_->value());
      if (writer_->full()) RETURN_IF_ERROR(writer_->WriteBlock());
    }
    z_->Pop();
    if (z_->empty_block()) RETURN_IF_ERROR(z_->NextBlock());
  }
  return {};
}

Status DrumRound::WalkAny(uint32_t bucket) {
  found_.resize(pairs_.size() * options_.value_size);
  for (size_t begin = 0; begin < pairs_.size();) {
    const uint64_t key = pairs_[begin].key;
    size_t end = begin + 1;
    while (end < pairs_.size() && pairs_[end].key == key) ++end;
    RETURN_IF_ERROR(CopyBelow(key));
    bool stored = false;
    if (!z_->done() && z_->key() == key) {
      stored = !Expunged();
      if (stored) value_ = z_->value();
      z_->Pop();
      if (z_->empty_block()) RETURN_IF_ERROR(z_->NextBlock());
    }
    if (Apply(bucket, begin, end, stored)) {
      writer_->Push(key, value_);
      if (writer_->full()) RETURN_IF_ERROR(writer_->WriteBlock());
    }
    begin = end;
  }
  return CopyRest(bucket);
}

bool DrumRound::Apply(uint32_t bucket, size_t begin, size_t end, bool stored) {
  for (size_t i = begin; i < end; ++i) {
    const uint32_t index = pairs_[i].index;
    const char* row = Row(index);
    const DrumOp op = format_.has_op ? static_cast<DrumOp>(row[8]) : *options_.only_op;
    if (op == DrumOp::kUpdate) {
      if (format_.has_op) silent_.Set(bucket, index);
    } else if (stored) {
      std::copy(value_.begin(), value_.end(), found_.begin() + static_cast<ptrdiff_t>(index * value_.size()));
    } else {
      unique_.Set(bucket, index);
    }
    if (op == DrumOp::kCheck) continue;
    const std::string_view incoming(row + format_.value_at(), options_.value_size);
    if (stored && options_.combine) {
      options_.combine(value_.data(), incoming);
    } else {
      value_ = incoming;
    }
    stored = true;
  }
  return stored;
}

Status DrumRound::WriteValues(uint32_t bucket) {
  if (!values_) return {};
  values_start_.push_back(values_->length());
  value_block_.clear();
  const auto write = [&]() -> Status {
    if (value_block_.empty()) return {};
    RETURN_IF_ERROR(values_->Append({.kind = static_cast<uint8_t>(bucket),
                                     .records = static_cast<uint32_t>(value_block_.size() / options_.value_size),
                                     .plain = value_block_,
                                     .compressible = {}}));
    value_block_.clear();
    return {};
  };
  for (uint32_t index = 0; index < pairs_.size(); ++index) {
    if (unique_.Get(bucket, index) || (format_.has_op && silent_.Get(bucket, index))) continue;
    value_block_.append(found_, size_t{index} * options_.value_size, options_.value_size);
    if (value_block_.size() + options_.value_size > std::max<size_t>(plan_.block_size / 16, options_.value_size)) {
      RETURN_IF_ERROR(write());
    }
  }
  return write();
}

DrumResults::DrumResults(const DrumRound& round) : round_(round) {
  for (uint32_t bucket = 0; bucket < round.batch_.table->buckets(); ++bucket) {
    rows_.push_back({.next = 0, .end = round.batch_.rows(bucket)});
  }
}

Result<std::unique_ptr<DrumResults>> DrumResults::Open(const DrumRound& round) {
  CHECK(round.done() && round.status());
  std::unique_ptr<DrumResults> results(new DrumResults(round));
  BlockFileReader::Options options;
  options.read_ahead = round.plan_.read_ahead;
  options.length = round.batch_.tuple_log->length();
  ASSIGN_OR_RETURN(BlockFileReader log,
                   BlockFileReader::Open(round.env_, round.batch_.tuple_log->path(), FileKind::kTuples, options));
  results->log_ = std::move(log);
  if (round.options_.value_size > 0) results->cursors_.resize(results->rows_.size());
  struct Nobody : DrumSink {
    void OnAnswer(const DrumAnswer&) override {}
  } nobody;
  ASSIGN_OR_RETURN(const uint64_t skipped, results->Take(nobody, round.batch_.taken));
  CHECK(skipped == round.batch_.taken);
  return results;
}

Result<bool> DrumResults::NextRecord() {
  while (!records_.Next()) {
    if (!records_.ok()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: block before {}: its records are broken",
                                                   round_.batch_.tuple_log->path(), log_->offset()));
    }
    ASSIGN_OR_RETURN(const std::optional<Block> block, log_->Next());
    if (!block) return false;
    records_ = RecordBlockReader(*block, 1);
  }
  return true;
}

Result<std::string_view> DrumResults::NextValue(uint32_t bucket) {
  ValueCursor& cursor = cursors_[bucket];
  const size_t size = round_.options_.value_size;
  if (cursor.at + size > cursor.block.size()) {
    const std::string path = JoinPath(round_.dir_, round_.values_name_);
    if (!cursor.reader) {
      BlockFileReader::Options options;
      options.offset = round_.values_start_[bucket];
      options.read_ahead = kBlockHeaderSize;
      ASSIGN_OR_RETURN(BlockFileReader reader, BlockFileReader::Open(round_.env_, path, FileKind::kValues, options));
      cursor.reader = std::move(reader);
    }
    ASSIGN_OR_RETURN(const std::optional<Block> block, cursor.reader->Next());
    if (!block || block->kind != bucket || block->payload.size() < size || block->payload.size() % size != 0) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: no values of bucket {} before {}", path, bucket, cursor.reader->offset()));
    }
    cursor.block = block->payload;
    cursor.at = 0;
  }
  cursor.at += size;
  return std::string_view(cursor.block).substr(cursor.at - size, size);
}

Result<uint64_t> DrumResults::Take(DrumSink& sink, uint64_t max) {
  const bool mixed = round_.format_.has_op;
  const bool all = round_.options_.emit_duplicates;
  const bool updates_only = round_.options_.only_op == DrumOp::kUpdate;
  uint64_t taken = 0;
  for (; taken < max; ++taken) {
    ASSIGN_OR_RETURN(const bool found, NextRecord());
    if (!found) {
      if (taken_ + taken < round_.batch_.tuples) {
        return Fail(ErrorCode::kCorrupt, fmt::format("{}: ends after {} of {} tuples", round_.batch_.tuple_log->path(),
                                                     taken_ + taken, round_.batch_.tuples));
      }
      break;
    }
    const uint32_t bucket = records_.tag();
    if (bucket >= rows_.size() || rows_[bucket].next == rows_[bucket].end) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: tuple {} names bucket {}", round_.batch_.tuple_log->path(), taken_ + taken, bucket));
    }
    const uint64_t index = rows_[bucket].next++;
    if (updates_only || (mixed && round_.silent_.Get(bucket, index))) continue;
    DrumAnswer answer;
    answer.unique = round_.unique_.Get(bucket, index);
    if (!answer.unique && !cursors_.empty()) {
      ASSIGN_OR_RETURN(answer.value, NextValue(bucket));
    }
    if (answer.unique || all) {
      answer.aux = records_.record();
      sink.OnAnswer(answer);
    }
  }
  taken_ += taken;
  return taken;
}

}  // namespace portolan
