// Any bytes as a WARC file, as they are and wrapped into one gzip member: see warc_harness.h.

#include <libdeflate.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "fuzz/warc_harness.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  portolan::CheckReader(bytes);
  if (size % 4 != 0) return 0;  // compressing costs more than it finds: now and then is enough
  static const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(1), &libdeflate_free_compressor);
  std::string member(libdeflate_gzip_compress_bound(compressor.get(), size), '\0');
  member.resize(libdeflate_gzip_compress(compressor.get(), data, size, member.data(), member.size()));
  portolan::CheckReader(member + member);
  return 0;
}
