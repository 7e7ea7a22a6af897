// STAR's promise about memory, measured with this program's own operator new: whatever comes, it holds no more than it
// was given, plus a fixed base for file handles and compression.

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>

#include "base/hash.h"
#include "io/env.h"
#include "io/rng.h"
#include "reputation/star.h"

// Sanitizers have their own allocators, which must not be replaced.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PORTOLAN_COUNTS_BYTES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PORTOLAN_COUNTS_BYTES 0
#endif
#endif
#ifndef PORTOLAN_COUNTS_BYTES
#define PORTOLAN_COUNTS_BYTES 1
#endif

#if PORTOLAN_COUNTS_BYTES
namespace {
std::atomic<int64_t> live_bytes = 0;
std::atomic<int64_t> peak_bytes = 0;

void Release(void* memory) {
  live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}
}  // namespace
[[gnu::noinline]] void* operator new(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const int64_t live = live_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  if (live > peak_bytes) peak_bytes = live;
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { Release(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { Release(memory); }
#endif

namespace portolan {
namespace {

struct Counted : StandingSink {
  uint64_t urls = 0;
  Status OnStanding(std::string_view, const Standing&) override {
    ++urls;
    return {};
  }
};

TEST(StarMemoryTest, MemoryDoesNotGrowWithTheNumberOfDomains) {
#if PORTOLAN_COUNTS_BYTES
  std::string dir = std::filesystem::temp_directory_path() / "portolan-star-XXXXXX";
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  {
    Manifest manifest = Manifest::Open(Env::Posix(), dir).value();
    InlineExecutor executor;
    StarOptions options;
    options.memory = uint64_t{4} << 20;
    options.budget_function = "ranked top=32768 least=10 most=10000";
    const int64_t before = live_bytes;
    peak_bytes = before;
    auto star = Star::Open(Env::Posix(), manifest, executor, options).value();
    Counted sink;
    Rng rng(9);
    int64_t now = 0;
    std::string name;
    for (uint64_t i = 0; i < 300'000; ++i) {
      // This many domains would take tens of megabytes in a map; some names are as long as names can be.
      const uint64_t number = rng.Below(150'000);
      name = std::to_string(number) + (number % 50 == 0 ? std::string(200, 'n') : "") + ".example";
      Status added = star->AddUrl({.pld = Mix64(number),
                                   .pld_name = name,
                                   .record = "https://www.example/" + name + "/index.html",
                                   .tick = static_cast<uint32_t>(i / 1000),
                                   .horizon = 16});
      if (added) added = star->AddEdge(Mix64(rng.Below(150'000)), Mix64(std::min(number, rng.Below(150'000))));
      ASSERT_TRUE(added) << added.error().ToString();
      if (i % 20'000 == 0 || star->ResultsReady()) {
        now += 1'000'000'000'000'000;
        ASSERT_TRUE(star->StartRound(now, true));
        ASSERT_TRUE(star->Take(sink, ~0ULL, now));
      }
      if (i % 50'000 == 49'999) {
        ASSERT_TRUE(manifest.Commit(star->Checkpointables()));
      }
    }
    EXPECT_GT(star->domains(), 100'000U);
    EXPECT_GT(star->budgets().steps().size(), 3U);
    const int64_t held = peak_bytes - before;
    EXPECT_LT(held, static_cast<int64_t>(options.memory) + (int64_t{1} << 20));
    EXPECT_GT(held, int64_t{1} << 20) << "counted at all";
    RecordProperty("held", static_cast<int>(held));
  }
  std::filesystem::remove_all(dir);
#else
  GTEST_SKIP() << "a sanitizer's allocator counts otherwise";
#endif
}

}  // namespace
}  // namespace portolan
