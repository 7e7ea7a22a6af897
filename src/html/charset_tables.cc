#include "html/charset_tables.h"

#include <unicode/ucnv.h>
#include <unicode/utf16.h>

#include <string>
#include <vector>

#include "base/check.h"

namespace portolan {
namespace {

struct Patch {
  uint16_t pointer;
  uint32_t code;  // 0: no entry
};

// Big5 against ICU's Big5-HKSCS (ibm-1375): characters that Unicode got after that table was made, which ICU has in the
// private use area, and second ways to write a character, which ICU leaves out.
constexpr Patch kBig5Patches[] = {
    {1008, 0x9f97},  {1016, 0x9f96},  {1099, 0x31c0},  {1100, 0x31c1},  {1101, 0x31c2},  {1102, 0x31c3},
    {1103, 0x31c4},  {1105, 0x31c5},  {1108, 0x31c6},  {1109, 0x31c7},  {1112, 0x31c8},  {1114, 0x31c9},
    {1115, 0x31ca},  {1116, 0x31cb},  {1117, 0x31cc},  {1119, 0x31cd},  {1120, 0x31ce},  {1170, 0x23da},
    {1171, 0x23db},  {1730, 0x9fa6},  {1772, 0x9fa7},  {1779, 0x9fa8},  {1812, 0x9fa9},  {1814, 0x9faa},
    {1816, 0x9fab},  {1821, 0x9fac},  {1844, 0x9fad},  {1845, 0x9fae},  {1847, 0x9faf},  {1866, 0x9fb2},
    {1892, 0x9fb3},  {2082, 0x7bb8},  {2088, 0x7c06},  {2103, 0x7cce},  {2114, 0x7dd2},  {2123, 0x7e1d},
    {2148, 0x8005},  {2151, 0x8028},  {2221, 0x83c1},  {2239, 0x84a8},  {2244, 0x840f},  {2303, 0x89a6},
    {2304, 0x89a9},  {2354, 0x8d77},  {2400, 0x90fd},  {2413, 0x92b9},  {2477, 0x975c},  {2498, 0x97ff},
    {2605, 0x9f16},  {2673, 0x8503},  {2746, 0x5159},  {2747, 0x515b},  {2748, 0x515d},  {2749, 0x515e},
    {2771, 0x936e},  {2780, 0x7479},  {2990, 0x6d67},  {3087, 0x799b},  {3259, 0x9097},  {3301, 0x975d},
    {3436, 0x701e},  {3451, 0x5b28},  {4136, 0x7201},  {4138, 0x77d7},  {4141, 0x7e87},  {4182, 0x99d6},
    {4206, 0x91d4},  {4220, 0x60de},  {4230, 0x6fb6},  {4241, 0x8f36},  {4258, 0x4fbb},  {4273, 0x71df},
    {4279, 0x9104},  {4282, 0x9df0},  {4294, 0x83cf},  {4329, 0x5c10},  {4330, 0x79e3},  {4349, 0x5a67},
    {4419, 0x8f0b},  {4422, 0x7b51},  {4494, 0x62d0},  {4624, 0x6062},  {4694, 0x75f9},  {4708, 0x6c4a},
    {4742, 0x9b2e},  {4748, 0x9f17},  {4815, 0x50ed},  {4828, 0x5f0c},  {4902, 0x880f},  {4922, 0x62ce},
    {4982, 0x7468},  {4992, 0x7162},  {4997, 0x7250},  {5432, 0x2400},  {5433, 0x2401},  {5434, 0x2402},
    {5435, 0x2403},  {5436, 0x2404},  {5437, 0x2405},  {5438, 0x2406},  {5439, 0x2407},  {5440, 0x2408},
    {5441, 0x2409},  {5442, 0x240a},  {5443, 0x240b},  {5444, 0x240c},  {5445, 0x240d},  {5446, 0x240e},
    {5447, 0x240f},  {5448, 0x2410},  {5449, 0x2411},  {5450, 0x2412},  {5451, 0x2413},  {5452, 0x2414},
    {5453, 0x2415},  {5454, 0x2416},  {5455, 0x2417},  {5456, 0x2418},  {5457, 0x2419},  {5458, 0x241a},
    {5459, 0x241b},  {5460, 0x241c},  {5461, 0x241d},  {5462, 0x241e},  {5463, 0x241f},  {5464, 0x2421},
    {10942, 0x5ef4}, {10946, 0x65e0}, {10948, 0x7676}, {10950, 0x96b6}, {10957, 0x3003}, {10958, 0x4edd},
    {11204, 0x31cf}, {11210, 0x9fb0}, {11212, 0x9fb1}, {19028, 0x5029}, {19035, 0x507d}, {19088, 0x5305},
    {19096, 0x5344}, {19112, 0x537f}, {19162, 0x5605}, {19240, 0x5a77}, {19299, 0x5e75}, {19305, 0x5ed0},
    {19326, 0x5f58}, {19355, 0x60a4}, {19398, 0x6490}, {19439, 0x6674}, {19454, 0x675e}, {19553, 0x6c9c},
    {19554, 0x6e1d}, {19557, 0x6e2f}, {19611, 0x716e}, {19643, 0x732a}, {19672, 0x745c}, {19697, 0x74e9},
    {19748, 0x7809},
};

// gb18030 against ICU's: the change of GB 18030-2022, which moved 18 characters out of the private use area, and the
// second ideographic space.
constexpr Patch kGb18030Patches[] = {
    {6555, 0x3000},  {7182, 0xfe10},  {7183, 0xfe12},  {7184, 0xfe11},  {7185, 0xfe13},
    {7186, 0xfe14},  {7187, 0xfe15},  {7188, 0xfe16},  {7201, 0xfe17},  {7202, 0xfe18},
    {7208, 0xfe19},  {23775, 0x9fb4}, {23783, 0x9fb5}, {23788, 0x9fb6}, {23789, 0x9fb7},
    {23795, 0x9fb8}, {23812, 0x9fb9}, {23829, 0x9fba}, {23845, 0x9fbb},
};

// Its four-byte sequences: U+FFFD is an error of ICU and not a character.
constexpr Patch kGb18030FourPatches[] = {{39'417, 0xfffd}};

// JIS X 0212: ICU has small and large Roman numerals and a sign there that are IBM's, not the standard's.
constexpr uint16_t kJis0212ExtraFirst = 7708;
constexpr uint16_t kJis0212ExtraLast = 7730;

// ISO-8859-16 is not in ICU: where it differs from Latin-1.
constexpr Patch kIso8859_16Patches[] = {
    {0xa1, 0x0104}, {0xa2, 0x0105}, {0xa3, 0x0141}, {0xa4, 0x20ac}, {0xa5, 0x201e}, {0xa6, 0x0160}, {0xa8, 0x0161},
    {0xaa, 0x0218}, {0xac, 0x0179}, {0xae, 0x017a}, {0xaf, 0x017b}, {0xb2, 0x010c}, {0xb3, 0x0142}, {0xb4, 0x017d},
    {0xb5, 0x201d}, {0xb8, 0x017e}, {0xb9, 0x010d}, {0xba, 0x0219}, {0xbc, 0x0152}, {0xbd, 0x0153}, {0xbe, 0x0178},
    {0xbf, 0x017c}, {0xc3, 0x0102}, {0xc5, 0x0106}, {0xd0, 0x0110}, {0xd1, 0x0143}, {0xd5, 0x0150}, {0xd7, 0x015a},
    {0xd8, 0x0170}, {0xdd, 0x0118}, {0xde, 0x021a}, {0xe3, 0x0103}, {0xe5, 0x0107}, {0xf0, 0x0111}, {0xf1, 0x0144},
    {0xf5, 0x0151}, {0xf7, 0x015b}, {0xf8, 0x0171}, {0xfd, 0x0119}, {0xfe, 0x021b},
};

// Single bytes in which ICU's table is not the standard's.
constexpr Patch kKoi8UPatches[] = {{0xae, 0x45e}, {0xbe, 0x40e}};
constexpr Patch kWindows874Patches[] = {{0xdb, 0}, {0xdc, 0}, {0xdd, 0}, {0xde, 0},
                                        {0xfc, 0}, {0xfd, 0}, {0xfe, 0}, {0xff, 0}};
constexpr Patch kWindows1253Patches[] = {{0xaa, 0}};
constexpr Patch kWindows1255Patches[] = {{0xca, 0x5ba}};

struct SingleByte {
  Encoding encoding;
  const char* converter;  // ICU's name
  std::span<const Patch> patches;
};

const SingleByte kSingleBytes[] = {
    {Encoding::kIbm866, "ibm-866", {}},
    {Encoding::kIso8859_2, "iso-8859-2", {}},
    {Encoding::kIso8859_3, "iso-8859-3", {}},
    {Encoding::kIso8859_4, "iso-8859-4", {}},
    {Encoding::kIso8859_5, "iso-8859-5", {}},
    {Encoding::kIso8859_6, "iso-8859-6", {}},
    {Encoding::kIso8859_7, "iso-8859-7", {}},
    {Encoding::kIso8859_8, "iso-8859-8", {}},
    {Encoding::kIso8859_8I, "iso-8859-8", {}},  // differs in direction only
    {Encoding::kIso8859_10, "iso-8859-10", {}},
    {Encoding::kIso8859_13, "iso-8859-13", {}},
    {Encoding::kIso8859_14, "iso-8859-14", {}},
    {Encoding::kIso8859_15, "iso-8859-15", {}},
    {Encoding::kIso8859_16, "iso-8859-1", kIso8859_16Patches},
    {Encoding::kKoi8R, "koi8-r", {}},
    {Encoding::kKoi8U, "koi8-u", kKoi8UPatches},
    {Encoding::kMacintosh, "macintosh", {}},
    {Encoding::kWindows874, "windows-874", kWindows874Patches},
    {Encoding::kWindows1250, "windows-1250", {}},
    {Encoding::kWindows1251, "windows-1251", {}},
    {Encoding::kWindows1252, "windows-1252", {}},
    {Encoding::kWindows1253, "windows-1253", kWindows1253Patches},
    {Encoding::kWindows1254, "windows-1254", {}},
    {Encoding::kWindows1255, "windows-1255", kWindows1255Patches},
    {Encoding::kWindows1256, "windows-1256", {}},
    {Encoding::kWindows1257, "windows-1257", {}},
    {Encoding::kWindows1258, "windows-1258", {}},
    {Encoding::kMacCyrillic, "x-mac-cyrillic", {}},
};

// A converter of ICU that answers one sequence at a time.
class Converter {
 public:
  explicit Converter(const char* name) {
    UErrorCode error = U_ZERO_ERROR;
    converter_ = ucnv_open(name, &error);
    CHECK(U_SUCCESS(error), "ICU has no converter {}", name);
  }
  ~Converter() { ucnv_close(converter_); }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  // The code point of `bytes`, 0 where they are not exactly one.
  uint32_t Decode(std::string_view bytes) {
    UErrorCode error = U_ZERO_ERROR;
    UChar units[8];
    UChar* end = units;
    const char* from = bytes.data();
    ucnv_reset(converter_);
    ucnv_toUnicode(converter_, &end, units + 8, &from, bytes.data() + bytes.size(), nullptr, true, &error);
    if (U_FAILURE(error) || end == units) return 0;
    int32_t used = 0;
    UChar32 code = 0;
    U16_NEXT(units, used, static_cast<int32_t>(end - units), code);
    return used == end - units && code != 0xfffd ? static_cast<uint32_t>(code) : 0;
  }

 private:
  UConverter* converter_;
};

bool IsPrivateUse(uint32_t code) { return (code >= 0xe000 && code < 0xf900) || code >= 0xf0000; }

// `bytes_of` gives the bytes of a pointer.
template <typename BytesOf>
std::vector<uint32_t> MakeTable(const char* converter_name, size_t size, bool private_use, BytesOf bytes_of,
                                std::span<const Patch> patches) {
  Converter converter(converter_name);
  std::vector<uint32_t> table(size);
  for (size_t pointer = 0; pointer < size; ++pointer) {
    const uint32_t code = converter.Decode(bytes_of(pointer));
    if (code >= 0x80 && (private_use || !IsPrivateUse(code))) table[pointer] = code;
  }
  for (const Patch& patch : patches) table[patch.pointer] = patch.code;
  return table;
}

std::string Bytes(std::initializer_list<size_t> values) {
  std::string bytes;
  for (const size_t value : values) bytes += static_cast<char>(value);
  return bytes;
}

std::vector<std::array<char16_t, 128>> MakeSingleBytes() {
  std::vector<std::array<char16_t, 128>> tables(kEncodingCount);
  for (const SingleByte& row : kSingleBytes) {
    Converter converter(row.converter);
    auto& table = tables[static_cast<size_t>(row.encoding)];
    for (size_t i = 0; i < 128; ++i) table[i] = static_cast<char16_t>(converter.Decode(Bytes({0x80 + i})));
    for (const Patch& patch : row.patches) table[patch.pointer - 0x80] = static_cast<char16_t>(patch.code);
  }
  auto& user = tables[static_cast<size_t>(Encoding::kUserDefined)];
  for (size_t i = 0; i < 128; ++i) user[i] = static_cast<char16_t>(0xf780 + i);
  return tables;
}

}  // namespace

bool IsSingleByte(Encoding encoding) {
  return (encoding >= Encoding::kIbm866 && encoding <= Encoding::kMacCyrillic) || encoding == Encoding::kUserDefined;
}

const std::array<char16_t, 128>& SingleByteTable(Encoding encoding) {
  static const auto tables = MakeSingleBytes();
  return tables[static_cast<size_t>(encoding)];
}

std::span<const uint32_t> Big5Table() {
  static const auto table = MakeTable(
      "Big5-HKSCS", 126 * 157, false,
      [](size_t p) { return Bytes({p / 157 + 0x81, p % 157 + (p % 157 < 0x3f ? 0x40 : 0x62)}); }, kBig5Patches);
  return table;
}

std::span<const uint32_t> Gb18030Table() {
  static const auto table = MakeTable(
      "gb18030", 126 * 190, true,
      [](size_t p) { return Bytes({p / 190 + 0x81, p % 190 + (p % 190 < 0x3f ? 0x40 : 0x41)}); }, kGb18030Patches);
  return table;
}

std::span<const uint32_t> Gb18030FourTable() {
  static const auto table = MakeTable(
      "gb18030", 39'420, true,
      [](size_t p) { return Bytes({p / 12'600 + 0x81, p / 1260 % 10 + 0x30, p / 10 % 126 + 0x81, p % 10 + 0x30}); },
      kGb18030FourPatches);
  return table;
}

std::span<const uint32_t> EucKrTable() {
  static const auto table = MakeTable("windows-949-2000", 126 * 190, false,
                                      [](size_t p) { return Bytes({p / 190 + 0x81, p % 190 + 0x41}); }, {});
  return table;
}

std::span<const uint32_t> Jis0208Table() {
  static const auto table =
      MakeTable("ibm-943_P15A-2003", 60 * 188, false,
                [](size_t p) {
                  return Bytes({p / 188 + (p / 188 < 0x1f ? 0x81 : 0xc1), p % 188 + (p % 188 < 0x3f ? 0x40 : 0x41)});
                },
                {});
  return table;
}

std::span<const uint32_t> Jis0212Table() {
  static const auto table = [] {
    auto made = MakeTable("euc-jp-2007", 94 * 94, false,
                          [](size_t p) { return Bytes({0x8f, p / 94 + 0xa1, p % 94 + 0xa1}); }, {});
    std::fill(made.begin() + kJis0212ExtraFirst, made.begin() + kJis0212ExtraLast + 1, 0);
    return made;
  }();
  return table;
}

}  // namespace portolan
