// The pay-level domain of a host: the registered name (example.co.uk for a.b.example.co.uk).
//
// The Public Suffix List decides, through libpsl. Reputation, budgets and shards are per pay-level domain.
//
// Thread: const after creation, any number of threads. Memory: libpsl's tables; a call allocates only within libpsl.

#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "url/url.h"

struct psl_ctx_st;

namespace portolan {

// The list has two parts: suffixes of registries (com, co.uk) and private ones, whose owners let others use names below
// them (github.io, blogspot.com). With kIcannAndPrivate alice.github.io is a domain of its own; with kIcann it is part
// of github.io.
enum class SuffixChoice : uint8_t { kIcannAndPrivate, kIcann };

class PublicSuffixes {
 public:
  // The list that libpsl was built with.
  static Result<PublicSuffixes> Builtin();
  // A list in the text form of publicsuffix.org.
  static Result<PublicSuffixes> FromText(std::string_view list);

  // The registrable domain within `host` (in lower case and ASCII, as Url::hostname() has it; a dot at its end is kept
  // out). Empty if there is none: the host is itself a public suffix, or not a name (an empty label, bytes that are not
  // ASCII).
  std::string_view RegistrableDomain(std::string_view host, SuffixChoice choice) const;

  // The public suffix within `host`; empty if that is not a name.
  std::string_view PublicSuffix(std::string_view host, SuffixChoice choice) const;

  // Never empty for a host: the registrable domain, or else the host itself (IP addresses, suffixes, single labels).
  std::string_view PayLevelDomain(const Url& url, SuffixChoice choice = SuffixChoice::kIcannAndPrivate) const;

  bool IsPublicSuffix(std::string_view host, SuffixChoice choice) const;

 private:
  struct Free {
    void operator()(psl_ctx_st* psl) const;
  };
  explicit PublicSuffixes(psl_ctx_st* psl) : psl_(psl) {}
  std::unique_ptr<psl_ctx_st, Free> psl_;
};

}  // namespace portolan
