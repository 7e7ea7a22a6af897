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
