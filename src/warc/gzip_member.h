// GzipMember: compresses one whole buffer into one gzip member.
//
// Level 1 is ISA-L's: on pages of 25 KB it takes half the time of libdeflate's level 1 and its output is 3% larger,
// which is the better choice while a crawl runs (deflating was the largest cost per page). Levels 2 to 12 are
// libdeflate's. A buffer that ISA-L cannot handle (4 GB and more, or not smaller when compressed) goes to libdeflate.
//
// The same bytes give the same member. Memory: about 300 KB of ISA-L's, and libdeflate's (64 KB at level 1); the
// output buffer, kept between calls up to kKeepBuffer. Thread: one owner.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct libdeflate_compressor;

namespace portolan {

class GzipMember {
 public:
  static constexpr size_t kKeepBuffer = size_t{4} << 20;

  // kInvalidArgument for a level that is not 1 to 12.
  static Result<GzipMember> Create(int level);
  GzipMember(GzipMember&&) noexcept;
  GzipMember& operator=(GzipMember&&) noexcept;
  ~GzipMember();

  // Appends the member. Gives its length.
  size_t Append(std::string_view bytes, std::string& out);

 private:
  struct Isal;
  struct FreeCompressor {
    void operator()(libdeflate_compressor* compressor) const;
  };

  GzipMember(std::unique_ptr<libdeflate_compressor, FreeCompressor> deflate, std::unique_ptr<Isal> isal);
  size_t PackWithIsal(std::string_view bytes, size_t room);  // 0: it cannot

  std::unique_ptr<libdeflate_compressor, FreeCompressor> deflate_;
  std::unique_ptr<Isal> isal_;  // level 1 only
  // Not a string, which would zero these bytes first.
  std::unique_ptr<char[]> packed_;
  size_t room_ = 0;
};

}  // namespace portolan
