// SURT: a URL with its host reversed, so that sorting brings a domain's pages together. The key of CDX and CDXJ files.
//
//   http://www.example.com:8080/Path/?b=2&a=1   →   com,example:8080)/path?a=1&b=2
//
// The key is looser than the canonical form, as is usual in web archives: scheme and user dropped, a leading "www"
// label ("www", "www2") dropped, all in lower case, query sorted, session ids dropped, a trailing slash dropped. Two
// URLs with one key are the same page to an archive's reader, and still two pages to the crawler. URLs without an
// authority (dns:, warcinfo:, mailto:) are their own key. Where other tools disagree among themselves,
// docs/canonical.md says what was chosen.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "url/url.h"

namespace portolan {

// Appends the key of CDXJ files to `out`. `url` may have any scheme.
void AppendSurtKey(const Url& url, std::string& out);

// The same of text; what does not parse is its own key, with blanks and controls percent-encoded so that it stays one
// word of a line. Bytes that are not UTF-8 keep their value: "http://a.test/caf\xe9" is "test,a)/caf%e9".
std::string SurtKey(std::string_view text);

// "com,example,www" of "www.example.com": what stands between dots in reverse, with commas.
void AppendReversedHost(std::string_view host, std::string& out);

// The full SURT with nothing loosened but user and password: "https://(com,example,www,:8080)/Path?b=2&a=1#c". IP
// addresses stay as they are (in the key IPv4 addresses are reversed too, as archives' readers expect).
void AppendSurt(const Url& url, std::string& out);

}  // namespace portolan
