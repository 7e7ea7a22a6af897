// IdleParameters: which parts of a host's URLs never change the page.
//
// "?sid=4f1c", "&ref=home", "/s-9f04ab12c7/" make new URLs of old pages. A part is a parameter of the query, a
// directory that contains a token (url_shape.h), or what follows ';' in the path; its name is the parameter's, or the
// directory's form. Two fetched URLs that differ in one part, or in whether it is there, are a comparison: with equal
// pages it speaks for the part being idle, with different ones against it. A part is idle when at least kAgree
// comparisons, on pages of kPaths different paths and with kValues different values, said so, and none said the
// opposite since. One that says the opposite takes it back, and then four times as many are needed, each time.
// "?page=1", which shows the same as no parameter, is one value only.
//
// Of a directory only comparisons with the page without it speak for it: perhaps there is no such page.
//
// The shard leaves idle parts out of links to that host (Without), so their pages are fetched once. One in kAudit URLs
// keeps them, so that there are still comparisons.
//
// Equal are pages with the same bytes, or the same similarity hash: links that carry a session id make each copy's
// bytes different, and the text not.
//
// Thread: one owner. Deterministic. Memory bound: Options::memory: three quarters for pages, a quarter for parameters.
// At the bound the least recently used are forgotten: a page then takes part in no comparison, and a parameter that was
// forgotten is not idle until it is learnt again. Names are told apart by 16 bits within a host.
// Durability: Checkpointables (docs/formats/budget.md).

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash_key.h"
#include "base/result.h"
#include "disk/group_cache.h"

namespace portolan {

class IdleParameters {
 public:
  static constexpr uint32_t kAgree = 6;
  static constexpr uint32_t kPaths = 3;
  static constexpr uint32_t kValues = 4;
  static constexpr uint64_t kAudit = 64;
  static constexpr size_t kNames = 8;  // parts of a URL that are compared; of a URL with more none is

  struct Options {
    std::string name = "parameters";
    uint64_t memory = uint64_t{4} << 20;
    HashKey key;
  };
  static Result<std::unique_ptr<IdleParameters>> Open(Env& env, const Manifest& manifest, const Options& options);
  // As TrapTable's.
  static Result<std::unique_ptr<IdleParameters>> OpenCommitted(Env& env, const Manifest& manifest, Options options);

  struct Change {
    std::string name;
    bool idle = false;  // false: it was taken back
  };
  // A page was fetched. Returns what is idle now and was not before, or the reverse.
  std::vector<Change> Observe(std::string_view url, uint64_t host_key, uint64_t fingerprint, uint64_t similarity);

  // True if the URL has idle parts and is not one of the kAudit: `out` is the URL without them.
  bool Without(std::string_view url, uint64_t host_key, std::string& out) const;
  // The names of the idle parts of a URL, audited or not.
  std::vector<std::string> IdleOf(std::string_view url, uint64_t host_key) const;

  std::vector<Checkpointable*> Checkpointables() { return {pages_.get(), names_.get()}; }

 private:
  explicit IdleParameters(const Options& options) : options_(options) {}
  uint64_t NameKey(uint64_t host_key, std::string_view name) const;
  bool IsIdle(uint64_t name_key) const;
  // Counts one comparison; true if it changed the answer.
  bool Compare(uint64_t host_key, uint64_t name_key, uint64_t path, uint64_t value, bool equal);

  const Options options_;
  std::unique_ptr<GroupCache> pages_;
  std::unique_ptr<GroupCache>
      names_;  // first: comparisons that agreed since it was taken back, second: how often it was
};

}  // namespace portolan
