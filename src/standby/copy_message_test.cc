#include "standby/copy_message.h"

#include <gtest/gtest.h>

namespace portolan {
namespace {

using namespace std::string_literals;

CopyAnswer SampleList() {
  return {.kind = CopyAnswer::Kind::kList,
          .history = 0x1122334455667788,
          .sequence = 42,
          .manifest_length = 300,
          .total = 2,
          .files = {{.place = 0, .name = "q-000000001.q", .length = 200}, {.place = 4, .name = "a.cdxj", .length = 1}},
          .sums = {},
          .bytes = {}};
}

TEST(CopyMessageTest, GoldenBytesOfARequest) {
  EXPECT_EQ(
      EncodeCopyRequest({.kind = CopyRequest::Kind::kRead, .sequence = 42, .index = 3, .offset = 300, .count = 1}),
      "\x01\x02\x2a\x03\xac\x02\x01"s);
}

TEST(CopyMessageTest, GoldenBytesOfAList) {
  EXPECT_EQ(EncodeCopyAnswer(SampleList()),
            "\x01\x01\x88\x77\x66\x55\x44\x33\x22\x11\x2a\xac\x02\x02\x02"
            "\x00\x0dq-000000001.q\xc8\x01\x04\x06"
            "a.cdxj\x01"s);
}

TEST(CopyMessageTest, WhatWasEncodedIsDecoded) {
  const CopyRequest request{
      .kind = CopyRequest::Kind::kSums, .sequence = 1, .index = 2, .offset = kMaxCopyLength, .count = 16};
  EXPECT_EQ(DecodeCopyRequest(EncodeCopyRequest(request)), request);
  EXPECT_EQ(DecodeCopyAnswer(EncodeCopyAnswer(SampleList())), SampleList());
  CopyAnswer sums{.kind = CopyAnswer::Kind::kSums, .files = {}, .sums = {1, ~uint64_t{0}}, .bytes = {}};
  EXPECT_EQ(DecodeCopyAnswer(EncodeCopyAnswer(sums)), sums);
  CopyAnswer bytes{.kind = CopyAnswer::Kind::kBytes, .files = {}, .sums = {}, .bytes = "\0x"s};
  EXPECT_EQ(DecodeCopyAnswer(EncodeCopyAnswer(bytes)), bytes);
  for (const auto kind : {CopyAnswer::Kind::kNoted, CopyAnswer::Kind::kGone, CopyAnswer::Kind::kRefused}) {
    EXPECT_EQ(DecodeCopyAnswer(EncodeCopyAnswer({.kind = kind, .files = {}, .sums = {}, .bytes = {}}))->kind, kind);
  }
}

TEST(CopyMessageTest, APathIsNoName) {
  for (const std::string name : {"", ".", "..", "a/b", "/etc/passwd", "a b", "a\n"}) {
    CopyAnswer list = SampleList();
    list.files[0].name = name;
    EXPECT_FALSE(DecodeCopyAnswer(EncodeCopyAnswer(list))) << name;
  }
}

TEST(CopyMessageTest, CutAndChangedBytesAreNoMessageOrAnother) {
  const std::string list = EncodeCopyAnswer(SampleList());
  for (size_t length = 0; length < list.size(); ++length) EXPECT_FALSE(DecodeCopyAnswer(list.substr(0, length)));
  EXPECT_FALSE(DecodeCopyAnswer(list + "x"));
  const std::string request = EncodeCopyRequest({});
  for (size_t length = 0; length < request.size(); ++length) EXPECT_FALSE(DecodeCopyRequest(request.substr(0, length)));
  std::string other_version = request;
  other_version[0] = 2;
  EXPECT_FALSE(DecodeCopyRequest(other_version));
}

}  // namespace
}  // namespace portolan
