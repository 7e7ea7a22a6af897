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
  const double spilled = 8;
  const double in_ram = std::min(ram * 3 / 64, disk / (logged + 8));
  const double most = std::min(ram * 256 * 3 / 16 / 25, disk / (logged + spilled));
  double keys = params.seen;
  double bytes = 0;
  double left = links;
  while (left > 0) {
    const bool spill = most > in_ram && GapCodedBytes(params, keys) * 2 > in_ram * spilled * 2;
    const double round = std::min(left, spill ? most : in_ram);
    bytes += round * (2 * logged + 0.25 + 8 + params.unique * text + (spill ? 2 * spilled : 0));
    bytes += GapCodedBytes(params, keys) + GapCodedBytes(params, keys + params.unique * round);
    keys += params.unique * round;
    left -= round;
  }
  return bytes / (links * params.url_bytes);
}

TEST(PortolanDrumModelTest, AgreesWithACrawlPlayedRoundByRound) {
  for (const double links : {1e7, 59e8, 59e9, 59e10, 59e11}) {
    for (const double ram : {256e6, 1e9, 8e9}) {
      for (const double disk : {1e11, 4e12}) {
        const PortolanDrumParams params;
        EXPECT_NEAR(PortolanDrumAlpha(params, links, ram, disk) / PlayedAlpha(params, links, ram, disk), 1, 0.02)
            << links << " links, ram " << ram << ", disk " << disk;
      }
    }
  }
}

TEST(PortolanDrumModelTest, StaysBelowTheBestThatThePaperHoldsPossible) {
  const double bound = HashesAndTextOnDiskBound({});
  const PortolanDrumParams params;
  EXPECT_LT(PortolanDrumAlpha(params, 59 * 8e7, kRam, kDisk), 1.1);
  EXPECT_LT(PortolanDrumAlpha(params, 59 * 8e9, kRam, kDisk), bound);
  EXPECT_LT(PortolanDrumAlpha(params, 59 * 8e10, 8e9, kDisk), bound);
}

TEST(PortolanDrumModelTest, SmallCrawlIsTextOnlyAndALargeOneSpills) {
  const PortolanDrumParams params;
  const PortolanDrumCost small = PortolanDrumModel(params, 1e7, kRam, kDisk);
  EXPECT_EQ(small.rounds, 1);
  EXPECT_EQ(small.spilled_share, 0);
  EXPECT_NEAR(small.alpha, (2 * (110 / 2.6 + 1.125) + 8 + 110 / 2.6 / 9) / 110, 0.01);
  const PortolanDrumCost large = PortolanDrumModel(params, 59e10, kRam, kDisk);
  EXPECT_GT(large.spilled_share, 0.9);
  EXPECT_LT(large.spilled_share, 1);
  EXPECT_NEAR(large.round_links, kRam * 1.92, 1) << "256 buckets, each sorted in 3/16 of RAM";
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
