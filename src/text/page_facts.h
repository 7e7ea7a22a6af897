// PageFacts: title, description and date of publication of a page, from what it says about itself.
//
// A date is looked for where publishers put it, the most explicit place first: meta elements (article:published_time of
// Open Graph, datePublished of schema.org, Dublin Core and the names that publishing software uses), JSON-LD, time
// elements marked as the date of publication, the path of the URL ("/2019/11/18/"), the only time element. Dates in the
// text itself are not used: they are too often those of other pages.
//
// Thread: any. Time: linear. Memory bound: the strings, each within its limit.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "html/page.h"

namespace portolan {

inline constexpr size_t kMaxDescription = 1024;  // bytes; cut between characters

struct PageFacts {
  std::string_view title;        // the title element, or og:title, or the first heading of level 1; a view of the page
  std::string_view description;  // meta description, or og:description; likewise
  std::string published;  // RFC 3339: "2019-11-18", or "2019-11-18T16:07:00-06:00" if the time and zone are known
};

// REQUIRES: the page was read with facts; with headings, or there is no title from them.
PageFacts FindPageFacts(const Page& page, std::string_view url);

// A date as people and programs write it, as RFC 3339. "2019-11-18", "2019-11-18T16:07:00.000Z", "20191118",
// "18 November 2019", "Nov 18, 2019", "Mon, 18 Nov 2019 16:07:00 GMT". nullopt: none of these, not a day of the
// calendar, or a year outside of 1970 to 2199. "11/18/2019" is nullopt: its order depends on the country.
std::optional<std::string> NormaliseDate(std::string_view text);

// "/2019/11/18/", "/2019-11-18", "/20191118" as segments of the path or at their beginning; month alone is nullopt.
std::optional<std::string> DateInUrl(std::string_view url);

// The value of the first "key": "value" with this key in a JSON text, however deep; escapes decoded as far as dates
// need it. nullopt: there is none that is a string.
std::optional<std::string> JsonString(std::string_view json, std::string_view key);

}  // namespace portolan
