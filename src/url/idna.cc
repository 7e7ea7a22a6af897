#include "url/idna.h"

#include <unicode/uidna.h>

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

}  // namespace

bool DomainToAscii(std::string_view domain, std::string& ascii) {
  // ICU reads broken UTF-8 as U+FFFD, which is disallowed; so does the standard's decoder.
  if (Uts46() == nullptr || !IsUtf8(domain)) return false;
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
