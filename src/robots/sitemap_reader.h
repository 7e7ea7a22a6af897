// What SitemapParser hands decoded bytes to: one reader for XML, one for text. Inside robots/ only.

#pragma once

#include <functional>
#include <string_view>

#include "robots/sitemap.h"

namespace portolan {

class SitemapParser::Reader {
 public:
  Reader(const SitemapLimits& limits, const std::function<bool(SitemapEntry&)>& on_entry)
      : limits_(limits), on_entry_(on_entry) {}
  virtual ~Reader() = default;

  virtual SitemapOutcome Feed(std::string_view bytes) = 0;
  virtual SitemapOutcome Finish() = 0;

  SitemapKind kind() const { return kind_; }
  size_t entries() const { return entries_; }

  static std::unique_ptr<Reader> CreateXml(const SitemapLimits& limits,
                                           const std::function<bool(SitemapEntry&)>& on_entry);
  static std::unique_ptr<Reader> CreateText(const SitemapLimits& limits,
                                            const std::function<bool(SitemapEntry&)>& on_entry);

 protected:
  // False once no more may come; outcome_ says why. An entry without a usable URL is left out.
  bool Emit(SitemapEntry& entry);

  SitemapLimits limits_;
  const std::function<bool(SitemapEntry&)>& on_entry_;
  SitemapKind kind_ = SitemapKind::kUnknown;
  size_t entries_ = 0;
  SitemapOutcome outcome_ = SitemapOutcome::kGoing;
};

}  // namespace portolan
