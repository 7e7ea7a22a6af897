// The tables behind the legacy encodings: pointer → code point, as in the WHATWG Encoding Standard's indexes.
//
// They are made at first use from ICU's converters, and corrected where those differ from the standard
// (charset_tables.cc lists each place): 30 tables of our own would be half a megabyte of source, and ICU's agree in all
// but some 250 of 96,000 entries. 0 means no entry.
//
// Thread: any; each table is made once. Memory bound: 0.7 MB if all are used.

#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "html/charset.h"

namespace portolan {

inline bool ByteIsIn(uint8_t byte, uint8_t first, uint8_t last) { return byte >= first && byte <= last; }

// Code points of the bytes 0x80 to 0xff. REQUIRES: a single-byte encoding, or kUserDefined.
const std::array<char16_t, 128>& SingleByteTable(Encoding encoding);
bool IsSingleByte(Encoding encoding);

std::span<const uint32_t> Big5Table();         // (lead - 0x81) * 157 + trail, trails 0x40…0x7e, 0xa1…0xfe
std::span<const uint32_t> Gb18030Table();      // (lead - 0x81) * 190 + trail, trails 0x40…0x7e, 0x80…0xfe
std::span<const uint32_t> Gb18030FourTable();  // pointers of four-byte sequences in the Basic Multilingual Plane
std::span<const uint32_t> EucKrTable();        // (lead - 0x81) * 190 + trail, trails 0x41…0xfe
std::span<const uint32_t> Jis0208Table();      // lead * 94 + trail, or as Shift_JIS has it: lead * 188 + trail
std::span<const uint32_t> Jis0212Table();      // lead * 94 + trail

}  // namespace portolan
