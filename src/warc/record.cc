#include "warc/record.h"

#include <algorithm>

#include "base/ascii.h"

namespace portolan {

std::string_view WarcRecord::uri() const {
  if (is_arc()) return fields.Get("URL");
  std::string_view uri = fields.Get(warc_field::kTargetUri);
  if (uri.starts_with('<') && uri.ends_with('>') && uri.size() >= 2) uri = uri.substr(1, uri.size() - 2);
  return uri;
}

std::string_view WarcRecord::content_type() const { return fields.Get(warc_field::kContentType); }

std::optional<WarcTime> WarcRecord::time() const {
  return is_arc() ? ParseDigits(fields.Get("Archive-date")) : ParseWarcDate(fields.Get(warc_field::kDate));
}

std::string_view WarcRecord::type_name() const {
  return is_arc() || type != WarcType::kOther ? WarcTypeName(type) : fields.Get(warc_field::kType);
}

std::string WarcRecord::Timestamp() const {
  if (const auto when = time()) return Format14(*when);
  const std::string_view digits = is_arc() ? fields.Get("Archive-date") : std::string_view();
  const bool whole = digits.size() >= 14 && std::ranges::all_of(digits, IsDigit);
  return whole ? std::string(digits.substr(0, 14)) : std::string(14, '0');
}

}  // namespace portolan
