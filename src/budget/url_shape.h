// UrlShape: to which groups of URLs of its host a URL belongs, so that what one of them yields says something about the
// others.
//
// A group is a form of URL: every run of digits becomes '#', every token (eight or more letters and digits, both among
// them, or hexadecimal digits only) '*', and path segments that repeat become one '**'. Of the query the names count
// and not the values. The form alone says nothing about worth: "/#/#/" may be a calendar or ten years of news.
//
// From the narrowest to the widest, as trap_table.h asks them:
//   1 whole    "/shop/item-#?colour&size"     path and the set of the query's names; "f+" for a name that repeats
//   2 names    "?size", ";sid" on this host   one group for each name, whatever the path
//   3 path     "/shop/item-#?"                the path with any query
//   4 dirs     "/a/b/", "/a/"                 the first three, two and one directories
//   5 host
//   6 domain   all hosts below the same pay-level domain
//
// Keys are hashes with the crawl's secret, so outsiders cannot aim at another group's entry.
//
// Thread: any. Memory: none but the result. Time: linear in the URL.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/hash_key.h"

namespace portolan {

enum class ShapeLevel : uint8_t { kWhole, kName, kPath, kDirectory, kHost, kDomain };

struct ShapeGroup {
  uint64_t key = 0;
  ShapeLevel level = ShapeLevel::kHost;
};

struct UrlShape {
  static constexpr size_t kNames = 8;        // of a query that have a group; more have none
  static constexpr size_t kDirectories = 3;  // likewise
  static constexpr size_t kMost = 1 + kNames + 1 + kDirectories + 2;

  std::array<ShapeGroup, kMost> groups;  // in the order above
  size_t count = 0;

  const ShapeGroup& whole() const { return groups[0]; }
  const ShapeGroup* begin() const { return groups.data(); }
  const ShapeGroup* end() const { return groups.data() + count; }
  void Add(uint64_t key, ShapeLevel level) {
    if (count < kMost) groups[count++] = {key, level};
  }
};

// REQUIRES: `url` is canonical, `host_key` its HostKey and `domain_key` that of its pay-level domain, with the same
// key.
UrlShape ShapeOf(std::string_view url, uint64_t host_key, uint64_t domain_key, const HashKey& key);

// Only its host and domain.
UrlShape HostShapeOf(uint64_t host_key, uint64_t domain_key, const HashKey& key);

// The form of one group of that URL in words, for people: "/calendar/#/#/", "?sid", "example.org".
std::string ShapeWords(std::string_view url, const UrlShape& shape, size_t group);

// A path (or a query's name) in its abstract form, appended. Exposed for tests.
void AppendAbstract(std::string& out, std::string_view text);

}  // namespace portolan
