#include "bench/text/article_set.h"

#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/hash.h"

namespace portolan::bench {
namespace {

bool ReadGzip(const std::string& path, std::string& out) {
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  out.clear();
  char buffer[1 << 16];
  int size = 0;
  while ((size = gzread(file, buffer, sizeof buffer)) > 0) out.append(buffer, static_cast<size_t>(size));
  gzclose(file);
  return size == 0;
}

}  // namespace

Result<std::vector<Article>> LoadArticles(const std::string& folder) {
  std::ifstream file(folder + "/ground-truth.json");
  if (!file) return Fail(ErrorCode::kNotFound, folder + "/ground-truth.json cannot be read: see --articles");
  const nlohmann::json truth = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!truth.is_object()) return Fail(ErrorCode::kCorrupt, folder + "/ground-truth.json is not a JSON object");
  std::vector<Article> articles;
  for (const auto& [id, facts] : truth.items()) {
    Article article{.id = id, .html = {}, .text = facts.value("articleBody", ""), .held_out = (Hash64(id) & 1) != 0};
    if (!ReadGzip(folder + "/html/" + id + ".html.gz", article.html)) {
      return Fail(ErrorCode::kNotFound, folder + "/html/" + id + ".html.gz cannot be read");
    }
    articles.push_back(std::move(article));
  }
  return articles;
}

}  // namespace portolan::bench
