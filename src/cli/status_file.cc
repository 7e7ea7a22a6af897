#include "cli/status_file.h"

#include "io/small_file.h"

namespace portolan {

void WriteStatus(const std::string& path, const CrawlProgress& progress) {
  const std::string text = ProgressToJson(progress) + '\n';
  if (ReplaceSmallFile(path, text)) return;
  static_cast<void>(OverwriteSmallFile(path, text));
}

}  // namespace portolan
