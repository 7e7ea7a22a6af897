// The query that represents the body of a POST in an index key, by the convention of pywb.
//
// Captures of one URL by POST differ in what was sent; the index tells them apart by a key of the URL with
// "__wb_method=POST&…" appended. The body becomes a query by its media type:
//   application/x-www-form-urlencoded  as it is
//   multipart/form-data                name=value of each part
//   application/json                   the leaves, named by their own key; a name that comes again gets ".2_", ".3_" …
//   anything else                      __wb_post_data= and the body in base64
//
// Bounds: kMaxPostBody bytes of the body are looked at, kMaxPostQuery of the query are kept.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace portolan {

inline constexpr size_t kMaxPostBody = size_t{64} << 10;
inline constexpr size_t kMaxPostQuery = 16384;

std::string PostQuery(std::string_view content_type, std::string_view body);

// `url` with "?" or "&", "__wb_method=METHOD" and the query behind it.
std::string AppendPostQuery(std::string_view url, std::string_view method, std::string_view query);

std::string Base64(std::string_view bytes);

}  // namespace portolan
