#include "reputation/domain_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/hash.h"
#include "disk/inspect.h"
#include "io/mem_env.h"
#include "io/rng.h"
#include "reputation/names_log.h"
#include "reputation/star.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kDir[] = "state";

struct Ignored : StandingSink {
  Status OnStanding(std::string_view, const Standing&) override { return {}; }
};

std::string NameOf(int number) { return "d" + std::to_string(number) + ".example"; }

class DomainListTest : public testing::Test {
 protected:
  DomainListTest() : manifest_(Manifest::Open(env_, kDir).value()) {
    StarOptions options;
    options.memory = StarOptions::kMinMemory;
    options.budget_function = "proportional least=2 most=50";
    options.vouch_base = 0;
    star_ = Star::Open(env_, manifest_, executor_, options).value();
  }
  void Settle() {
    Ignored ignored;
    while (star_->edges_waiting() + star_->domains_drum().waiting() > 0) {
      now_ += int64_t{1} << 50;
      ASSERT_TRUE(star_->StartRound(now_, true));
      ASSERT_TRUE(star_->Take(ignored, ~0ULL, now_));
    }
    ASSERT_TRUE(manifest_.Commit(star_->Checkpointables()));
  }
  // Domain i is linked to by the i domains before it, and has (97 × i) % 50 URLs.
  void Fill(int domains) {
    for (int i = 0; i < domains; ++i) {
      for (int source = 0; source < i; ++source) {
        ASSERT_TRUE(star_->AddEdge(Hash64(NameOf(source)), Hash64(NameOf(i))));
      }
      const std::string name = NameOf(i);
      for (int url = 0; url < 97 * i % 50; ++url) {
        ASSERT_TRUE(star_->AddUrl({.pld = Hash64(name), .pld_name = name, .record = "r", .horizon = 9}));
      }
    }
    Settle();
  }
  std::vector<std::string> List(DomainOrder order, size_t count) {
    std::vector<std::string> lines;
    DomainListOptions options;
    options.order = order;
    options.count = count;
    const auto totals = ForEachDomain(env_, manifest_, options, [&](const DomainLine& line) {
      lines.push_back((line.name.empty() ? "?" : line.name) + " " + std::to_string(line.record.in_degree) + " " +
                      std::to_string(line.record.passed) + " " + std::to_string(line.budget));
    });
    EXPECT_TRUE(totals) << totals.error().ToString();
    if (totals) totals_ = *totals;
    return lines;
  }

  MemEnv env_;
  InlineExecutor executor_;
  Manifest manifest_;
  std::unique_ptr<Star> star_;
  int64_t now_ = 0;
  DomainTotals totals_;
};

TEST_F(DomainListTest, TheFirstByInDegreeOrByUrls) {
  Fill(60);
  EXPECT_THAT(List(DomainOrder::kInDegree, 3),
              ElementsAre("d59.example 59 23 50", "d58.example 58 26 50", "d57.example 57 29 50"));
  EXPECT_EQ(totals_.domains, 59U) << "no domain links to the first, and it had no URL";
  EXPECT_EQ(totals_.linked, 59U);
  EXPECT_EQ(totals_.in_degrees, 59U * 60 / 2);
  EXPECT_THAT(List(DomainOrder::kPassed, 3),
              ElementsAre("d17.example 17 49 17", "d34.example 34 48 34", "d51.example 51 47 50"));
  EXPECT_EQ(totals_.passed, 1540U);
  EXPECT_EQ(totals_.names, 58U);
  EXPECT_TRUE(List(DomainOrder::kPassed, 0).empty());
  EXPECT_EQ(List(DomainOrder::kPassed, 1000).size(), 59U);
}

TEST_F(DomainListTest, ADomainThatWasOnlyLinkedToHasNoName) {
  ASSERT_TRUE(star_->AddEdge(1, 2));
  Settle();
  EXPECT_THAT(List(DomainOrder::kInDegree, 9), ElementsAre("? 1 0 2"));
  EXPECT_EQ(totals_.names, 0U);
}

TEST_F(DomainListTest, AStateWithoutStarHasNoDomains) {
  EXPECT_TRUE(List(DomainOrder::kInDegree, 9).empty());
  Settle();  // committed, and empty
  EXPECT_TRUE(List(DomainOrder::kInDegree, 9).empty());
  EXPECT_EQ(totals_.domains, 0U);
}

TEST_F(DomainListTest, DamageIsSaid) {
  Fill(20);
  const auto names = env_.List(kDir).value();
  for (const std::string& name : names) {
    if (!name.ends_with(".names") && !name.ends_with(".budgets") && !name.ends_with(".z")) continue;
    if (name.starts_with("star_edges")) continue;
    const std::string path = JoinPath(kDir, name);
    const std::string before = ReadWholeFile(env_, path).value().substr(20, 2);
    env_.Corrupt(path, 20, "\xff\xff");
    const auto totals = ForEachDomain(env_, manifest_, {}, [](const DomainLine&) {});
    ASSERT_FALSE(totals) << name;
    EXPECT_EQ(totals.error().code(), ErrorCode::kCorrupt);
    EXPECT_THAT(totals.error().message(), HasSubstr(name));
    env_.Corrupt(path, 20, before);
    ASSERT_TRUE(ForEachDomain(env_, manifest_, {}, [](const DomainLine&) {}));
    const auto report = CheckFile(env_, path);
    EXPECT_TRUE(report) << "every file can be looked into: " << report.error().ToString();
  }
}

TEST(NamesLogTest, NamesComeBackInOrderAndOnce) {
  Rng rng(8);
  auto env = std::make_unique<MemEnv>();
  std::vector<std::string> added;
  std::vector<std::string> committed;
  for (int life = 0; life < 20; ++life) {
    Manifest manifest = Manifest::Open(*env, kDir).value();
    auto log = NamesLog::Open(*env, manifest, "names").value();
    ASSERT_EQ(log->names(), committed.size());
    added = committed;
    for (int step = 0; step < 5; ++step) {
      for (uint64_t i = rng.Below(400); i > 0; --i) {
        added.push_back("domain-" + std::to_string(rng.Next()) + ".example");
        log->Add(Hash64(added.back()), added.back());
        ASSERT_TRUE(log->MakeRoom());
      }
      if (rng.Chance(0.3)) {
        Checkpointable* const all[] = {log.get()};
        ASSERT_TRUE(manifest.Commit(all));
        committed = added;
        std::vector<std::string> read;
        const ManifestSection section = log->Describe();
        ASSERT_TRUE(ForEachName(*env, kDir, section, [&](uint64_t pld, std::string_view name) {
          EXPECT_EQ(pld, Hash64(name));
          read.emplace_back(name);
        }));
        ASSERT_EQ(read, committed);
      }
    }
    auto survived = env->CrashedCopy(static_cast<CrashMode>(rng.Below(3)), rng.Next());
    log.reset();
    env = std::move(survived);
  }
  EXPECT_GT(committed.size(), 1000U);
}

TEST_F(DomainListTest, EndsAreCountedAndWhatWaitsForARoundIsAddedWhereAskedFor) {
  Fill(20);
  const auto list = [&](bool rows, const std::string& filter) {
    DomainListOptions options;
    options.rows = rows;
    options.filter = filter;
    std::vector<std::string> lines;
    totals_ = ForEachDomain(env_, manifest_, options, [&](const DomainLine& line) {
                lines.push_back(line.name + " " + std::to_string(line.record.passed) + " " +
                                std::to_string(line.record.fetched) + " " + std::to_string(line.record.failed) + " " +
                                std::to_string(line.record.waiting()));
              }).value();
    return lines;
  };
  const uint64_t nineteen = Hash64(NameOf(19));
  ASSERT_TRUE(star_->CountEnd(nineteen, true));
  ASSERT_TRUE(star_->CountEnd(nineteen, true));
  ASSERT_TRUE(star_->CountEnd(nineteen, false));
  ASSERT_TRUE(star_->AddUrl({.pld = 77, .pld_name = "new.example", .record = "r", .horizon = 9}));
  ASSERT_TRUE(manifest_.Commit(star_->Checkpointables()));
  EXPECT_EQ(list(false, "")[0], "d19.example 43 0 0 43");
  EXPECT_EQ(totals_.domains, 19U);
  EXPECT_EQ(totals_.waiting, totals_.passed);
  const uint64_t passed = totals_.passed;
  EXPECT_EQ(list(true, "")[0], "d19.example 43 2 1 40");
  EXPECT_EQ(totals_.domains, 20U);
  EXPECT_EQ(totals_.passed, passed + 1);
  EXPECT_EQ(totals_.fetched + totals_.failed + totals_.waiting, totals_.passed);
  EXPECT_EQ(FindDomain(env_, manifest_, nineteen).value()->record.failed, 1U);
  EXPECT_EQ(FindDomain(env_, manifest_, 77).value()->record.passed, 1U);
  EXPECT_FALSE(FindDomain(env_, manifest_, 78).value().has_value());
  EXPECT_THAT(list(true, "9.ex"), ElementsAre("d19.example 43 2 1 40", "d9.example 23 0 0 23"));
  EXPECT_EQ(totals_.matches, 2U);
  EXPECT_EQ(totals_.domains, 20U) << "totals are over all";
  EXPECT_THAT(list(true, "nowhere"), ElementsAre());
  Settle();
  EXPECT_EQ(list(false, "")[0], "d19.example 43 2 1 40");
  EXPECT_THAT(list(false, "new"), ElementsAre("new.example 1 0 0 1"));
}

}  // namespace
}  // namespace portolan
