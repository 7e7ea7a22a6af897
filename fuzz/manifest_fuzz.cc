// What a manifest says, against files that are whole: any text, also with its checksum made right, gives an error or a
// store that answers. Numbers that fit neither each other nor the files must not crash or hang the code that opens
// them.

#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/hash.h"
#include "disk/drum.h"
#include "disk/manifest.h"
#include "disk/queue.h"
#include "io/executor.h"
#include "io/mem_env.h"

namespace {

using namespace portolan;

constexpr char kDir[] = "s";

// Nothing is compressed, so that lengths do not depend on a library's version.
DiskQueue::Options QueueOptions() {
  DiskQueue::Options options;
  options.name = "q";
  options.block_size = 64;
  options.segment_size = 256;
  options.codec = Codec::kNone;
  return options;
}

DrumOptions MapOptions() {
  DrumOptions options;
  options.name = "d";
  options.value_size = 120;  // few rows fill the memory
  options.memory = 300 << 10;
  options.codec = Codec::kNone;
  return options;
}

struct Nobody : DrumSink {
  Status OnAnswer(const DrumAnswer&) override { return {}; }
};

void Add(Drum& drum, uint64_t begin, uint64_t end) {
  const std::string value(120, 'v');
  for (uint64_t i = begin; i < end; ++i) {
    CHECK(drum.Add({.op = static_cast<DrumOp>(i % 3), .key = Mix64(i), .value = value, .aux = fmt::format("{}", i)}));
  }
}

// A queue that is read to the middle of a block; a DRUM with Z, a sealed batch with some answers taken, and an open
// batch with a run and a row log.
std::unique_ptr<MemEnv> MakeStore() {
  auto env = std::make_unique<MemEnv>();
  InlineExecutor executor;
  Manifest manifest = Manifest::Open(*env, kDir).value();
  auto queue = DiskQueue::Open(*env, manifest, QueueOptions()).value();
  for (int i = 0; i < 60; ++i) CHECK(queue->Append(fmt::format("record {}", i * 7919)));
  CHECK(queue->Pop(7));
  DrumOptions options = MapOptions();
  options.bucket_bits = 4;
  auto drum = Drum::Open(*env, manifest, executor, options).value();
  Nobody nobody;
  Add(*drum, 0, 20);
  CHECK(drum->Drain(nobody));
  Add(*drum, 10, 40);
  CHECK(drum->StartRound().value());
  CHECK(drum->TakeResults(nobody, 5).value() == 5);
  Add(*drum, 40, 1000);
  CHECK(drum->spilled_rows() > 0);
  Checkpointable* const all[] = {queue.get(), drum.get()};
  CHECK(manifest.Commit(all));
  return env;
}

// Takes all that there is, each step of which must bring something.
Status UseQueue(DiskQueue& queue) {
  while (queue.size() > 0) {
    ASSIGN_OR_RETURN(const auto popped, queue.Pop(10));
    CHECK(!popped.empty(), "{} records wait and none comes", queue.size());
  }
  return queue.Append("one more");
}

Status UseDrum(Drum& drum) {
  Nobody nobody;
  while (drum.waiting() > 0 || drum.RoundActive()) {
    if (!drum.RoundActive()) RETURN_IF_ERROR(drum.StartRound());
    ASSIGN_OR_RETURN(const uint64_t taken, drum.TakeResults(nobody, 500));
    CHECK(taken > 0 || !drum.RoundActive(), "{} tuples wait and no answer comes", drum.waiting());
  }
  const std::string value(120, 'w');
  RETURN_IF_ERROR(drum.Add({.op = DrumOp::kCheckUpdate, .key = 1, .value = value, .aux = "one more"}));
  return drum.Drain(nobody);
}

Status Use(const MemEnv& whole, std::string_view text) {
  const std::unique_ptr<MemEnv> env = whole.CrashedCopy(CrashMode::kKeepAll);
  RETURN_IF_ERROR(ReplaceFile(*env, "s/MANIFEST-000000000001", text));
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(*env, kDir));
  InlineExecutor executor;
  auto queue = DiskQueue::Open(*env, manifest, QueueOptions());
  if (queue) static_cast<void>(UseQueue(**queue));
  auto drum = Drum::Open(*env, manifest, executor, MapOptions());
  if (drum) static_cast<void>(UseDrum(**drum));
  if (!queue || !drum) return {};
  Checkpointable* const all[] = {queue->get(), drum->get()};
  return manifest.Commit(all);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::unique_ptr<MemEnv> whole = MakeStore();
  std::string text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(Use(*whole, text));
  if (const size_t last = text.rfind("crc32c "); last != std::string::npos) text.resize(last);
  if (!text.empty() && text.back() != '\n') text += '\n';
  static_cast<void>(Use(*whole, text + fmt::format("crc32c {:08x}\n", Crc32c(text))));
  return 0;
}
