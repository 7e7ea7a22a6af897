#include "flow/visit.h"

#include <gtest/gtest.h>

#include <string>

#include "flow/fetch.h"
#include "flow/page_result.h"

namespace portolan {
namespace {

TEST(VisitTest, ValidatorsAreShortTextWithoutControls) {
  for (const char* good : {"\"abc\"", "W/\"1\"", "unquoted", "Sun, 06 Nov 1994 08:49:37 GMT", "\xc3\xa9"}) {
    EXPECT_TRUE(IsValidator(good)) << good;
  }
  EXPECT_TRUE(IsValidator(std::string(kMaxValidator, 'x')));
  EXPECT_FALSE(IsValidator(std::string(kMaxValidator + 1, 'x')));
  for (const std::string_view bad : {std::string_view(), std::string_view("a\r\nb"), std::string_view("a\0b", 3),
                                     std::string_view("a\tb"), std::string_view("\x7f")}) {
    EXPECT_FALSE(IsValidator(bad)) << bad;
  }
}

TEST(VisitTest, ATaskIsConditionalIfAValidatorCanBeSent) {
  FetchTask task;
  EXPECT_FALSE(task.revisit());
  EXPECT_FALSE(task.conditional());
  task.last = std::make_shared<const LastVisit>();
  EXPECT_TRUE(task.revisit());
  EXPECT_FALSE(task.conditional()) << "what cannot be compared is fetched in full";
  task.last = std::make_shared<const LastVisit>(LastVisit{.validators = {.etag = "a\nb", .last_modified = ""}});
  EXPECT_FALSE(task.conditional());
  task.last = std::make_shared<const LastVisit>(LastVisit{.validators = {.etag = "", .last_modified = "now"}});
  EXPECT_TRUE(task.conditional());
}

LastVisit Whole() {
  LastVisit last;
  last.validators = {.etag = "\"v1\"", .last_modified = "Sun, 06 Nov 1994 08:49:37 GMT"};
  last.payload_sha1.fill('p');
  last.captured_unix_ms = 0x0102030405;
  last.captured_url = "http://b/";
  last.similarity = 0x1122334455667788;
  return last;
}

std::string Encoded(const LastVisit& last) {
  std::string out;
  AppendLastVisit(last, out);
  return out;
}

TEST(VisitTest, LastVisitGoldenBytes) {
  EXPECT_EQ(Encoded(Whole()), "\x3f" + std::string(20, 'p') + std::string("\5\4\3\2\1\0\0\0", 8) + "\x09http://b/" +
                                  "\x88\x77\x66\x55\x44\x33\x22\x11" + "\4\"v1\"" +
                                  "\x1dSun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(Encoded({}), std::string(1, '\0'));
  for (const LastVisit& last : {Whole(), LastVisit()}) EXPECT_EQ(DecodeLastVisit(Encoded(last)), last);
  LastVisit some = Whole();
  some.captured_url.clear();
  some.similarity = 0;
  EXPECT_EQ(DecodeLastVisit(Encoded(some)), some);
}

TEST(VisitTest, ALastVisitIsBoundedAndKeepsWhatMatters) {
  LastVisit last = Whole();
  last.captured_url = "http://b/" + std::string(2000, 'x');
  auto back = DecodeLastVisit(Encoded(last));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->captured_unix_ms, 0) << "without its URL the capture would be another one";
  EXPECT_EQ(back->validators, last.validators);
  last.captured_url.clear();
  last.validators = {std::string(kMaxValidator, 'e'), std::string(kMaxValidator, 'm')};
  EXPECT_LE(Encoded(last).size(), kMaxLastVisit);
  EXPECT_EQ(DecodeLastVisit(Encoded(last)), last);
  last.validators.etag += 'e';
  EXPECT_EQ(DecodeLastVisit(Encoded(last))->validators.etag, "");
}

TEST(VisitTest, DamagedBytesAreNoLastVisit) {
  const std::string good = Encoded(Whole());
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(DecodeLastVisit(good.substr(0, size))) << size;
  EXPECT_FALSE(DecodeLastVisit(good + "x"));
  EXPECT_FALSE(DecodeLastVisit("\x40"));
  EXPECT_FALSE(DecodeLastVisit(std::string("\x04\1x", 3))) << "a URL of no capture";
  EXPECT_FALSE(DecodeLastVisit(std::string("\x10\2a\n", 4))) << "no validator";
  EXPECT_FALSE(DecodeLastVisit("\x02" + std::string(8, '\xff'))) << "no time";
}

TEST(VisitTest, OnlyA304ThatWasAskedForMeansNotModified) {
  PageResult result;
  result.status = 304;
  EXPECT_TRUE(result.not_modified());
  result.outcome = FetchOutcome::kUnaskedNotModified;
  EXPECT_FALSE(result.not_modified());
  EXPECT_NE(FollowOf(result.outcome, result.status).count, CountAs::kNotModified);
  EXPECT_TRUE(HasAnswer(result.outcome));
}

TEST(VisitTest, GoneIs404And410) {
  PageResult result;
  for (const int status : {404, 410}) {
    result.status = status;
    result.outcome = FetchOutcome::kAnswered;
    EXPECT_TRUE(result.gone());
    result.outcome = FetchOutcome::kDisconnected;
    EXPECT_FALSE(result.gone()) << "it may be there the next time";
  }
  result.outcome = FetchOutcome::kAnswered;
  for (const int status : {200, 304, 403, 451, 500}) {
    result.status = status;
    EXPECT_FALSE(result.gone());
  }
}

TEST(VisitTest, AFirstVisitCarriesOnlyPointers) {
  EXPECT_LE(sizeof(FetchTask), 152U);
  EXPECT_EQ(sizeof(PageResult::visit), sizeof(void*));
}

}  // namespace
}  // namespace portolan
