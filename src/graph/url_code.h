// UrlCode: turns the ends of URLs into few bits, by a vocabulary that was learnt from such ends.
//
// An end is cut into symbols. Most are strings of the vocabulary (url_strings.h): bytes, words, "/wp-content/uploads/",
// ".html" with the end of the URL behind it. Others are numbers of five to nine digits, written as a small difference
// to the number of the URL that lends the beginning, or in binary, and eight hexadecimal digits in 32 bits. There is a
// prefix code for each context, which is the kind of the byte before (letter, digit, hyphen, …) or that it is the first
// of an end. URLs are cut where the sum of the codes is smallest. The text of crawl-shaped URLs takes 9 bytes each,
// what is borrowed included; without contexts and numbers, and with half as many URLs per chunk, it took 11.3.
//
// Codes are made for decoding without a branch per length: the first ten bits choose a cell of a table, which says how
// long the code is, whether the URL ends, which context follows, and where the symbols of this cell stand. So all
// symbols of a cell have these in common, and an end is passed over by one look-up in 4 KiB per symbol.
//
// A prefix code (Huffman) of its own has the lengths of borrowed prefixes.
//
// Thread: const after construction. Memory bound: 2.5 MB with the largest vocabulary; Forget gives back what only
// encoding needs, about two thirds. Learning takes 100 bytes per byte of the sample for a moment.

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "graph/bit_writer.h"
#include "graph/prefix_code.h"
#include "graph/url_strings.h"

namespace portolan::graph {

class UrlCode {
 public:
  static constexpr size_t kOverrun = 32;       // so much is copied of a text of any length
  static constexpr unsigned kMaxShared = 254;  // the longest prefix that is shared
  static constexpr unsigned kSameShared = 255;

  // Bits at `at` of `data`, highest first; eight bytes behind the last are read as well.
  class Cursor {
   public:
    Cursor(const char* data, uint64_t at) : data_(data), at_(at) {}
    uint64_t window() const { return __builtin_bswap64(LoadLe<uint64_t>(data_ + at_ / 8)) << (at_ % 8); }
    void Skip(unsigned bits) { at_ += bits; }
    uint64_t Take(unsigned bits) {  // 1 to 32
      const uint64_t value = window() >> (64 - bits);
      at_ += bits;
      return value;
    }
    uint64_t position() const { return at_; }

   private:
    const char* data_;
    uint64_t at_;
  };

  // How long the prefix is that a URL borrows, and whether from the one just before.
  struct Loan {
    unsigned shared;  // up to kMaxShared; kSameShared: as much as the lender borrows itself
    bool near;
  };
  struct Sample {
    std::deque<std::string> urls;
    std::vector<UrlEnd> ends;  // of `urls`
    std::vector<Loan> loans;
  };
  // From no sample: the bytes.
  explicit UrlCode(const Sample& sample = Sample());

  void WriteLoan(Loan loan, BitWriter& out) const;
  Loan ReadLoan(Cursor& in) const {
    const auto [rank, bits] = loan_code_.Decode(in.window());
    in.Skip(bits);
    const uint32_t loan = loan_of_rank_[rank];
    return {loan >> 1, (loan & 1) != 0};
  }

  // Writes what follows the first `end.shared` bytes of `end.url`. Returns the number of the URL: its last one, or
  // end.number if it has none there.
  uint32_t WriteEnd(const UrlEnd& end, BitWriter& out) const;

  // Past an end, without its text. `number`: that of the URL that lends the beginning; becomes that of this one.
  void SkipEnd(Cursor& in, bool whole, uint32_t& number) const {
    SkipFrom(whole ? kWholeContext : kEndContext, in, number);
  }

  // The text of an end, symbol by symbol. `number`: that of the URL that lends the beginning.
  class Reader {
   public:
    Reader(const UrlCode& code, Cursor in, bool whole, uint32_t number)
        : code_(code), in_(in), context_(whole ? kWholeContext : kEndContext), number_(number) {}
    bool ended() const { return ended_; }
    // REQUIRES: not ended. The next text, which stands in the code or in `space` of kOverrun bytes; kOverrun bytes may
    // be read from its begin.
    std::string_view Next(char* space) {
      const uint64_t window = in_.window();
      const uint32_t cell = code_.cells_[context_ << kCellBits | window >> (64 - kCellBits)];
      const uint32_t symbol = code_.SymbolOf(cell, window);
      in_.Skip(cell & kLengthMask);
      context_ = cell >> kContextShift & 15;
      ended_ = (cell & kEndFlag) != 0;
      if ((cell & kSpecialFlag) != 0) [[unlikely]] {
        return {space, static_cast<size_t>(Special(symbol, in_, number_, space) - space)};
      }
      return {code_.text_.data() + (symbol >> 5), symbol & 31};
    }
    // Past the rest of the end.
    void Skip() {
      if (!ended_) code_.SkipFrom(context_, in_, number_);
      ended_ = true;
    }
    const Cursor& cursor() const { return in_; }
    uint32_t number() const { return number_; }  // once it has ended: of this URL

   private:
    const UrlCode& code_;
    Cursor in_;
    unsigned context_;
    uint32_t number_;
    bool ended_ = false;
  };

  void Forget();
  uint64_t memory() const;

 private:
  // Contexts: the kind of the byte before (UrlStrings::KindOf), or the first symbol of an end or of a whole URL.
  static constexpr unsigned kEndContext = kByteKinds;
  static constexpr unsigned kWholeContext = kByteKinds + 1;
  static constexpr unsigned kContexts = kByteKinds + 2;

  // Cells: how long the code is (5 bits), whether the URL ends, whether the symbol is no string, the next context
  // (4 bits), the place of the cell's first symbol in symbols_.
  static constexpr unsigned kCellBits = 10;
  static constexpr uint32_t kCells = 1U << kCellBits;
  static constexpr unsigned kMaxCode = 19;  // three of them, and bits of a byte before them, fit a word
  static constexpr uint32_t kLengthMask = 31;
  static constexpr uint32_t kEndFlag = 32;
  static constexpr uint32_t kSpecialFlag = 64;
  static constexpr unsigned kContextShift = 7;
  static constexpr unsigned kFirstShift = 11;

  // Symbols that are no strings: numbers as differences of 4, 7, 10 or 14 bits, or of five to nine digits; eight
  // hexadecimal digits of which the last is a digit or a letter.
  static constexpr std::array<uint8_t, 11> kSpecialBits = {4, 7, 10, 14, 17, 20, 24, 27, 30, 32, 32};
  static constexpr uint32_t kDifferences = 4;
  static constexpr uint32_t kHexDigit = 9;
  static constexpr uint32_t kHexLetter = 10;
  static constexpr uint32_t kSpecials = kSpecialBits.size();

  struct Step {
    uint32_t cost;
    uint32_t from;
    uint32_t symbol;  // of strings_, then the specials
  };

  uint32_t SymbolOf(uint32_t cell, uint64_t window) const {
    const unsigned length = cell & kLengthMask;
    const unsigned more = length > kCellBits ? length - kCellBits : 0;
    // Two shifts: none of 64 bits if there are no more.
    return symbols_[(cell >> kFirstShift) + static_cast<uint32_t>(window << kCellBits >> 1 >> (63 - more))];
  }
  void SkipFrom(unsigned context, Cursor& in, uint32_t& number) const {
    while (true) {
      uint64_t window = in.window();
      unsigned used = 0;
      uint32_t step = 0;
      // A window has 57 bits, enough for three codes.
      for (int i = 0; i < 3; ++i) {
        step = steps_[context << kCellBits | window >> (64 - kCellBits)];
        used += step & kLengthMask;
        if ((step & (kSpecialFlag | kEndFlag)) != 0) break;
        window <<= step & kLengthMask;
        context = step >> kContextShift;
      }
      in.Skip(used);
      if ((step & kEndFlag) != 0) return;
      if ((step & kSpecialFlag) != 0) [[unlikely]] {
        const uint32_t cell = cells_[context << kCellBits | window >> (64 - kCellBits)];
        SkipSpecial(SymbolOf(cell, window), in, number);
        context = step >> kContextShift;
      }
    }
  }
  static void SkipSpecial(uint32_t symbol, Cursor& in, uint32_t& number) {
    const auto bits = static_cast<uint32_t>(in.Take(kSpecialBits[symbol]));
    if (symbol < kDifferences) {
      number += bits >> 1 ^ (0U - (bits & 1));
    } else if (symbol < kHexDigit) {
      number = bits;
    }
  }
  static char* Special(uint32_t symbol, Cursor& in, uint32_t& number, char* to);

  void Learn(const Sample& sample);
  // Cuts an end where the sum of cost(context, symbol) is smallest; UINT32_MAX: no code. The steps, last one first.
  template <typename Cost>
  static void Cut(const UrlStrings& strings, const UrlEnd& end, Cost cost, std::vector<Step>& path);
  // Codes for the symbols of a context by how often they are used; 0: no code. `texts`: what symbols_ has of each.
  void MakeCodes(unsigned context, const std::vector<uint32_t>& uses, const std::vector<uint32_t>& texts);

  uint32_t symbols() const { return static_cast<uint32_t>(strings_.size()) + kSpecials; }

  std::vector<uint32_t> cells_;    // kCells per context
  std::vector<uint16_t> steps_;    // of each cell, what passing over needs: all but the place
  std::vector<uint32_t> symbols_;  // by cell: place in text_ * 32 + length; or a special's number
  std::string text_;
  PrefixCode loan_code_;  // of loans: length * 2 + near
  std::vector<uint16_t> loan_of_rank_;
  std::vector<uint16_t> rank_of_loan_;
  UrlStrings strings_;           // empty: no URL can be encoded
  std::vector<uint32_t> codes_;  // by context and symbol: code * 32 + length; 0: none
};

}  // namespace portolan::graph
