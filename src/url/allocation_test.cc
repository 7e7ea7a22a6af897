// The hot path allocates nothing: counted by this program's own operator new.

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>

#include "url/link.h"

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
}
[[gnu::noinline]] void* operator new(size_t size) {
  ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
#endif

namespace portolan {
namespace {

TEST(LinkTest, AllocatesNothingOnceItsBufferHasGrown) {
#if PORTOLAN_COUNTS_ALLOCATIONS
  const Url base = *Url::Parse("https://user@example.com:444/a/b/c?d#e");
  const std::string_view hrefs[] = {"https://Example.com/a/b?c=d#e",
                                    "//cdn.example/x.js",
                                    "/a/b",
                                    "x/y.html",
                                    "?q",
                                    "#f",
                                    "",
                                    "../../up",
                                    "a b/\xc3\xa9?\"",
                                    "/100%/%7e",
                                    "http://h:81/",
                                    "mailto:x",
                                    "http://[",
                                    "1.2",
                                    "//1.2.3.4/x"};
  Link link;
  ResolveLink("/" + std::string(4000, 'x'), base, {}, link);
  LinkOptions every;
  every.rules = CanonicalRules::All();
  const size_t before = allocations;
  for (const std::string_view href : hrefs) {
    ResolveLink(href, base, {}, link);
    ResolveLink(href, base, every, link);
  }
  ResolveLink("/b;jsessionid=1/index.html?c=1&b&utm_source=x&a", base, every, link);
  EXPECT_EQ(allocations, before);
  EXPECT_EQ(link.url.href(), "https://example.com:444/b/?a&b&c=1");
#else
  GTEST_SKIP() << "the sanitizer has its own allocator";
#endif
}

}  // namespace
}  // namespace portolan
