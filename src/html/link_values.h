// Attribute values that hold URLs in a syntax of their own: srcset and meta refresh.

#pragma once

#include <optional>
#include <string_view>

namespace portolan {

// The candidates of a srcset one after the other (HTML standard, 4.8.4.2.2 "parse a srcset attribute"). One with wrong
// descriptors is ignored, as in a browser: "my photo.jpg 2x" is not a picture called "my". A view of the value; nothing
// at its end.
class SrcsetReader {
 public:
  explicit SrcsetReader(std::string_view value) : rest_(value) {}
  std::optional<std::string_view> Next();

 private:
  // Up to the comma that ends the candidate; false where they are wrong.
  bool TakeDescriptors();

  std::string_view rest_;
};

// The URL of "5; url='next.html'" (the "shared declarative refresh steps"). Nothing if the value is not a refresh, or
// is one of the page itself.
std::optional<std::string_view> RefreshUrl(std::string_view content);

// "text/html; charset=utf-8" → "utf-8" ("extracting a character encoding from a meta element"); empty for nothing.
std::string_view CharsetInContent(std::string_view content);

std::string_view TrimHtmlSpace(std::string_view text);

}  // namespace portolan
