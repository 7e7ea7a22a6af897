// Domain to ASCII (UTS #46 through ICU), as the URL Standard asks for it.
//
// Non-transitional, CheckBidi, CheckJoiners; no STD3 rules, no check of hyphens, no check of DNS lengths. A domain that
// is all ASCII is only lower-cased, "xn--" labels included: that is the standard's present rule (it keeps names that
// browsers resolve, such as xn--a). Beside a label that is not ASCII, "xn--" labels are validated.

#pragma once

#include <string>
#include <string_view>

namespace portolan::url_internal {

// False where UTS #46 fails. REQUIRES: domain is at most Url::kMaxIdnaHost bytes, not all ASCII.
bool DomainToAscii(std::string_view domain, std::string& ascii);

}  // namespace portolan::url_internal
