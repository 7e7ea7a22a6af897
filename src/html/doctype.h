// The inside of "<!DOCTYPE …>": name, public and system identifier, force-quirks.
//
// HTML standard, 13.2.5.53 to 13.2.5.68. A doctype ends at the first '>' even inside quotes, so the tokenizer finds its
// end without reading it and only a sink that asks pays for this.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace portolan {

struct Doctype {
  std::optional<std::string> name;
  std::optional<std::string> public_id;
  std::optional<std::string> system_id;
  bool force_quirks = false;
};

// `inside` is what stands between "<!DOCTYPE" and '>'; with `at_eof` the input ended and there was no '>'.
Doctype ParseDoctype(std::string_view inside, bool at_eof);

}  // namespace portolan
