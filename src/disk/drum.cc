#include "disk/drum.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/check.h"

namespace portolan {
namespace {

constexpr uint8_t kTuplesBlock = 1;
constexpr uint8_t kRowsBlock = 1;

}  // namespace

Drum::Drum(Env& env, std::string dir, Executor& executor, const DrumOptions& options)
    : env_(env),
      dir_(std::move(dir)),
      executor_(executor),
      options_(options),
      plan_(*DrumMemoryPlan::Make(options)),
      pool_(plan_.chunk_bytes, plan_.chunks),
      recent_(plan_.recent_bytes),
      removals_(env, executor) {}

Drum::~Drum() {
  if (round_) {
    round_->Stop();
    round_->Wait();
  }
}

Result<std::unique_ptr<Drum>> Drum::Open(Env& env, const Manifest& manifest, Executor& executor,
                                         const DrumOptions& options) {
  ASSIGN_OR_RETURN(const ManifestSection* section, manifest.Find(options.name, kKind));
  DrumOptions chosen = options;
  if (section != nullptr && !chosen.bucket_bits) {
    // Tuples that wait are in that many buckets, whatever the memory is now.
    ASSIGN_OR_RETURN(const uint64_t bits, section->Number("bucket_bits"));
    if (bits > DrumMemoryPlan::kMostBucketBits) {
      return Fail(ErrorCode::kCorrupt, fmt::format("drum {}: bucket_bits is {}", options.name, bits));
    }
    chosen.bucket_bits = static_cast<unsigned>(bits);
  }
  RETURN_IF_ERROR(DrumMemoryPlan::Make(chosen));
  std::unique_ptr<Drum> drum(new Drum(env, manifest.dir(), executor, chosen));
  drum->Begin(drum->open_, drum->next_id_++);
  if (section != nullptr) RETURN_IF_ERROR(drum->Restore(*section));
  if (drum->sealed_.id != 0) RETURN_IF_ERROR(drum->BeginRound());
  return drum;
}

void Drum::Begin(DrumBatch& batch, uint64_t id) {
  batch = DrumBatch();
  batch.id = id;
  batch.tuple_block = RecordBlockBuilder(1);
  batch.table = std::make_unique<BucketTable>(pool_, plan_.bucket_bits, plan_.row_size);
  batch.rows_in_runs.assign(size_t{1} << plan_.bucket_bits, 0);
}

// ---- taking tuples

Status Drum::Add(const DrumTuple& tuple) {
  CHECK(tuple.value.size() == options_.value_size || tuple.op == DrumOp::kCheck);
  DCHECK(!options_.only_op || *options_.only_op == tuple.op);
  if (tuple.aux.size() > plan_.max_aux) [[unlikely]] {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("drum {}: aux of {} bytes, at most {} go with this memory",
                                                         options_.name, tuple.aux.size(), plan_.max_aux));
  }
  if (recent_.enabled() && recent_.Contains(tuple.key)) {
    ++known_;
    return {};
  }
  // Everything that can fail comes first, so that a refused tuple leaves no trace.
  if (open_.tuple_block.size() >= plan_.block_size) RETURN_IF_ERROR(WriteTuples(open_));
  if (open_.row_block.size() >= plan_.block_size) RETURN_IF_ERROR(WriteRows(open_));
  const uint32_t bucket = plan_.bucket_bits == 0 ? 0 : static_cast<uint32_t>(tuple.key >> (64 - plan_.bucket_bits));
  char* row = nullptr;
  if (open_.table->rows() < plan_.rows_in_ram && open_.largest_bucket() < plan_.rows_per_bucket) [[likely]] {
    row = open_.table->Append(bucket);
  }
  if (row == nullptr) {
    RETURN_IF_ERROR(MakeRoom());
    row = open_.table->Append(bucket);
    CHECK(row != nullptr, "an empty table has room for a row");
  }
  StoreLe<uint64_t>(row, tuple.key);
  const RowFormat format{options_.value_size, !options_.only_op.has_value()};
  if (format.has_op) row[8] = static_cast<char>(tuple.op);
  if (options_.value_size > 0) {
    char* value = row + format.value_at();
    if (tuple.value.empty()) {
      std::memset(value, 0, options_.value_size);
    } else {
      std::memcpy(value, tuple.value.data(), options_.value_size);
    }
  }
  if (options_.durable) open_.row_block.append(row, plan_.row_size);
  open_.tuple_block.Add(tuple.aux, bucket);
  ++open_.tuples;
  if (recent_.enabled()) recent_.Insert(tuple.key);
  return {};
}

uint64_t Drum::OnDisk() const { return (open_.tuple_log ? open_.tuple_log->length() : 0) + open_.bytes_in_runs; }

bool Drum::AtLimit() const {
  return open_.largest_bucket() >= plan_.rows_per_bucket || open_.runs.size() >= plan_.runs ||
         OnDisk() >= options_.disk;
}

// Add refuses when the rows in RAM are full and neither a round may begin nor a run be written (MakeRoom). Of all that,
// the worst case: every tuple in the largest bucket, each text of `longest` bytes and incompressible.
uint64_t Drum::Room(size_t longest) const {
  const uint64_t largest = open_.largest_bucket();
  const uint64_t rows = open_.table->rows();
  if (largest >= plan_.rows_per_bucket) return round_ == nullptr && sealed_.id == 0 ? plan_.empty_room() : 0;
  // The count of the largest bucket goes up by whole chunks.
  const uint64_t in_bucket =
      std::max(plan_.rows_per_bucket - largest, plan_.rows_per_chunk()) - (plan_.rows_per_chunk() - 1);
  const uint64_t in_ram = plan_.sure_in_ram - std::min(plan_.sure_in_ram, rows);
  // A round may begin as soon as RAM is full, and its batch leaves an empty one behind.
  if (round_ == nullptr && sealed_.id == 0) return std::min(in_bucket, in_ram) + plan_.empty_room();
  const uint64_t runs_left = plan_.runs - std::min(plan_.runs, open_.runs.size());
  const uint64_t on_disk = OnDisk() + open_.tuple_block.size() + rows * plan_.row_size;
  constexpr uint64_t kFrame = 32;  // of a tuple's part of block headers, and what front coding may add
  const uint64_t each = std::min(longest, plan_.max_aux) + plan_.row_size + kFrame;
  const uint64_t in_runs =
      std::min(in_ram + runs_left * plan_.sure_in_ram, on_disk < options_.disk ? (options_.disk - on_disk) / each : 0);
  return std::min(in_bucket, std::max(in_ram, in_runs));
}

bool Drum::RoundIsCheap() const { return 2 * z_.length <= 2 * open_.table->rows() * plan_.row_size; }

Status Drum::MakeRoom() {
  if (!RoundActive() && (AtLimit() || RoundIsCheap())) {
    RETURN_IF_ERROR(BeginRound());
    if (open_.tuples == 0) return {};
    // A batch whose round failed goes first; this one has to wait.
  }
  if (AtLimit()) {
    return Fail(ErrorCode::kBusy,
                fmt::format("drum {}: {} tuples wait; take the results of the round", options_.name, waiting()));
  }
  return Spill();
}

Status Drum::WriteRun(DrumBatch& batch) {
  const std::string name = fmt::format("{}-{:06}-{:03}.run", options_.name, batch.id, batch.next_run);
  ASSIGN_OR_RETURN(BlockFileWriter run,
                   BlockFileWriter::Create(env_, JoinPath(dir_, name), FileKind::kRun, Codec::kNone));
  const auto write = [&]() -> Status {
    std::string block;
    for (uint32_t bucket = 0; bucket < batch.table->buckets(); ++bucket) {
      Status status;
      const auto append = [&] {
        if (block.empty() || !status) return;
        status = run.Append({.kind = static_cast<uint8_t>(bucket),
                             .records = static_cast<uint32_t>(block.size() / plan_.row_size),
                             .plain = block,
                             .compressible = {}});
        block.clear();
      };
      batch.table->ForEachPiece(bucket, [&](std::string_view piece) {
        if (block.size() + piece.size() > plan_.block_size) append();
        block.append(piece);
      });
      append();
      RETURN_IF_ERROR(status);
    }
    return options_.durable ? run.Sync() : Status();
  };
  if (Status status = write(); !status) {
    static_cast<void>(env_.Remove(JoinPath(dir_, name)));
    return status;
  }
  ++batch.next_run;
  batch.runs.push_back({name, run.length()});
  batch.bytes_in_runs += run.length();
  for (uint32_t bucket = 0; bucket < batch.table->buckets(); ++bucket) {
    batch.rows_in_runs[bucket] += batch.table->rows(bucket);
  }
  batch.largest_in_runs = *std::max_element(batch.rows_in_runs.begin(), batch.rows_in_runs.end());
  spilled_rows_ += batch.table->rows();
  batch.tuples_in_runs += batch.table->rows();
  batch.table->Clear();
  return {};
}

Status Drum::Spill() {
  RETURN_IF_ERROR(WriteRun(open_));
  // The rows of the row log are now in the run.
  open_.row_block.clear();
  if (open_.row_log) {
    const std::string log = NameOf(*open_.row_log);
    open_.row_log.reset();
    Retire({log});
  }
  return {};
}

Status Drum::WriteTuples(DrumBatch& batch) {
  if (!batch.tuple_log) {
    const std::string name = fmt::format("{}-{:06}.tuples", options_.name, batch.id);
    ASSIGN_OR_RETURN(batch.tuple_log,
                     BlockFileWriter::Create(env_, JoinPath(dir_, name), FileKind::kTuples, options_.codec));
  }
  if (batch.tuple_block.empty()) return {};
  const uint64_t before = batch.tuple_log->length();
  RETURN_IF_ERROR(batch.tuple_log->Append(batch.tuple_block.Finish(kTuplesBlock)));
  logged_bytes_ += batch.tuple_log->length() - before;
  batch.tuple_block.Clear();
  return {};
}

Status Drum::WriteRows(DrumBatch& batch) {
  if (batch.row_block.empty()) return {};
  if (!batch.row_log) {
    const std::string name = fmt::format("{}-{:06}-{:03}.rows", options_.name, batch.id, batch.next_row_log);
    ASSIGN_OR_RETURN(batch.row_log, BlockFileWriter::Create(env_, JoinPath(dir_, name), FileKind::kRows, Codec::kNone));
    ++batch.next_row_log;
  }
  RETURN_IF_ERROR(batch.row_log->Append({.kind = kRowsBlock,
                                         .records = static_cast<uint32_t>(batch.row_block.size() / plan_.row_size),
                                         .plain = batch.row_block,
                                         .compressible = {}}));
  batch.row_block.clear();
  return {};
}

// ---- rounds and their results

Result<bool> Drum::StartRound() {
  if (RoundActive()) return false;
  return BeginRound();
}

Result<bool> Drum::BeginRound() {
  CHECK(!round_);
  if (sealed_.id == 0) {
    if (open_.tuples == 0) return false;
    RETURN_IF_ERROR(WriteTuples(open_));
    // The last rows need be on disk only for a checkpoint: Flush writes them.
    sealed_ = std::move(open_);
    Begin(open_, next_id_++);
  }
  const uint64_t z_id = next_id_++;
  round_ = std::make_shared<DrumRound>(env_, dir_, options_, plan_, sealed_, z_,
                                       fmt::format("{}-{:06}.z", options_.name, z_id),
                                       fmt::format("{}-{:06}.answers", options_.name, z_id));
  executor_.Submit([round = round_] { round->Run(); });
  return true;
}

Result<uint64_t> Drum::TakeResults(DrumSink& sink, uint64_t max) {
  if (!ResultsReady()) return uint64_t{0};
  if (!round_->status()) {
    Error error = round_->status().error();
    round_.reset();  // sealed_ stays, and the next round begins with it
    return std::unexpected(std::move(error));
  }
  if (!results_) {
    ASSIGN_OR_RETURN(results_, DrumResults::Open(env_, dir_, options_, plan_, sealed_, *round_));
  }
  uint64_t taken = 0;
  const Status status = results_->Take(sink, max, taken);
  sealed_.taken += taken;
  if (sealed_.taken == sealed_.tuples) EndRound();
  RETURN_IF_ERROR(status);
  return taken;
}

void Drum::EndRound() {
  std::vector<std::string> names = {round_->answers_name()};
  if (!z_.name.empty()) names.push_back(z_.name);
  if (sealed_.tuple_log) names.push_back(NameOf(*sealed_.tuple_log));
  if (sealed_.row_log) names.push_back(NameOf(*sealed_.row_log));
  for (const DrumRun& run : sealed_.runs) names.push_back(run.name);
  z_ = round_->new_z();
  // Close the handles first: closing the last one after the name is removed would free the space here.
  results_.reset();
  round_.reset();
  sealed_ = DrumBatch();
  ++rounds_;
  Retire(names);
}

Status Drum::Drain(DrumSink& sink) {
  while (waiting() > 0) {
    if (!RoundActive()) RETURN_IF_ERROR(BeginRound());
    WaitForRound();
    RETURN_IF_ERROR(TakeResults(sink, ~uint64_t{0}));
  }
  return {};
}

void Drum::Retire(const std::vector<std::string>& names) {
  // There may be many rounds between two commits; files that no manifest names need not wait for the next commit.
  std::vector<std::string> now;
  for (const std::string& name : names) {
    const auto is_it = [&](const ManifestSection::FileEntry& file) { return file.name == name; };
    if (std::ranges::any_of(committed_.files, is_it) || std::ranges::any_of(described_.files, is_it)) {
      retired_.push_back(name);
    } else {
      now.push_back(JoinPath(dir_, name));
    }
  }
  removals_.Remove(std::move(now));
}

}  // namespace portolan
