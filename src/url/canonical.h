// The crawl's canonical form of a URL: one spelling for one page, as far as that can be known without fetching.
//
// Parsing already gives one spelling of much (scheme and host in lower case, IDNA, default port dropped, dot segments
// resolved whether written "." or "%2e", an empty path as "/"). The rules below are applied after it; each is a bit
// that can be switched. docs/canonical.md has examples, lists of names, and the reasons.
//
// Invariants: canonicalising twice is canonicalising once, and the result parses to itself, for each set of rules.
// Memory bound: escapes may grow threefold ("%" becomes "%25"); the scratch is eight bytes per query parameter.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "url/url.h"

namespace portolan {

enum class CanonicalRule : uint32_t {
  kDropFragment = 1 << 0,      // …#section → …
  kNormalizeEscapes = 1 << 1,  // %7euser → ~user, %c3 → %C3, 100% → 100%25
  kDropEmptyQuery = 1 << 2,    // /a? → /a
  kDropUserInfo = 1 << 3,      // http://me:secret@a/ → http://a/
  kDropSessionIds = 1 << 4,    // ?PHPSESSID=…, /a;jsessionid=…
  kDropTracking = 1 << 5,      // ?utm_source=…, ?fbclid=…
  kSortQuery = 1 << 6,         // ?b=2&a=1 → ?a=1&b=2
  kDropIndexFile = 1 << 7,     // /a/index.html → /a/
  kDropHostDot = 1 << 8,       // example.com. → example.com
  kCollapseSlashes = 1 << 9,   // /a//b → /a/b
};

class CanonicalRules {
 public:
  constexpr CanonicalRules() = default;
  constexpr CanonicalRules(CanonicalRule rule) : bits_(static_cast<uint32_t>(rule)) {}  // NOLINT: meant to convert

  static constexpr CanonicalRules None() { return {}; }
  // Always on: rules that do not change which page is meant.
  static constexpr CanonicalRules Default();
  // Without these a URL cannot be fetched as it is: fragments and passwords are never sent.
  static constexpr CanonicalRules Needed();
  static constexpr CanonicalRules All();

  constexpr bool Has(CanonicalRule rule) const { return (bits_ & static_cast<uint32_t>(rule)) != 0; }
  constexpr bool HasAny(CanonicalRules rules) const { return (bits_ & rules.bits_) != 0; }
  constexpr CanonicalRules operator|(CanonicalRules other) const { return CanonicalRules(bits_ | other.bits_); }
  constexpr CanonicalRules Without(CanonicalRules other) const { return CanonicalRules(bits_ & ~other.bits_); }
  constexpr bool operator==(const CanonicalRules&) const = default;
  constexpr uint32_t bits() const { return bits_; }
  static constexpr CanonicalRules FromBits(uint32_t bits) { return CanonicalRules(bits & kAllBits); }

 private:
  static constexpr uint32_t kAllBits = (1 << 10) - 1;
  explicit constexpr CanonicalRules(uint32_t bits) : bits_(bits) {}
  uint32_t bits_ = 0;
};

constexpr CanonicalRules operator|(CanonicalRule a, CanonicalRule b) { return CanonicalRules(a) | CanonicalRules(b); }

constexpr CanonicalRules CanonicalRules::Needed() {
  return CanonicalRule::kDropFragment | CanonicalRule::kDropUserInfo;
}
constexpr CanonicalRules CanonicalRules::Default() { return Needed() | CanonicalRule::kNormalizeEscapes; }
constexpr CanonicalRules CanonicalRules::All() { return CanonicalRules(kAllBits); }

// "drop-fragment"; the name under which configuration and documents know a rule.
std::string_view CanonicalRuleName(CanonicalRule rule);
std::optional<CanonicalRule> ParseCanonicalRule(std::string_view name);

// Brings `url` into canonical form, in place. URLs that are not http(s) are left alone and give false.
bool Canonicalize(Url& url, CanonicalRules rules);

}  // namespace portolan
