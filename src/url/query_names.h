// Query parameters that identify the visitor and not the page: session ids and tracking parameters.
//
// docs/canonical.md has the same lists with their sources; a test compares both.

#pragma once

#include <span>
#include <string_view>

namespace portolan::url_internal {

// Names in lower case; one that ends in '*' stands for all that begin like it.
std::span<const std::string_view> SessionNames();
std::span<const std::string_view> TrackingNames();

// `parameter` is "name=value" or "name", as it stands in the query. Case of the name does not matter.
bool IsSessionParameter(std::string_view parameter);
bool IsTrackingParameter(std::string_view parameter);

// ";jsessionid=…" and the like, without the ';'.
bool IsSessionPathParameter(std::string_view parameter);

// A whole path segment that ASP.NET puts a session into: "(S(24 letters and digits))", "(A(…)S(…)F(…))", "(24 …)".
bool IsSessionSegment(std::string_view segment);

// "index.html" and its relatives, whatever their case.
std::span<const std::string_view> IndexFiles();
bool IsIndexFile(std::string_view segment);

}  // namespace portolan::url_internal
