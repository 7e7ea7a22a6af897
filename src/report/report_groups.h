// The tables by name of a report are counted in one GroupSums; the first byte of a name says of which table it is. They
// come back in the order of these bytes, so that a table whose rows are chosen by another one comes after it.
//
// A pair of names is the first name, NUL, the second.

#pragma once

namespace portolan {

// Values: those in braces.
inline constexpr char kAddressGroup = 'A';        // address {answers}
inline constexpr char kContentGroup = 'C';        // fingerprint {pages, bytes}
inline constexpr char kDomainLinksGroup = 'D';    // target domain, source domain {links}
inline constexpr char kDomainPagesGroup = 'E';    // domain, host {documents, bytes}
inline constexpr char kHostGroup = 'H';           // host {requests, answers, documents, bytes}
inline constexpr char kHostServerGroup = 'I';     // host, product {answers}
inline constexpr char kLanguageGroup = 'L';       // language {pages, bytes of text}
inline constexpr char kOutcomeGroup = 'O';        // outcome {URLs}
inline constexpr char kProtocolGroup = 'P';       // protocol {requests, bytes}
inline constexpr char kRedirectGroup = 'R';       // status, kind {URLs}
inline constexpr char kRobotsGroup = 'S';         // result {files, bytes}
inline constexpr char kStatusGroup = 'T';         // status {URLs, bytes}
inline constexpr char kSuffixAddressGroup = 'U';  // suffix, address {answers}
inline constexpr char kTopLevelGroup = 'V';       // top-level domain {ends of links}
inline constexpr char kTopLevelLinksGroup = 'W';  // of the source, of the target {links}
inline constexpr char kTypeGroup = 'X';           // MIME type {pages, bytes}
inline constexpr char kExtensionGroup = 'Y';      // ".html" {pages, bytes}

}  // namespace portolan
