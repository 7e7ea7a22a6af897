#include "plan/portolan_drum_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "plan/url_check_models.h"

namespace portolan {
namespace {

constexpr double kRam = 1e9;
constexpr double kDisk = 4.39e12;

// The crawl played round by round under the rules of the header, instead of the integrals.
double PlayedAlpha(const PortolanDrumParams& params, double links, double ram, double disk) {
  const double text = params.url_bytes / params.text_compression;
  const double logged = text + params.bucket_id_bytes;
  const double spilled = params.spilled_key_bytes + (params.answers_on_disk ? 0.125 : 0);
  const double in_ram = std::min(ram / 16, disk / logged);
  const double most = std::min(params.answers_on_disk ? 16 * ram : ram, disk / (logged + spilled));
  double keys = params.seen;
  double bytes = 0;
  double left = links;
  while (left > 0) {
    const bool spill = most > in_ram && GapCodedBytes(params, keys) * 2 > in_ram * spilled * 2;
    const double round = std::min(left, spill ? most : in_ram);
    bytes += round * (2 * logged + params.unique * text + (spill ? 2 * spilled : 0));
    bytes += GapCodedBytes(params, keys) + GapCodedBytes(params, keys + params.unique * round);
    keys += params.unique * round;
    left -= round;
  }
  return bytes / (links * params.url_bytes);
}

TEST(PortolanDrumModelTest, AgreesWithACrawlPlayedRoundByRound) {
  for (const bool answers_on_disk : {false, true}) {
    for (const double links : {1e7, 59e8, 59e9, 59e10, 59e11}) {
      for (const double ram : {256e6, 1e9, 8e9}) {
        for (const double disk : {1e11, 4e12}) {
          PortolanDrumParams params;
          params.answers_on_disk = answers_on_disk;
          EXPECT_NEAR(PortolanDrumAlpha(params, links, ram, disk) / PlayedAlpha(params, links, ram, disk), 1, 0.02)
              << links << " links, ram " << ram << ", disk " << disk << ", answers on disk " << answers_on_disk;
        }
      }
    }
  }
}

TEST(PortolanDrumModelTest, StaysBelowTheBestThatThePaperHoldsPossible) {
  const double bound = HashesAndTextOnDiskBound({});
  const PortolanDrumParams params;
  EXPECT_LT(PortolanDrumAlpha(params, 59 * 8e7, kRam, kDisk), 1.0);
  EXPECT_LT(PortolanDrumAlpha(params, 59 * 8e8, kRam, kDisk), bound);
  EXPECT_LT(PortolanDrumAlpha(params, 59 * 8e9, 8e9, kDisk), bound);
}

// The paper's rounds grow with the disk, and those with answers in RAM do not: at some size it overtakes.
TEST(PortolanDrumModelTest, AnswersOnDiskKeepLargeCrawlsCheaperThanThePapers) {
  PortolanDrumParams params;
  UrlCheckParams paper;
  paper.seen = 0;
  const double links = 59 * 8e10;
  EXPECT_GT(PortolanDrumAlpha(params, links, kRam, kDisk), DrumAlpha(paper, links, kRam, kDisk));
  params.answers_on_disk = true;
  for (const double pages : {8e7, 8e8, 8e9, 8e10, 8e11}) {
    EXPECT_LT(PortolanDrumAlpha(params, 59 * pages, kRam, kDisk), DrumAlpha(paper, 59 * pages, kRam, kDisk)) << pages;
  }
}

TEST(PortolanDrumModelTest, SmallCrawlIsTextOnlyAndALargeOneSpills) {
  const PortolanDrumParams params;
  const PortolanDrumCost small = PortolanDrumModel(params, 1e7, kRam, kDisk);
  EXPECT_EQ(small.rounds, 1);
  EXPECT_EQ(small.spilled_share, 0);
  EXPECT_NEAR(small.alpha, (2 * (110 / 2.9 + 1) + 110 / 2.9 / 9) / 110, 0.01);
  const PortolanDrumCost large = PortolanDrumModel(params, 59e10, kRam, kDisk);
  EXPECT_GT(large.spilled_share, 0.9);
  EXPECT_LT(large.spilled_share, 1);
  EXPECT_EQ(large.round_links, kRam);  // a bit a link in an eighth of RAM
}

TEST(PortolanDrumModelTest, GapCodedKeysAreAboutFourBytesAtTenBillion) {
  const PortolanDrumParams params;
  EXPECT_NEAR(GapCodedBytes(params, 1e10) / 1e10, 4.05, 0.01);
  EXPECT_EQ(GapCodedBytes(params, 0), 0);
}

TEST(PortolanDrumModelTest, MoreRamOrBetterCompressionNeverCostsMore) {
  PortolanDrumParams params;
  double last = 1e9;
  for (const double ram : {64e6, 128e6, 256e6, 512e6, 1e9, 2e9, 4e9, 8e9, 16e9}) {
    const double alpha = PortolanDrumAlpha(params, 59e9, ram, 1e15);
    EXPECT_LE(alpha, last * 1.05) << ram;  // the rule for spilling is a rule of thumb: it may lose a little
    last = alpha;
  }
  params.text_compression = 3.9;
  EXPECT_LT(PortolanDrumAlpha(params, 59e9, 1e9, 1e12), PortolanDrumAlpha({}, 59e9, 1e9, 1e12));
}

}  // namespace
}  // namespace portolan
