#include "url/idna.h"

#include <unicode/uidna.h>

#include <algorithm>
#include <iterator>

#include "base/utf8.h"

namespace portolan::url_internal {
namespace {

const UIDNA* Uts46() {
  static const UIDNA* const idna = [] {
    UErrorCode error = U_ZERO_ERROR;
    UIDNA* opened = uidna_openUTS46(
        UIDNA_CHECK_BIDI | UIDNA_CHECK_CONTEXTJ | UIDNA_NONTRANSITIONAL_TO_ASCII | UIDNA_NONTRANSITIONAL_TO_UNICODE,
        &error);
    return U_SUCCESS(error) ? opened : nullptr;
  }();
  return idna;
}

// What ICU reports and the standard does not ask for: VerifyDnsLength and CheckHyphens are false.
constexpr uint32_t kAllowedErrors = UIDNA_ERROR_EMPTY_LABEL | UIDNA_ERROR_LABEL_TOO_LONG |
                                    UIDNA_ERROR_DOMAIN_NAME_TOO_LONG | UIDNA_ERROR_LEADING_HYPHEN |
                                    UIDNA_ERROR_TRAILING_HYPHEN | UIDNA_ERROR_HYPHEN_3_4;

// UTS #46 since revision 33: an "xn--" label that decodes to nothing or to ASCII is an error. ICU 72 lets it pass. Such
// a label ends in the hyphen that parts the ASCII from the (missing) rest.
bool HasHollowLabel(std::string_view ascii) {
  while (true) {
    const size_t dot = ascii.find('.');
    const std::string_view label = ascii.substr(0, dot);
    if (label.starts_with("xn--") && label.ends_with('-')) return true;
    if (dot == std::string_view::npos) return false;
    ascii.remove_prefix(dot + 1);
  }
}

// UTS #46 of Unicode 15.1 and 16 treats some code points otherwise than Unicode 15.0, which ICU 72 has: capital letters
// that once had no small form and compatibility ideographs are now mapped, invisible fillers and controls ignored.
// Doing those steps before ICU does the rest gives the new results, and changes nothing under a newer ICU. Code points
// that Unicode assigned after 15.0, and U+1806 (valid since 16), stay refused until ICU learns them.
struct Change {
  uint32_t first;
  uint32_t last;
  uint32_t to;  // what `first` maps to, the next to the next …; 0 for ignored
};
constexpr Change kChanges[] = {
    {0x04c0, 0x04c0, 0x04cf},   {0x10a0, 0x10c5, 0x2d00},   {0x115f, 0x1160, 0},        {0x17b4, 0x17b5, 0},
    {0x180e, 0x180e, 0},        {0x1e9e, 0x1e9e, 0x00df},   {0x2061, 0x2063, 0},        {0x206a, 0x206f, 0},
    {0x2132, 0x2132, 0x214e},   {0x2183, 0x2183, 0x2184},   {0x3164, 0x3164, 0},        {0xffa0, 0xffa0, 0},
    {0x1d173, 0x1d17a, 0},      {0x2f868, 0x2f868, 0x36fc}, {0x2f874, 0x2f874, 0x5f53}, {0x2f91f, 0x2f91f, 0x243ab},
    {0x2f95f, 0x2f95f, 0x7aee}, {0x2f9bf, 0x2f9bf, 0x45d7},
};

// REQUIRES: text begins with a well-formed sequence of `length` bytes.
uint32_t CodePoint(std::string_view text, size_t length) {
  uint32_t code = static_cast<uint8_t>(text[0]);
  if (length > 1) code &= 0x7fU >> length;
  for (size_t i = 1; i < length; ++i) code = code << 6 | (static_cast<uint8_t>(text[i]) & 0x3fU);
  return code;
}

// False where `domain` is not UTF-8: its broken bytes would be U+FFFD, which is disallowed.
bool ApplyChanges(std::string_view domain, std::string& changed) {
  while (!domain.empty()) {
    const size_t length = Utf8SequenceLength(domain);
    if (length == 0) return false;
    const uint32_t code = CodePoint(domain, length);
    const Change* change = std::find_if(std::begin(kChanges), std::end(kChanges),
                                        [&](const Change& c) { return code >= c.first && code <= c.last; });
    if (change == std::end(kChanges)) {
      changed.append(domain, 0, length);
    } else if (change->to != 0) {
      AppendUtf8(changed, change->to + (code - change->first));
    }
    domain.remove_prefix(length);
  }
  return true;
}

}  // namespace

bool DomainToAscii(std::string_view domain, std::string& ascii) {
  std::string changed;
  if (Uts46() == nullptr || !ApplyChanges(domain, changed)) return false;
  domain = changed;
  ascii.resize(domain.size() * 2 + 64);
  while (true) {
    UIDNAInfo info = UIDNA_INFO_INITIALIZER;
    UErrorCode error = U_ZERO_ERROR;
    const int32_t length = uidna_nameToASCII_UTF8(Uts46(), domain.data(), static_cast<int32_t>(domain.size()),
                                                  ascii.data(), static_cast<int32_t>(ascii.size()), &info, &error);
    if (error == U_BUFFER_OVERFLOW_ERROR && length > static_cast<int32_t>(ascii.size())) {
      ascii.resize(static_cast<size_t>(length));
      continue;
    }
    if (U_FAILURE(error) || (info.errors & ~kAllowedErrors) != 0) return false;
    ascii.resize(static_cast<size_t>(length));
    return !HasHollowLabel(ascii);
  }
}

}  // namespace portolan::url_internal
