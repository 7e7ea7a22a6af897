// SeedHosts: which servers may see what is meant only for the seeds' own servers: passwords, cookies, the operator's
// own header fields.
//
//   kOrigin   a seed's scheme, host and port; of a seed at http://HOST/ also https://HOST/, to which sites redirect
//   kDomain   a host of a seed's registered domain; without TLS only if a seed of that domain is without TLS, too
//   kAnyone   all others
//
// So a password given for an https seed is never sent in the clear, and nothing is sent to a domain that was not named.
//
// Thread: const after creation. Memory bound: a name for each host and domain of the seeds.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/result.h"
#include "url/domain.h"

namespace portolan {

enum class Audience : uint8_t { kAnyone, kDomain, kOrigin };  // each sees what those before it see

class SeedHosts {
 public:
  // `seeds` are canonical URLs.
  static Result<SeedHosts> Create(std::span<const std::string> seeds);

  // Of a canonical URL.
  Audience Of(std::string_view url) const;

 private:
  explicit SeedHosts(PublicSuffixes suffixes) : suffixes_(std::move(suffixes)) {}
  std::string DomainOf(std::string_view url) const;

  PublicSuffixes suffixes_;
  std::unordered_set<std::string> origins_;
  std::unordered_map<std::string, bool> domains_;  // is a seed of it without TLS?
};

}  // namespace portolan
