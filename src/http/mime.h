// MimeType: WHATWG MIME Sniffing section 4, and Fetch's way of getting one out of Content-Type fields.
//
// Bytes are taken one for one (isomorphic): a parameter may hold bytes from 0x80 up.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/headers.h"

namespace portolan {

struct MimeType {
  std::string type;     // lower case
  std::string subtype;  // lower case
  // In order; names in lower case and each once.
  std::vector<std::pair<std::string, std::string>> parameters;

  std::string Essence() const { return type + "/" + subtype; }
  bool Is(std::string_view essence) const;
  const std::string* Parameter(std::string_view name) const;
  std::string Serialize() const;

  // Section 4.6.
  bool IsImage() const { return type == "image"; }
  bool IsAudioOrVideo() const;
  bool IsFont() const;
  bool IsZipBased() const;
  bool IsArchive() const;
  bool IsXml() const;
  bool IsHtml() const { return type == "text" && subtype == "html"; }
  bool IsScriptable() const { return IsXml() || IsHtml() || Is("application/pdf"); }
  bool IsJavaScript() const;
  bool IsJson() const;

  // Section 4.3: the one name of types that are the same to us; empty for types that are not needed.
  std::string_view Minimized() const;
};

// Section 4.4. At most kMaxMimeParameters parameters are kept.
inline constexpr size_t kMaxMimeParameters = 256;
std::optional<MimeType> ParseMimeType(std::string_view text);

// Fetch, "extract a MIME type": the last usable value of all Content-Type fields, with an earlier charset where the
// last one is of the same type and has none.
std::optional<MimeType> ExtractMimeType(const HeaderFields& fields);
std::optional<MimeType> ExtractMimeType(std::string_view joined_values);

}  // namespace portolan
