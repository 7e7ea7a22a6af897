// How a manifest describes a DRUM, and how the DRUM is restored from it. Nothing is trusted: numbers that do not fit
// each other or the files are kCorrupt.

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/bytes.h"
#include "base/check.h"
#include "disk/drum.h"

namespace portolan {
namespace {

// A file of a DRUM by its name: of "seen-000004-007.run" 4, 7, ".run".
struct FileName {
  uint64_t id = 0;
  std::optional<uint64_t> index;
  std::string_view suffix;
};

std::optional<FileName> ParseName(std::string_view drum, std::string_view file) {
  if (!file.starts_with(drum)) return std::nullopt;
  file.remove_prefix(drum.size());
  const auto number = [&](uint64_t& value) {
    if (!file.starts_with('-')) return false;
    const auto [end, error] = std::from_chars(file.data() + 1, file.data() + file.size(), value);
    if (error != std::errc()) return false;
    file.remove_prefix(static_cast<size_t>(end - file.data()));
    return true;
  };
  FileName name;
  uint64_t index = 0;
  if (!number(name.id)) return std::nullopt;
  if (number(index)) name.index = index;
  name.suffix = file;
  return name;
}

}  // namespace

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
    RETURN_IF_ERROR(batch->tuple_log->Sync());
    section.files.push_back({NameOf(*batch->tuple_log), batch->tuple_log->length()});
    for (const DrumRun& run : batch->runs) section.files.push_back({run.name, run.length});
    if (batch->row_log) {
      RETURN_IF_ERROR(batch->row_log->Sync());
      section.files.push_back({NameOf(*batch->row_log), batch->row_log->length()});
    }
  }
  described_ = std::move(section);
  return {};
}

Status Drum::Committed() {
  committed_ = described_;
  for (const std::string& path : removals_.TakeFailed()) retired_.push_back(path.substr(path.rfind('/') + 1));
  return RemoveUnnamed(env_, dir_, committed_, retired_);
}

Status Drum::Restore(const ManifestSection& section) {
  described_ = committed_ = section;
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("drum {}: {}", options_.name, what));
  };
  ASSIGN_OR_RETURN(const uint64_t row_size, section.Number("row_size"));
  if (row_size != plan_.row_size) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("drum {}: its rows have {} bytes, these options make them {}",
                                                         options_.name, row_size, plan_.row_size));
  }
  ASSIGN_OR_RETURN(const uint64_t bits, section.Number("bucket_bits"));
  if (bits > DrumMemoryPlan::kMostBucketBits) return corrupt(fmt::format("bucket_bits is {}", bits));
  if (bits != plan_.bucket_bits) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("drum {}: it waits in {} buckets, these options make {}; open it with bucket_bits = {}",
                            options_.name, uint64_t{1} << bits, uint64_t{1} << plan_.bucket_bits, bits));
  }
  ASSIGN_OR_RETURN(next_id_, section.Number("next_id"));
  ASSIGN_OR_RETURN(const uint64_t sealed, section.Number("sealed"));
  ASSIGN_OR_RETURN(const uint64_t open, section.Number("open"));
  if (open == 0 || open == sealed || std::max(open, sealed) >= next_id_ || next_id_ > ~uint64_t{0} / 2) {
    return corrupt(fmt::format("batches {} and {} with next_id {}", sealed, open, next_id_));
  }
  ASSIGN_OR_RETURN(const uint64_t has_z, section.Number("z"));
  if (has_z != 0) {
    if (section.files.empty()) return corrupt("no Z file");
    z_.name = section.files[0].name;
    z_.length = section.files[0].length;
    ASSIGN_OR_RETURN(z_.keys, section.Number("z_keys"));
  }
  for (size_t i = 0; i < section.files.size(); ++i) {
    const std::string& name = section.files[i].name;
    const auto parsed = ParseName(options_.name, name);
    const bool is_z = i == 0 && has_z != 0;
    // Files made later must not take the names of existing ones.
    const bool own = parsed && (is_z ? parsed->suffix == ".z" && !parsed->index && parsed->id < next_id_
                                     : parsed->id == open || (sealed != 0 && parsed->id == sealed));
    if (!own) return corrupt(fmt::format("{} is not a file of its batches or its Z", name));
  }
  if (sealed != 0) RETURN_IF_ERROR(RestoreBatch(section, sealed, sealed_));
  RETURN_IF_ERROR(RestoreBatch(section, open, open_));
  if (open_.taken != 0)
    return corrupt(fmt::format("batch {} had no round, yet {} answers are taken", open, open_.taken));
  return {};
}

Status Drum::RestoreBatch(const ManifestSection& section, uint64_t id, DrumBatch& batch) {
  Begin(batch, id);
  const auto corrupt = [&](std::string_view what) {
    return Fail(ErrorCode::kCorrupt, fmt::format("drum {}: batch {}: {}", options_.name, id, what));
  };
  const auto number = [&](const char* key) { return section.Number(fmt::format("batch.{}.{}", id, key)); };
  ASSIGN_OR_RETURN(batch.tuples, number("tuples"));
  ASSIGN_OR_RETURN(batch.taken, number("taken"));
  ASSIGN_OR_RETURN(const uint64_t runs, number("runs"));
  ASSIGN_OR_RETURN(const uint64_t row_logs, number("row_log"));
  ASSIGN_OR_RETURN(const uint64_t next_run, number("next_run"));
  ASSIGN_OR_RETURN(const uint64_t next_row_log, number("next_row_log"));
  if (batch.taken > batch.tuples)
    return corrupt(fmt::format("{} answers of {} tuples taken", batch.taken, batch.tuples));
  if (std::max(next_run, next_row_log) > std::numeric_limits<uint32_t>::max() / 2) {
    return corrupt(fmt::format("next_run is {}, next_row_log {}", next_run, next_row_log));
  }
  batch.next_run = static_cast<uint32_t>(next_run);
  batch.next_row_log = static_cast<uint32_t>(next_row_log);

  // Runs stand in the order in which they were made and the row log, whose rows are younger, after them.
  uint64_t later_than = 0;
  uint64_t runs_seen = 0;
  uint64_t row_logs_seen = 0;
  for (const auto& file : section.files) {
    const FileName name = ParseName(options_.name, file.name).value_or(FileName());
    if (name.id != id) continue;
    if (name.suffix == ".tuples" && !name.index && !batch.tuple_log) {
      ASSIGN_OR_RETURN(batch.tuple_log, BlockFileWriter::Reopen(env_, JoinPath(dir_, file.name), FileKind::kTuples,
                                                                options_.codec, file.length));
    } else if (name.suffix == ".run" && name.index && *name.index >= later_than && *name.index < next_run &&
               row_logs_seen == 0) {
      later_than = *name.index + 1;
      ++runs_seen;
      RETURN_IF_ERROR(CountRun(file, batch));
    } else if (name.suffix == ".rows" && name.index && *name.index < next_row_log && row_logs_seen++ == 0) {
      RETURN_IF_ERROR(RestoreRows(file, batch));
    } else {
      return corrupt(fmt::format("{} has no place in it", file.name));
    }
  }
  if (runs != runs_seen || row_logs != row_logs_seen) {
    return corrupt(
        fmt::format("{} runs of {} and {} row logs of {} are named", runs_seen, runs, row_logs_seen, row_logs));
  }
  if (!batch.tuple_log || batch.tuples_in_runs + batch.table->rows() != batch.tuples) {
    return corrupt(fmt::format("{} rows of {} tuples", batch.tuples_in_runs + batch.table->rows(), batch.tuples));
  }
  batch.largest_in_runs = *std::max_element(batch.rows_in_runs.begin(), batch.rows_in_runs.end());
  return {};
}

Status Drum::ForEachRows(const ManifestSection::FileEntry& file, FileKind kind,
                         const std::function<Status(const Block&)>& each) {
  BlockFileReader::Options options;
  options.length = file.length;
  options.read_ahead = plan_.read_ahead;
  const std::string path = JoinPath(dir_, file.name);
  ASSIGN_OR_RETURN(BlockFileReader reader, BlockFileReader::Open(env_, path, kind, options));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<Block> block, reader.Next());
    if (!block) return {};
    if (block->payload.size() != block->records * plan_.row_size) {
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("{}: block at {}: its rows are of another size", path, block->offset));
    }
    RETURN_IF_ERROR(each(*block));
  }
}

Status Drum::CountRun(const ManifestSection::FileEntry& file, DrumBatch& batch) {
  batch.runs.push_back({file.name, file.length});
  batch.bytes_in_runs += file.length;
  return ForEachRows(file, FileKind::kRun, [&](const Block& block) -> Status {
    if (block.kind >= batch.rows_in_runs.size()) {
      return Fail(ErrorCode::kCorrupt, fmt::format("{}: block at {}: no such bucket", file.name, block.offset));
    }
    batch.rows_in_runs[block.kind] += block.records;
    batch.tuples_in_runs += block.records;
    return {};
  });
}

Status Drum::RestoreRows(const ManifestSection::FileEntry& file, DrumBatch& batch) {
  const auto too_little = [&] {
    // Twice its rows: three quarters are for rows, and a sixteenth of that may be in chunks that are not full.
    uint64_t enough = DrumMemoryPlan::kMinMemory;
    for (const auto& named : committed_.files) {
      if (named.name.ends_with(".rows")) enough += 2 * named.length;
    }
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("drum {}: {} bytes of memory are too little for the rows that wait, {} are enough",
                            options_.name, options_.memory, enough));
  };
  bool written = false;
  const auto restore = [&](const Block& block) -> Status {
    for (size_t at = 0; at < block.payload.size(); at += plan_.row_size) {
      const auto key = LoadLe<uint64_t>(block.payload.data() + at);
      const uint32_t bucket = plan_.bucket_bits == 0 ? 0 : static_cast<uint32_t>(key >> (64 - plan_.bucket_bits));
      char* row = batch.table->rows() < plan_.rows_in_ram ? batch.table->Append(bucket) : nullptr;
      if (row == nullptr) {
        if (batch.runs.size() >= plan_.runs) return too_little();
        RETURN_IF_ERROR(WriteRun(batch));
        written = true;
        row = batch.table->Append(bucket);
        if (row == nullptr) return too_little();
      }
      std::memcpy(row, block.payload.data() + at, plan_.row_size);
    }
    return {};
  };
  RETURN_IF_ERROR(ForEachRows(file, FileKind::kRows, restore));
  if (!written) {
    ASSIGN_OR_RETURN(batch.row_log, BlockFileWriter::Reopen(env_, JoinPath(dir_, file.name), FileKind::kRows,
                                                            Codec::kNone, file.length));
    return {};
  }
  // A row log holds exactly the rows in RAM: if the first ones went to a run, the last ones must follow.
  RETURN_IF_ERROR(WriteRun(batch));
  Retire({file.name});
  return {};
}

}  // namespace portolan
