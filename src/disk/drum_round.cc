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

DrumRound::DrumRound(Env& env, std::string dir, const DrumOptions& options, const DrumMemoryPlan& plan,
                     const DrumBatch& batch, const ZState& z, std::string new_z_name, std::string answers_name)
    : env_(env),
      dir_(std::move(dir)),
      options_(options),
      plan_(plan),
      batch_(batch),
      old_z_(z),
      new_z_name_(std::move(new_z_name)),
      answers_name_(std::move(answers_name)),
      format_{options.value_size, !options.only_op.has_value()} {}

void DrumRound::Run() {
  status_ = Merge();
  writer_.reset();
  answers_.reset();
  if (!status_) {
    // No unfinished file stays; a full disk gets its space back.
    for (const std::string& name : {new_z_name_, answers_name_}) {
      if (env_.Exists(JoinPath(dir_, name))) static_cast<void>(env_.Remove(JoinPath(dir_, name)));
    }
  }
  // The buffers are no longer needed; their share of memory is free for the next round.
  z_.reset();
  cursors_.clear();
  rows_ = {};
  pairs_ = {};
  starts_ = {};
  found_ = {};
  unique_ = {};
  silent_ = {};
  // Once the owner sees done, it may free everything except this object, which the job holds.
  const std::function<void()> tell = options_.on_round_done;
  {
    const std::lock_guard lock(mutex_);
    done_.store(true, std::memory_order_release);
    changed_.notify_all();
  }
  if (tell) tell();
}

void DrumRound::Wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done(); });
}

Status DrumRound::Merge() {
  ASSIGN_OR_RETURN(z_, ZReader::Open(env_, old_z_.name.empty() ? "" : JoinPath(dir_, old_z_.name), old_z_.length,
                                     options_.value_size, plan_.read_ahead));
  ASSIGN_OR_RETURN(writer_, ZWriter::Create(env_, JoinPath(dir_, new_z_name_), options_.value_size));
  ASSIGN_OR_RETURN(answers_,
                   BlockFileWriter::Create(env_, JoinPath(dir_, answers_name_), FileKind::kAnswers, Codec::kNone));
  value_.resize(options_.value_size);
  for (const DrumRun& run : batch_.runs) {
    BlockFileReader::Options options;
    options.read_ahead = plan_.block_size;
    options.length = run.length;
    ASSIGN_OR_RETURN(BlockFileReader reader,
                     BlockFileReader::Open(env_, JoinPath(dir_, run.name), FileKind::kRun, options));
    cursors_.push_back({std::move(reader), std::nullopt});
    ASSIGN_OR_RETURN(cursors_.back().block, cursors_.back().reader.Next());
  }
  if (options_.on_round_begin) options_.on_round_begin();
  const bool plain_set =
      options_.value_size == 0 && options_.only_op == DrumOp::kCheckUpdate && !options_.expunge && !options_.visit;
  for (uint32_t bucket = 0; bucket < batch_.table->buckets(); ++bucket) {
    if (stop_) return Fail(ErrorCode::kClosed, "the round was stopped");
    RETURN_IF_ERROR(Gather(bucket));
    Sort();
    unique_.assign((pairs_.size() + 7) / 8, '\0');
    if (format_.has_op) silent_.assign(unique_.size(), '\0');
    RETURN_IF_ERROR(plain_set ? WalkSet(bucket) : WalkAny(bucket));
    RETURN_IF_ERROR(WriteAnswers(bucket));
  }
  if (z_->keys_read() != old_z_.keys) {
    return Fail(ErrorCode::kCorrupt, fmt::format("drum {}: {} has {} keys, the manifest says {}", options_.name,
                                                 old_z_.name, z_->keys_read(), old_z_.keys));
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
// that are not hashes only make some groups large; those are sorted the ordinary way. Equal keys stay in their order.
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
      SetBit(unique_, pairs_[i].index);
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
    if (!Expunged()) RETURN_IF_ERROR(Keep(z_->key(), z_->value()));
    z_->Pop();
    if (z_->empty_block()) RETURN_IF_ERROR(z_->NextBlock());
  }
  return {};
}

Status DrumRound::CopyRest(uint32_t bucket) {
  while (!z_->done() && BucketOf(z_->key(), plan_.bucket_bits) <= bucket) {
    if (!Expunged()) RETURN_IF_ERROR(Keep(z_->key(), z_->value()));
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
    if (Apply(begin, end, stored)) RETURN_IF_ERROR(Keep(key, value_));
    begin = end;
  }
  return CopyRest(bucket);
}

bool DrumRound::Apply(size_t begin, size_t end, bool stored) {
  for (size_t i = begin; i < end; ++i) {
    const uint32_t index = pairs_[i].index;
    const char* row = Row(index);
    const DrumOp op = format_.has_op ? static_cast<DrumOp>(row[8]) : *options_.only_op;
    if (op == DrumOp::kUpdate) {
      if (format_.has_op) SetBit(silent_, index);
    } else if (stored) {
      std::copy(value_.begin(), value_.end(), found_.begin() + static_cast<ptrdiff_t>(index * value_.size()));
    } else {
      SetBit(unique_, index);
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

Status DrumRound::WriteAnswers(uint32_t bucket) {
  answers_start_.push_back(answers_->length());
  const uint32_t step = plan_.answers_per_block;
  for (uint32_t begin = 0; begin < pairs_.size(); begin += step) {
    const uint32_t end = static_cast<uint32_t>(std::min<size_t>(pairs_.size(), size_t{begin} + step));
    const size_t bytes = (end - begin + 7) / 8;  // begin is a multiple of 8
    answer_block_.assign(unique_, begin / 8, bytes);
    if (format_.has_op) answer_block_.append(silent_, begin / 8, bytes);
    for (uint32_t index = begin; options_.value_size > 0 && index < end; ++index) {
      if (Bit(unique_, index) || (format_.has_op && Bit(silent_, index))) continue;
      answer_block_.append(found_, size_t{index} * options_.value_size, options_.value_size);
    }
    RETURN_IF_ERROR(answers_->Append(
        {.kind = static_cast<uint8_t>(bucket), .records = end - begin, .plain = answer_block_, .compressible = {}}));
  }
  return {};
}

}  // namespace portolan
