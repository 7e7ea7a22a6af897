// Graphs from other programs and for them: what is imported and exported, whatever is damaged and whatever fails.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "base/check.h"
#include "base/csv.h"
#include "follow/export_file.h"
#include "follow/graph_export.h"
#include "follow/graph_files.h"
#include "follow/graph_import.h"
#include "follow/graph_names.h"
#include "follow/name_order.h"
#include "follow/node_key.h"
#include "graph/testing/random_graphs.h"
#include "graph/testing/round_trip.h"
#include "io/faulty_env.h"
#include "io/mem_env.h"

namespace portolan {
namespace {

using graph::Adjacency;
using graph::NodeId;
using testing::HasSubstr;

constexpr const char* kBase = "in/base";
constexpr const char* kGraphDir = "dir/graph";

void Put(Env& env, const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(env.CreateDirs(DirName(path)));
  auto file = env.Open(path, OpenMode::kCreate).value();
  ASSERT_TRUE(file->Append(bytes));
  ASSERT_TRUE(file->Sync());
  ASSERT_TRUE(env.SyncDir(DirName(path)));
}

void PutGraph(Env& env, const Adjacency& truth, const graph::GraphParameters& parameters = {}, bool offsets = true) {
  const auto end = graph::Compress(truth, parameters).value();
  Put(env, std::string(kBase) + ".graph", end.graph);
  Put(env, std::string(kBase) + ".properties", end.properties.ToText());
  if (offsets) Put(env, std::string(kBase) + ".offsets", end.offsets);
}

// Both directions by scan and at random are what they should be.
void ExpectGraph(Env& env, const Adjacency& truth) {
  const auto files = GraphFiles::Open(env, kGraphDir);
  ASSERT_TRUE(files) << files.error().ToString();
  ASSERT_TRUE((*files)->Verify());
  EXPECT_TRUE((*files)->current().imported);
  EXPECT_FALSE((*files)->HasNames(GraphLevel::kPages));
  EXPECT_FALSE((*files)->Has(GraphLevel::kHosts));
  for (const GraphDirection direction : {GraphDirection::kForward, GraphDirection::kTransposed}) {
    const Adjacency expected = direction == GraphDirection::kForward ? truth : truth.Transpose();
    const auto properties = (*files)->Properties(GraphLevel::kPages, direction).value();
    const std::string_view bytes = (*files)->Bytes(GraphBaseName(GraphLevel::kPages, direction) + ".graph").value();
    EXPECT_EQ(graph::ScanAll(properties, bytes).value(), expected);
    const Status at_random = CompareAtRandom((*files)->Graph(GraphLevel::kPages, direction).value(), expected);
    EXPECT_TRUE(at_random) << at_random.error().ToString();
  }
}

std::vector<std::string> FilesIn(Env& env, const std::string& dir) {
  auto names = env.List(dir).value_or(std::vector<std::string>());
  std::erase(names, "LOCK");
  return names;
}

Adjacency SomeGraph(uint64_t seed = 3) { return MakeGraph(graph::Shape::kCopies, 200, seed); }

TEST(GraphImportTest, GraphsOfAllShapesAreTakenWithTheirTranspose) {
  for (const graph::Shape shape : graph::kShapes) {
    for (const NodeId nodes : {0U, 1U, 60U}) {
      for (const bool offsets : {false, true}) {
        if (nodes == 0 && shape != graph::Shape::kEmpty) continue;
        MemEnv env;
        const Adjacency truth = MakeGraph(shape, nodes, 5);
        graph::GraphParameters parameters{.window = 3, .max_refs = 2, .min_interval = 2, .zeta_k = 2};
        parameters.offsets = graph::Code::kDelta;
        PutGraph(env, truth, parameters, offsets);
        const auto imported = ImportGraph(env, kBase, kGraphDir, {.memory = 64 << 10});
        ASSERT_TRUE(imported) << imported.error().ToString();
        EXPECT_EQ(imported->nodes, truth.nodes());
        EXPECT_EQ(imported->arcs, truth.arcs());
        EXPECT_EQ(imported->had_offsets, offsets);
        ExpectGraph(env, truth);
      }
    }
  }
}

TEST(GraphImportTest, MoreLinksThanMemoryHoldsAreSortedOnDisk) {
  MemEnv env;
  const Adjacency truth = MakeGraph(graph::Shape::kDense, 400, 1);
  ASSERT_GT(truth.arcs(), 4U * (64 << 10) / 16);
  PutGraph(env, truth);
  ASSERT_TRUE(ImportGraph(env, kBase, kGraphDir, {.memory = 64 << 10}));
  ExpectGraph(env, truth);
}

TEST(GraphImportTest, AGraphThatIsThereStaysUnlessItMayBeReplaced) {
  MemEnv env;
  PutGraph(env, SomeGraph());
  ASSERT_TRUE(ImportGraph(env, kBase, kGraphDir));
  PutGraph(env, SomeGraph(4));
  const auto refused = ImportGraph(env, kBase, kGraphDir);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kExists);
  ExpectGraph(env, SomeGraph());
  ASSERT_TRUE(ImportGraph(env, kBase, kGraphDir, {.replace = true}));
  ExpectGraph(env, SomeGraph(4));
  EXPECT_EQ(FilesIn(env, kGraphDir).size(), 7U);

  // One that was built from a crawl stays in any case.
  GraphCurrent current = GraphCurrent::Load(env, kGraphDir).value();
  current.imported = false;
  ASSERT_TRUE(current.Save(env, kGraphDir));
  const auto built = ImportGraph(env, kBase, kGraphDir, {.replace = true});
  ASSERT_FALSE(built);
  EXPECT_THAT(built.error().message(), HasSubstr("built from a crawl"));
}

// Any bit of the graph, and each length of it: either the error names a file and nothing has changed, or what was taken
// is a graph (one that other bits would also give).
TEST(GraphImportTest, DamageIsNamedAndChangesNothing) {
  MemEnv whole;
  PutGraph(whole, SomeGraph());
  uint64_t refused = 0;
  uint64_t tried = 0;
  for (const std::string suffix : {".graph", ".offsets", ".properties"}) {
    const std::string path = kBase + suffix;
    const std::string bytes = ReadWholeFile(whole, path).value();
    std::mt19937_64 random(7);
    for (int round = 0; round < 150; ++round) {
      std::string damaged = bytes;
      if (round % 3 == 0) {
        damaged.resize(random() % bytes.size());
      } else {
        damaged[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      }
      const auto env = whole.CrashedCopy(CrashMode::kKeepAll);
      Put(*env, path, damaged);
      const auto imported = ImportGraph(*env, kBase, kGraphDir, {.memory = 64 << 10});
      ++tried;
      if (imported) {
        const auto files = GraphFiles::Open(*env, kGraphDir);
        ASSERT_TRUE(files) << files.error().ToString();
        EXPECT_TRUE((*files)->Graph(GraphLevel::kPages, GraphDirection::kTransposed));
        continue;
      }
      ++refused;
      EXPECT_THAT(imported.error().message(), HasSubstr(kBase)) << imported.error().ToString();
      EXPECT_TRUE(imported.error().code() == ErrorCode::kCorrupt || imported.error().code() == ErrorCode::kUnsupported)
          << imported.error().ToString();
      EXPECT_TRUE(FilesIn(*env, kGraphDir).empty());
    }
  }
  // The offsets show almost every flipped bit of the graph; a changed statistic among the properties harms nothing.
  EXPECT_GT(refused, tried / 2);
}

TEST(GraphImportTest, FilesThatAreNotThereAreNamed) {
  MemEnv env;
  PutGraph(env, SomeGraph());
  for (const std::string suffix : {".graph", ".properties"}) {
    const auto copy = env.CrashedCopy(CrashMode::kKeepAll);
    ASSERT_TRUE(copy->Remove(kBase + suffix));
    const auto imported = ImportGraph(*copy, kBase, kGraphDir);
    ASSERT_FALSE(imported);
    EXPECT_EQ(imported.error().code(), ErrorCode::kNotFound);
    EXPECT_THAT(imported.error().message(), HasSubstr(kBase + suffix));
    EXPECT_TRUE(FilesIn(*copy, kGraphDir).empty());
  }
}

// At each operation: the graph from before is whole, or the new one is.
TEST(GraphImportTest, ADiskThatFailsLeavesTheLastGraph) {
  MemEnv start;
  PutGraph(start, SomeGraph());
  ASSERT_TRUE(ImportGraph(start, kBase, kGraphDir, {.memory = 64 << 10}));
  PutGraph(start, SomeGraph(4));
  const GraphImportOptions options{.memory = 64 << 10, .replace = true};
  uint64_t operations = 0;
  {
    const auto base = start.CrashedCopy(CrashMode::kKeepAll);
    FaultyEnv env(*base);
    ASSERT_TRUE(ImportGraph(env, kBase, kGraphDir, options));
    operations = env.operations();
  }
  ASSERT_GT(operations, 20U);
  for (uint64_t at = 1; at <= operations; ++at) {
    for (const bool full : {false, true}) {
      const auto base = start.CrashedCopy(CrashMode::kKeepAll);
      FaultPlan plan;
      (full ? plan.full_at : plan.power_cut_at) = at;
      FaultyEnv env(*base, plan);
      const bool taken = ImportGraph(env, kBase, kGraphDir, options).has_value();
      const auto left = base->CrashedCopy(full ? CrashMode::kKeepAll : CrashMode::kLoseUnsynced);
      const bool is_new = GraphCurrent::Load(*left, kGraphDir).value().generation == 2;
      EXPECT_TRUE(!taken || is_new) << at;
      ExpectGraph(*left, SomeGraph(is_new ? 4 : 3));
      // The next one cleans up.
      ASSERT_TRUE(ImportGraph(*left, kBase, kGraphDir, options)) << at;
      EXPECT_EQ(FilesIn(*left, kGraphDir).size(), 7U) << at;
      if (HasFailure()) return;
    }
  }
}

std::string AsciiOf(const Adjacency& truth) {
  std::ostringstream text;
  text << truth.nodes() << "\n";
  for (uint64_t node = 0; node < truth.nodes(); ++node) {
    for (const NodeId to : truth[node]) text << to << " ";
    text << "\n";
  }
  return text.str();
}

struct ImportedGraph {
  explicit ImportedGraph(const Adjacency& truth) {
    PutGraph(env, truth);
    CHECK(ImportGraph(env, kBase, kGraphDir));
    CHECK(env.CreateDirs("out"));
    files = GraphFiles::Open(env, kGraphDir).value();
  }
  MemEnv env;
  std::unique_ptr<GraphFiles> files;
};

TEST(GraphExportTest, AsciiAndCsvAreTheLists) {
  for (const graph::Shape shape : graph::kShapes) {
    const Adjacency truth = MakeGraph(shape, 50, 8);
    ImportedGraph graph(truth);
    const auto ascii = ExportGraph(graph.env, *graph.files, "out/a", {.format = GraphExportFormat::kAscii});
    ASSERT_TRUE(ascii) << ascii.error().ToString();
    EXPECT_EQ(ReadWholeFile(graph.env, "out/a").value(), AsciiOf(truth));
    EXPECT_EQ(ascii->nodes, truth.nodes());
    EXPECT_EQ(ascii->arcs, truth.arcs());

    std::string got;
    GraphExportOptions turned{.format = GraphExportFormat::kAscii, .direction = GraphDirection::kTransposed};
    turned.sink = [&](std::string_view bytes) -> Status {
      got += bytes;
      return {};
    };
    ASSERT_TRUE(ExportGraph(graph.env, *graph.files, "-", turned));
    EXPECT_EQ(got, AsciiOf(truth.Transpose()));

    ASSERT_TRUE(ExportGraph(graph.env, *graph.files, "out/b", {.format = GraphExportFormat::kCsv}));
    std::ostringstream csv;
    csv << "source,target\n";
    for (uint64_t node = 0; node < truth.nodes(); ++node) {
      for (const NodeId to : truth[node]) csv << node << "," << to << "\n";
    }
    EXPECT_EQ(ReadWholeFile(graph.env, "out/b").value(), csv.str());
  }
}

TEST(GraphExportTest, WebGraphFilesAreImportedAgain) {
  const Adjacency truth = SomeGraph();
  ImportedGraph graph(truth);
  const auto made =
      ExportGraph(graph.env, *graph.files, kBase,
                  {.format = GraphExportFormat::kWebGraph, .direction = GraphDirection::kTransposed, .replace = true});
  ASSERT_TRUE(made) << made.error().ToString();
  EXPECT_EQ(made->files.size(), 3U);
  ASSERT_TRUE(ImportGraph(graph.env, kBase, kGraphDir, {.replace = true}));
  ExpectGraph(graph.env, truth.Transpose());
}

TEST(GraphExportTest, AFileThatIsThereStaysUnlessItMayBeReplaced) {
  ImportedGraph graph(SomeGraph());
  Put(graph.env, "out/w.offsets", "mine");
  const auto refused = ExportGraph(graph.env, *graph.files, "out/w", {.format = GraphExportFormat::kWebGraph});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kExists);
  EXPECT_THAT(FilesIn(graph.env, "out"), testing::ElementsAre("w.offsets"));
  EXPECT_EQ(ReadWholeFile(graph.env, "out/w.offsets").value(), "mine");
  ASSERT_TRUE(ExportGraph(graph.env, *graph.files, "out/w", {.format = GraphExportFormat::kWebGraph, .replace = true}));
  EXPECT_THAT(FilesIn(graph.env, "out"), testing::ElementsAre("w.graph", "w.offsets", "w.properties"));
}

TEST(GraphExportTest, WhatFailsOrIsStoppedLeavesNoFile) {
  ImportedGraph graph(MakeGraph(graph::Shape::kDense, 300, 2));
  for (const GraphExportFormat format : {GraphExportFormat::kAscii, GraphExportFormat::kWebGraph}) {
    uint64_t operations = 0;
    {
      FaultyEnv env(graph.env);
      ASSERT_TRUE(ExportGraph(env, *graph.files, "out/x", {.format = format, .replace = true}));
      operations = env.operations();
      for (const std::string& name : FilesIn(graph.env, "out")) ASSERT_TRUE(graph.env.Remove("out/" + name));
    }
    ASSERT_GE(operations, 4U);
    for (uint64_t at = 1; at <= operations; ++at) {
      FaultPlan plan;
      plan.fail_at = at;
      FaultyEnv env(graph.env, plan);
      ASSERT_FALSE(ExportGraph(env, *graph.files, "out/x", {.format = format})) << at;
      EXPECT_TRUE(FilesIn(graph.env, "out").empty()) << at;
    }
  }
  GraphExportOptions stopped{.format = GraphExportFormat::kWebGraph};
  stopped.progress = [](std::string_view, uint64_t) -> Status { return Fail(ErrorCode::kClosed, "stop"); };
  ASSERT_FALSE(ExportGraph(graph.env, *graph.files, "out/x", stopped));
  EXPECT_TRUE(FilesIn(graph.env, "out").empty());
}

TEST(ExportFileTest, NamesThatEndInGzArePacked) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("out"));
  std::string bytes;
  std::mt19937_64 random(2);
  for (int i = 0; i < 200'000; ++i) bytes += std::to_string(random() % 50'000) + "\t";
  auto file = ExportFile::Create(env, "out/x.gz", false).value();
  ASSERT_TRUE(file.Append(bytes));  // one piece that is larger than all buffers
  ASSERT_TRUE(file.Append("end"));
  ASSERT_TRUE(file.Seal());
  ASSERT_TRUE(file.Publish());
  const std::string packed = ReadWholeFile(env, "out/x.gz").value();
  EXPECT_EQ(file.size(), packed.size());
  EXPECT_LT(packed.size(), bytes.size() / 2);
  std::string unpacked(bytes.size() + 100, '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(unpacked.data());
  stream.avail_out = static_cast<uInt>(unpacked.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);  // one member
  EXPECT_EQ(stream.avail_in, 0U);
  unpacked.resize(stream.total_out);
  inflateEnd(&stream);
  EXPECT_TRUE(unpacked == bytes + "end");
}

TEST(ExportFileTest, AFileThatIsMadeMeanwhileIsNotReplaced) {
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("out"));
  {
    auto file = ExportFile::Create(env, "out/x", false).value();
    ASSERT_TRUE(file.Append("ours"));
    ASSERT_TRUE(file.Seal());
    Put(env, "out/x", "theirs");
    EXPECT_EQ(file.Publish().error().code(), ErrorCode::kExists);
  }
  EXPECT_EQ(ReadWholeFile(env, "out/x").value(), "theirs");
  EXPECT_THAT(FilesIn(env, "out"), testing::ElementsAre("x"));
}

TEST(NameOrderTest, IsTheOrderOfTheBytesInAnyMemory) {
  std::mt19937_64 random(11);
  std::vector<std::string> keys;
  for (int i = 0; i < 3000; ++i) {
    static const char* const kLabels[] = {"a", "b", "b-c", "b-c-d", "a-", "a0", "www", "example"};
    std::string key = "org";
    for (uint64_t labels = random() % 4; labels > 0; --labels) key += std::string(",") + kLabels[random() % 8];
    keys.push_back(key);
  }
  keys.push_back("127.0.0.1");
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  ASSERT_GT(keys.size(), 200U);
  std::string dictionary;
  graph::UrlDictionaryWriter writer([&](std::string_view bytes) -> Status {
    dictionary += bytes;
    return {};
  });
  std::vector<std::string> expected;
  for (const std::string& key : keys) {
    ASSERT_TRUE(writer.Add(key));
    expected.push_back(ReversedNameOfKey(key));
  }
  ASSERT_TRUE(writer.Finish());
  const auto names = graph::UrlDictionary::Open(dictionary).value();
  ASSERT_FALSE(std::ranges::is_sorted(expected));  // or there is nothing to do
  std::ranges::sort(expected);
  MemEnv env;
  ASSERT_TRUE(env.CreateDirs("tmp"));
  for (const size_t memory : {size_t{1}, size_t{5000}, size_t{1} << 20}) {
    std::vector<std::string> found;
    std::vector<uint64_t> numbers;
    const auto places =
        OrderReversedNames(env, "tmp", names, memory, [&](std::string_view name, uint64_t number) -> Status {
          found.emplace_back(name);
          numbers.push_back(number);
          return {};
        });
    ASSERT_TRUE(places) << places.error().ToString();
    EXPECT_EQ(found, expected);
    ASSERT_EQ(places->size(), numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      EXPECT_EQ((*places)[numbers[i]], i);
      EXPECT_EQ(found[i], ReversedNameOfKey(keys[numbers[i]]));
    }
    EXPECT_TRUE(FilesIn(env, "tmp").empty());
  }
}

TEST(GraphNamesTest, FieldsAreSafeForTheirFormats) {
  std::string csv;
  AppendCsv(csv, "http://a/?x=1,2&y=\"z\"");
  EXPECT_EQ(csv, "\"http://a/?x=1,2&y=\"\"z\"\"\"");
  csv.clear();
  AppendCsv(csv, "http://a/");
  EXPECT_EQ(csv, "http://a/");
  std::string line;
  AppendLineSafe("a\tb\nc\x7f\xc3\xa4 d", line);
  EXPECT_EQ(line, "a%09b%0Ac%7F\xc3\xa4 d");
  EXPECT_EQ(ReversedNameOfKey("org,example-a,www"), "org.example-a.www");
  EXPECT_EQ(ReversedNameOfKey("[::1]"), "[::1]");
}

}  // namespace
}  // namespace portolan
