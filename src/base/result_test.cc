#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace portolan {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(ErrorCode::kInvalidArgument, "odd");
  return number / 2;
}

Result<int> Quarter(int number) {
  ASSIGN_OR_RETURN(const int half, Half(number));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status BothEven(int a, int b) {
  RETURN_IF_ERROR(Half(a));
  RETURN_IF_ERROR(Half(b));
  return {};
}

TEST(ResultTest, ValuePassesThrough) { EXPECT_EQ(Quarter(12).value(), 3); }

TEST(ResultTest, FirstErrorIsReturned) {
  const auto result = Quarter(6);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_FALSE(BothEven(2, 3));
  EXPECT_TRUE(BothEven(2, 4));
}

TEST(ResultTest, ContextReadsOutsideIn) {
  Error error = Error(ErrorCode::kCorrupt, "checksum differs").Context("block at 4096").Context("z-1");
  EXPECT_EQ(error.ToString(), "corrupt: z-1: block at 4096: checksum differs");
}

TEST(ResultTest, ErrnoBecomesTheCodeThatCallersBranchOn) {
  EXPECT_EQ(Error::FromErrno(ENOSPC, "write f").code(), ErrorCode::kNoSpace);
  EXPECT_EQ(Error::FromErrno(EROFS, "write f").code(), ErrorCode::kReadOnly);
  EXPECT_EQ(Error::FromErrno(ENOENT, "open f").code(), ErrorCode::kNotFound);
  EXPECT_EQ(Error::FromErrno(EIO, "read f").code(), ErrorCode::kIo);
  // Not kBusy: a structure that cannot open its file is not at a bound of its own.
  EXPECT_EQ(Error::FromErrno(EMFILE, "open f").code(), ErrorCode::kIo);
  EXPECT_EQ(Error::FromErrno(ENOSPC, "write f").message(), "write f: No space left on device");
}

}  // namespace
}  // namespace portolan
