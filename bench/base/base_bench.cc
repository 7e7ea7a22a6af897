// The speed of base/: CRC32C and XXH3 over blocks, hashing of URL-sized strings, varints. Beside them memcpy (nothing
// that touches memory is faster) and CRC32C by the classic byte table.

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/hash.h"
#include "base/units.h"
#include "bench/benchmark.h"
#include "io/clock.h"
#include "io/rng.h"

namespace portolan::bench {
namespace {

uint32_t TableCrc32c(std::string_view bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> made{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
      made[i] = crc;
    }
    return made;
  }();
  uint32_t crc = ~0U;
  for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<uint8_t>(c)) & 0xff];
  return ~crc;
}

// Seconds of one call, the best of five.
template <typename Call>
double BestSeconds(Call call) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const int64_t start = Clock::Real().NowNs();
    call();
    best = std::min(best, static_cast<double>(Clock::Real().NowNs() - start) * 1e-9);
  }
  return best;
}

Result<nlohmann::ordered_json> RunBaseBench(int, char**, Report& report) {
  Rng rng(1);
  std::string block(size_t{64} << 20, '\0');
  for (size_t i = 0; i + 8 <= block.size(); i += 8) StoreLe<uint64_t>(block.data() + i, rng.Next());
  std::string copy(block.size(), '\0');

  const uint32_t crc = Crc32c(block);
  if (crc != TableCrc32c(block)) return Fail(ErrorCode::kCorrupt, "CRC32C differs from the table's");

  volatile uint64_t sink = 0;
  const auto gb = static_cast<double>(block.size()) * 1e-9;
  const double crc_gb = gb / BestSeconds([&] { sink = Crc32c(block); });
  const double table_gb = gb / BestSeconds([&] { sink = TableCrc32c(block); });
  const double hash_gb = gb / BestSeconds([&] { sink = Hash64(block); });
  const double copy_gb = gb / BestSeconds([&] { std::memcpy(copy.data(), block.data(), block.size()); });

  constexpr size_t kUrl = 70;  // bytes of a typical URL
  const size_t urls = block.size() / kUrl;
  const double url_hashes = static_cast<double>(urls) / BestSeconds([&] {
                              uint64_t all = 0;
                              for (size_t i = 0; i < urls; ++i)
                                all ^= Hash64(std::string_view(block).substr(i * kUrl, kUrl));
                              sink = all;
                            });

  std::vector<uint64_t> numbers(4'000'000);
  for (uint64_t& number : numbers) number = rng.Next() >> rng.Below(64);
  std::string coded;
  for (const uint64_t number : numbers) AppendVarint(coded, number);
  ByteReader check(coded);
  for (const uint64_t number : numbers) {
    uint64_t value = 0;
    if (!check.ReadVarint(value) || value != number) return Fail(ErrorCode::kCorrupt, "a varint came back changed");
  }
  const double varints = static_cast<double>(numbers.size()) / BestSeconds([&] {
                           ByteReader reader(coded);
                           uint64_t all = 0;
                           uint64_t value = 0;
                           while (!reader.done() && reader.ReadVarint(value)) all ^= value;
                           sink = all;
                         });

  report.Line("{:<28} {:>12}", "CRC32C (ISA-L)", fmt::format("{:.1f} GB/s", crc_gb));
  report.Line("{:<28} {:>12}", "CRC32C (byte table)", fmt::format("{:.2f} GB/s", table_gb));
  report.Line("{:<28} {:>12}", "XXH3-64", fmt::format("{:.1f} GB/s", hash_gb));
  report.Line("{:<28} {:>12}", "memcpy", fmt::format("{:.1f} GB/s", copy_gb));
  report.Line("{:<28} {:>12}", "XXH3-64 of 70-byte URLs", FormatRate(url_hashes));
  report.Line("{:<28} {:>12}", "varints read", FormatRate(varints));
  return nlohmann::ordered_json{{"crc32c_gb_per_s", crc_gb},      {"crc32c_table_gb_per_s", table_gb},
                                {"xxh3_gb_per_s", hash_gb},       {"memcpy_gb_per_s", copy_gb},
                                {"url_hashes_per_s", url_hashes}, {"varints_per_s", varints}};
}

}  // namespace

PORTOLAN_BENCHMARK("base", "hashing, checksums and varints beside memcpy", RunBaseBench);

}  // namespace portolan::bench
