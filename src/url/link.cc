#include "url/link.h"
namespace portolan {
bool FitsDns(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.empty() || host.size() > 253) return false;
  size_t label = 0;
  for (size_t i = 0; i <= host.size(); ++i) {
    if (i < host.size() && host[i] != '.') continue;
    if (i == label || i - label > 63) return false;
    label = i + 1;
  }
  return true;
}
}  // namespace portolan
