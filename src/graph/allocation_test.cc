// The readers' promises about memory, counted by an operator new of this program's own.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "graph/testing/random_graphs.h"
#include "graph/testing/round_trip.h"

// Sanitizers bring allocators of their own, which must not be replaced.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PORTOLAN_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PORTOLAN_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef PORTOLAN_COUNTS_ALLOCATIONS
#define PORTOLAN_COUNTS_ALLOCATIONS 1
#endif

#if PORTOLAN_COUNTS_ALLOCATIONS
namespace {
size_t allocations = 0;
size_t allocated_bytes = 0;
}  // namespace
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  allocated_bytes += size;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace portolan::graph {
namespace {

TEST(GraphAllocationTest, AScanAllocatesNothingOnceItsListsHaveGrown) {
#if PORTOLAN_COUNTS_ALLOCATIONS
  for (const Shape shape : {Shape::kCopies, Shape::kIntervals, Shape::kComplete}) {
    Adjacency twice = MakeGraph(shape, 500, 1);
    const Adjacency once = twice;
    for (uint64_t node = 0; node < once.nodes(); ++node) twice.Add(once[node]);
    const auto written = Compress(twice, {});
    ASSERT_TRUE(written);
    GraphScan scan(written->properties, written->graph);
    for (uint64_t node = 0; node < once.nodes(); ++node) ASSERT_TRUE(scan.Next());
    const size_t before = allocations;
    while (scan.Next()) {
    }
    EXPECT_TRUE(scan.status());
    // The ring turns: a list may come to a slot that had no list as long. That ends when each had the longest.
    EXPECT_LE(allocations - before, 8 * 3U);
  }
#else
  GTEST_SKIP() << "allocations are not counted under sanitizers";
#endif
}

TEST(GraphAllocationTest, RandomAccessAllocatesNothingOnceItsListsHaveGrown) {
#if PORTOLAN_COUNTS_ALLOCATIONS
  for (const Shape shape : kShapes) {
    const auto written = Compress(MakeGraph(shape, 500, 1), {});
    const auto graph = BvGraph::Open(written->properties, written->graph, written->offsets);
    ASSERT_TRUE(graph);
    BvGraph::Cursor cursor(*graph);
    for (uint64_t node = 0; node < 500; ++node) ASSERT_TRUE(graph->Successors(node, cursor));
    const size_t before = allocations;
    uint64_t right = 0;
    for (uint64_t node = 0; node < 500; ++node) right += graph->Successors(node, cursor).has_value() ? 1 : 0;
    EXPECT_EQ(allocations, before);
    EXPECT_EQ(right, 500U);
  }
#else
  GTEST_SKIP() << "allocations are not counted under sanitizers";
#endif
}

TEST(GraphAllocationTest, AListThatItsBitsDoNotHaveTakesNoMemory) {
#if PORTOLAN_COUNTS_ALLOCATIONS
  GraphProperties properties;
  properties.nodes = kMaxNodes;
  properties.arcs = uint64_t{1} << 40;
  for (const bool intervals : {false, true}) {
    BitWriter writer;
    writer.WriteGamma(4'000'000'000);
    writer.WriteUnary(0);
    writer.WriteGamma(intervals ? 900'000'000 : 0);
    writer.WriteBits(~uint64_t{0}, 64);
    const std::string bytes = writer.Finish();
    const size_t before = allocated_bytes;
    EXPECT_FALSE(ScanAll(properties, bytes));
    EXPECT_LT(allocated_bytes - before, 10'000U);
  }
#else
  GTEST_SKIP() << "allocations are not counted under sanitizers";
#endif
}

}  // namespace
}  // namespace portolan::graph
