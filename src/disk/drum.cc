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

void Reset(DrumBatch& batch, ChunkPool& pool, const DrumMemoryPlan& plan, uint64_t id) {
  batch = DrumBatch();
  batch.id = id;
  batch.tuple_block = RecordBlockBuilder(1);
  batch.table = std::make_unique<BucketTable>(pool, plan.bucket_bits, plan.row_size);
  batch.rows_in_runs.assign(size_t{1} << plan.bucket_bits, 0);
}

}  // namespace

Drum::Drum(Env& env, std::string dir, Executor& executor, const DrumOptions& options)
    : env_(env),
      dir_(std::move(dir)),
      executor_(executor),
      options_(options),
      plan_(*DrumMemoryPlan::Make(options)),
      pool_(plan_.chunk_bytes, plan_.chunks),
      recent_(plan_.recent_bytes) {}

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
    // What waits is in that many buckets, whatever the memory is now.
    ASSIGN_OR_RETURN(const uint64_t bits, section->Number("bucket_bits"));
    chosen.bucket_bits = static_cast<unsigned>(bits);
  }
  RETURN_IF_ERROR(DrumMemoryPlan::Make(chosen));
  std::unique_ptr<Drum> drum(new Drum(env, manifest.dir(), executor, chosen));
  Reset(drum->open_, drum->pool_, drum->plan_, drum->next_id_++);
  if (section != nullptr) RETURN_IF_ERROR(drum->Restore(*section));
  if (drum->sealed_.id != 0) RETURN_IF_ERROR(drum->BeginRound());
  return drum;
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

bool Drum::AtLimit() const {
  uint64_t on_disk = open_.tuple_log ? open_.tuple_log->length() : 0;
  for (const DrumRun& run : open_.runs) on_disk += run.length;
  return open_.largest_bucket() >= plan_.rows_per_bucket || open_.runs.size() >= plan_.runs || on_disk >= options_.disk;
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

Status Drum::Spill() {
  const std::string name = fmt::format("{}-{:06}-{:03}.run", options_.name, open_.id, open_.next_run);
  ASSIGN_OR_RETURN(BlockFileWriter run,
                   BlockFileWriter::Create(env_, JoinPath(dir_, name), FileKind::kRun, Codec::kNone));
  const auto write = [&]() -> Status {
    std::string block;
    for (uint32_t bucket = 0; bucket < open_.table->buckets(); ++bucket) {
      Status status;
      const auto append = [&] {
        if (block.empty() || !status) return;
        status = run.Append({.kind = static_cast<uint8_t>(bucket),
                             .records = static_cast<uint32_t>(block.size() / plan_.row_size),
                             .plain = block,
                             .compressible = {}});
        block.clear();
      };
      open_.table->ForEachPiece(bucket, [&](std::string_view piece) {
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
  ++open_.next_run;
  open_.runs.push_back({name, run.length()});
  for (uint32_t bucket = 0; bucket < open_.table->buckets(); ++bucket) {
    open_.rows_in_runs[bucket] += open_.table->rows(bucket);
  }
  open_.largest_in_runs = *std::max_element(open_.rows_in_runs.begin(), open_.rows_in_runs.end());
  spilled_rows_ += open_.table->rows();
  open_.tuples_in_runs += open_.table->rows();
  open_.table->Clear();
  // The row log told of rows that are now in the run.
  open_.row_block.clear();
  if (open_.row_log) {
    const std::string path = open_.row_log->path();
    open_.row_log.reset();
    Retire(path.substr(path.rfind('/') + 1));
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
    Reset(open_, pool_, plan_, next_id_++);
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
  ASSIGN_OR_RETURN(const uint64_t taken, results_->Take(sink, max));
  sealed_.taken += taken;
  if (sealed_.taken == sealed_.tuples) EndRound();
  return taken;
}

void Drum::EndRound() {
  results_.reset();
  const ZState old_z = z_;
  z_ = round_->new_z();
  static_cast<void>(env_.Remove(JoinPath(dir_, round_->answers_name())));
  round_.reset();
  ++rounds_;
  if (!old_z.name.empty()) Retire(old_z.name);
  const auto retire_path = [&](const std::string& path) { Retire(path.substr(path.rfind('/') + 1)); };
  if (sealed_.tuple_log) retire_path(sealed_.tuple_log->path());
  if (sealed_.row_log) retire_path(sealed_.row_log->path());
  for (const DrumRun& run : sealed_.runs) Retire(run.name);
  sealed_ = DrumBatch();
}

Status Drum::Drain(DrumSink& sink) {
  while (waiting() > 0) {
    if (!RoundActive()) RETURN_IF_ERROR(BeginRound());
    WaitForRound();
    RETURN_IF_ERROR(TakeResults(sink, ~uint64_t{0}));
  }
  return {};
}

void Drum::Retire(const std::string& name) {
  // Between two commits many rounds may come and go; what no manifest names need not wait for the next one.
  const auto names = [&](const ManifestSection& section) {
    return std::any_of(section.files.begin(), section.files.end(),
                       [&](const ManifestSection::FileEntry& file) { return file.name == name; });
  };
  if (names(committed_) || names(described_) || !env_.Remove(JoinPath(dir_, name))) retired_.push_back(name);
}

// ---- checkpoints

Status Drum::Flush() {
  CHECK(options_.durable, "drum {} is not durable", options_.name);
  ManifestSection section;
  section.name = options_.name;
  section.kind = kKind;
  section.numbers = {
      {"next_id", next_id_},  {"z_keys", z_.keys},          {"z", z_.name.empty() ? 0U : 1U},  {"open", open_.id},
      {"sealed", sealed_.id}, {"row_size", plan_.row_size}, {"bucket_bits", plan_.bucket_bits}};
  if (!z_.name.empty()) section.files.push_back({z_.name, z_.length});
  for (DrumBatch* batch : {&sealed_, &open_}) {
    if (batch->id == 0) continue;
    RETURN_IF_ERROR(WriteTuples(*batch));
    RETURN_IF_ERROR(WriteRows(*batch));
    const std::string prefix = fmt::format("batch.{}.", batch->id);
    section.numbers[prefix + "tuples"] = batch->tuples;
    section.numbers[prefix + "taken"] = batch->taken;
    section.numbers[prefix + "runs"] = batch->runs.size();
    section.numbers[prefix + "next_run"] = batch->next_run;
    section.numbers[prefix + "next_row_log"] = batch->next_row_log;
    section.numbers[prefix + "row_log"] = batch->row_log ? 1 : 0;
    const auto add = [&](const std::string& path, uint64_t length) {
      section.files.push_back({path.substr(path.rfind('/') + 1), length});
    };
    RETURN_IF_ERROR(batch->tuple_log->Sync());
    add(batch->tuple_log->path(), batch->tuple_log->length());
    for (const DrumRun& run : batch->runs) section.files.push_back({run.name, run.length});
    if (batch->row_log) {
      RETURN_IF_ERROR(batch->row_log->Sync());
      add(batch->row_log->path(), batch->row_log->length());
    }
  }
  described_ = std::move(section);
  return {};
}

Status Drum::Committed() {
  committed_ = described_;
  return RemoveUnnamed(env_, dir_, committed_, retired_);
}

Status Drum::Restore(const ManifestSection& section) {
  ASSIGN_OR_RETURN(const uint64_t row_size, section.Number("row_size"));
  if (row_size != plan_.row_size) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("drum {}: its rows have {} bytes, these options make them {}",
                                                         options_.name, row_size, plan_.row_size));
  }
  ASSIGN_OR_RETURN(next_id_, section.Number("next_id"));
  ASSIGN_OR_RETURN(const uint64_t bits, section.Number("bucket_bits"));
  if (bits != plan_.bucket_bits) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("drum {}: it waits in {} buckets, these options make {}; open it with bucket_bits = {}",
                            options_.name, uint64_t{1} << bits, uint64_t{1} << plan_.bucket_bits, bits));
  }
  ASSIGN_OR_RETURN(const uint64_t has_z, section.Number("z"));
  if (has_z != 0) {
    if (section.files.empty()) return Fail(ErrorCode::kCorrupt, fmt::format("drum {}: no Z file", options_.name));
    z_.name = section.files[0].name;
    z_.length = section.files[0].length;
    ASSIGN_OR_RETURN(z_.keys, section.Number("z_keys"));
  }
  ASSIGN_OR_RETURN(const uint64_t sealed, section.Number("sealed"));
  if (sealed != 0) RETURN_IF_ERROR(RestoreBatch(section, sealed, sealed_));
  ASSIGN_OR_RETURN(const uint64_t open, section.Number("open"));
  RETURN_IF_ERROR(RestoreBatch(section, open, open_));
  described_ = committed_ = section;
  return {};
}

Status Drum::RestoreBatch(const ManifestSection& section, uint64_t id, DrumBatch& batch) {
  Reset(batch, pool_, plan_, id);
  const std::string prefix = fmt::format("batch.{}.", id);
  ASSIGN_OR_RETURN(batch.tuples, section.Number(prefix + "tuples"));
  ASSIGN_OR_RETURN(batch.taken, section.Number(prefix + "taken"));
  ASSIGN_OR_RETURN(const uint64_t next_run, section.Number(prefix + "next_run"));
  ASSIGN_OR_RETURN(const uint64_t next_row_log, section.Number(prefix + "next_row_log"));
  batch.next_run = static_cast<uint32_t>(next_run);
  batch.next_row_log = static_cast<uint32_t>(next_row_log);

  const std::string stem = fmt::format("{}-{:06}", options_.name, id);
  for (const auto& file : section.files) {
    const std::string path = JoinPath(dir_, file.name);
    if (file.name == stem + ".tuples") {
      ASSIGN_OR_RETURN(batch.tuple_log,
                       BlockFileWriter::Reopen(env_, path, FileKind::kTuples, options_.codec, file.length));
      continue;
    }
    const bool is_run = file.name.starts_with(stem + "-") && file.name.ends_with(".run");
    const bool is_rows = file.name.starts_with(stem + "-") && file.name.ends_with(".rows");
    if (!is_run && !is_rows) continue;
    BlockFileReader::Options options;
    options.length = file.length;
    options.read_ahead = plan_.read_ahead;
    ASSIGN_OR_RETURN(BlockFileReader reader,
                     BlockFileReader::Open(env_, path, is_run ? FileKind::kRun : FileKind::kRows, options));
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<Block> block, reader.Next());
      if (!block) break;
      const auto corrupt = [&](std::string_view what) {
        return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: {}", path, block->offset, what));
      };
      if (block->payload.size() != block->records * plan_.row_size) return corrupt("its rows are of another size");
      if (is_run) {
        if (block->kind >= batch.rows_in_runs.size()) return corrupt("no such bucket");
        batch.rows_in_runs[block->kind] += block->records;
        batch.tuples_in_runs += block->records;
        continue;
      }
      for (size_t at = 0; at < block->payload.size(); at += plan_.row_size) {
        const auto key = LoadLe<uint64_t>(block->payload.data() + at);
        char* row =
            batch.table->Append(plan_.bucket_bits == 0 ? 0 : static_cast<uint32_t>(key >> (64 - plan_.bucket_bits)));
        if (row == nullptr) return corrupt("more rows than this DRUM's memory takes: open it with at least as much");
        std::memcpy(row, block->payload.data() + at, plan_.row_size);
      }
    }
    if (is_run) {
      batch.runs.push_back({file.name, file.length});
    } else {
      ASSIGN_OR_RETURN(batch.row_log, BlockFileWriter::Reopen(env_, path, FileKind::kRows, Codec::kNone, file.length));
    }
  }
  if (!batch.tuple_log || batch.tuples_in_runs + batch.table->rows() != batch.tuples) {
    return Fail(ErrorCode::kCorrupt, fmt::format("drum {}: batch {} has {} rows of {} tuples", options_.name, id,
                                                 batch.tuples_in_runs + batch.table->rows(), batch.tuples));
  }
  batch.largest_in_runs = *std::max_element(batch.rows_in_runs.begin(), batch.rows_in_runs.end());
  return {};
}

}  // namespace portolan
