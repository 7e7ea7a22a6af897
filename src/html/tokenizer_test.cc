// What the suites do not ask: positions, limits, duplicates, the end of the buffer, linear time.

#include "html/tokenizer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <ctime>

#include "html/token_recorder.h"
#include "io/rng.h"

namespace portolan {
namespace {

std::vector<std::string> Tokens(std::string_view html, TokenizerLimits limits = {}) {
  TokenRecorder recorder(true);
  Tokenizer tokenizer(recorder, limits);
  tokenizer.Read(html);
  std::vector<std::string> lines;
  for (const RecordedToken& token : recorder.tokens()) lines.push_back(token.ToString());
  return lines;
}

using Lines = std::vector<std::string>;

TEST(TokenizerTest, PositionIsThatOfTheTag) {
  EXPECT_EQ(Tokens("ab<i>c</i >"), (Lines{"text ab", "start i @2", "text c", "end i @6"}));
}

TEST(TokenizerTest, PositionCountsEarlierPieces) {
  TokenRecorder recorder;
  Tokenizer tokenizer(recorder);
  for (const char* piece : {"ab<", "i", ">c</", "b>"}) tokenizer.Feed(piece);
  tokenizer.Finish();
  EXPECT_EQ(recorder.tokens()[1].ToString(), "start i @2");
  EXPECT_EQ(recorder.tokens()[3].ToString(), "end b @6");
}

TEST(TokenizerTest, FirstOfTwoAttributesCounts) {
  EXPECT_EQ(Tokens("<a HREF=1 x href=2 X=3>"), (Lines{"start a href='1' x='' @0"}));
}

TEST(TokenizerTest, ManyAttributesAreCompared) {
  std::string html = "<a";
  for (int i = 0; i < 600; ++i) html += " x" + std::to_string(i % 300);
  TokenRecorder recorder;
  Tokenizer tokenizer(recorder);
  tokenizer.Read(html + ">");
  EXPECT_EQ(recorder.tokens()[0].attributes.size(), 300U);
}

TEST(TokenizerTest, AttributesOverTheLimitAreLeftOut) {
  EXPECT_EQ(Tokens("<a x y z>", {.max_attributes = 2}), (Lines{"start a x='' y='' @0"}));
}

TEST(TokenizerTest, ConstructOverTheLimitEndsTheReading) {
  const std::string longer(100, 'x');
  for (const std::string& construct :
       {"<a title='" + longer + "'>", "<!--" + longer + "-->", "<!doctype " + longer + ">", "<?" + longer + ">",
        "<a " + longer, "</" + longer + ">"}) {
    for (const bool pieces : {false, true}) {
      TokenRecorder recorder;
      Tokenizer tokenizer(recorder, {.max_construct_bytes = 64});
      const std::string html = "a" + construct + "<b>";
      if (pieces) {
        for (const char c : html) tokenizer.Feed({&c, 1});
        tokenizer.Finish();
      } else {
        tokenizer.Read(html);
      }
      EXPECT_TRUE(tokenizer.cut()) << construct;
      ASSERT_EQ(recorder.tokens().size(), 1U) << construct;
      EXPECT_EQ(recorder.tokens()[0].ToString(), "text a");
    }
  }
}

TEST(TokenizerTest, TextIsNotAConstruct) {
  EXPECT_EQ(Tokens(std::string(5000, 'x'), {.max_construct_bytes = 64}), (Lines{"text " + std::string(5000, 'x')}));
}

TEST(TokenizerTest, ResetForgetsTheDocumentBefore) {
  TokenRecorder recorder(true);
  Tokenizer tokenizer(recorder);
  tokenizer.Feed("<script><!-- <script>");
  tokenizer.Reset();
  tokenizer.Feed("<b>");
  tokenizer.Finish();
  EXPECT_EQ(recorder.tokens().back().ToString(), "start b @0");
}

// Input against the end of a page of memory, behind which nothing may be read.
class GuardedBuffer {
 public:
  GuardedBuffer() : page_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {
    base_ = static_cast<char*>(::mmap(nullptr, 3 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ::mprotect(base_ + 2 * page_, page_, PROT_NONE);
  }
  ~GuardedBuffer() { ::munmap(base_, 3 * page_); }

  std::string_view Put(std::string_view text) {
    char* at = base_ + 2 * page_ - text.size();
    std::memcpy(at, text.data(), text.size());
    return {at, text.size()};
  }

 private:
  size_t page_;
  char* base_;
};

TEST(TokenizerTest, NothingBehindTheInputIsRead) {
  GuardedBuffer buffer;
  const std::string html =
      "<!DOCTYPE html><title>a&amp;b</title><a href='x&copy=1' rel=nofollow>text &notit; \r\n</a><!-- c --><script>if "
      "(a<b) <!-- <script> --></script><textarea>&#x41;</textarea><svg><![CDATA[x]]></svg><p class=\"long enough to be "
      "read in blocks of sixteen\">";
  for (size_t size = 0; size <= html.size(); ++size) {
    for (size_t from = 0; from <= size; from += 7) {
      TokenRecorder recorder(true, true);
      Tokenizer tokenizer(recorder);
      tokenizer.Read(buffer.Put(std::string_view(html).substr(from, size - from)));
      TokenRecorder pieces(true, true);
      Tokenizer streaming(pieces);
      streaming.Feed(buffer.Put(std::string_view(html).substr(from, size - from)));
      streaming.Finish();
      ASSERT_EQ(recorder.tokens(), pieces.tokens());
    }
  }
}

// Inputs on which a careless reader is quadratic: doubling them must not take four times as long.
TEST(TokenizerTest, HostileInputTakesLinearTime) {
  const auto seconds = [](const std::string& html, size_t piece) {
    const std::clock_t start = std::clock();  // of this process: a busy machine does not count
    TokenRecorder recorder(true);
    Tokenizer tokenizer(recorder);
    for (size_t at = 0; at < html.size(); at += piece) tokenizer.Feed(std::string_view(html).substr(at, piece));
    tokenizer.Finish();
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  const auto repeat = [](std::string_view unit, size_t times) {
    std::string out;
    for (size_t i = 0; i < times; ++i) out += unit;
    return out;
  };
  for (const std::string_view unit :
       {"<",       "</",      "<!--",          "<!-", "&",         "&#", "&#1", "<a ", "a=",   "a='", "<script>",
        "</title", "<title>", "<!-- <script>", "]]",  "<![CDATA[", "--", "--!", "\r",  "<a b", "&a"}) {
    for (const std::string_view start : {"", "<a ", "<!--", "<script><!--", "<title>", "&#"}) {
      for (const size_t piece : {size_t{1}, size_t{1} << 30}) {
        const std::string html = std::string(start) + repeat(unit, (size_t{64} << 10) / unit.size());
        EXPECT_LT(seconds(html, piece), 2.0) << start << "…" << unit;  // quadratic would be minutes
      }
    }
  }
}

}  // namespace
}  // namespace portolan
