#include "disk/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <thread>

#include "io/faulty_env.h"
#include "io/mem_env.h"
#include "io/rng.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

DiskQueue::Options Small(const std::string& name = "q") {
  DiskQueue::Options options;
  options.name = name;
  options.block_size = 512;
  options.segment_size = 4096;
  return options;
}

class DiskQueueTest : public testing::Test {
 protected:
  DiskQueueTest() { Reopen(); }
  void Reopen() {
    queue_.reset();
    manifest_.emplace(Manifest::Open(env_, "store").value());
    queue_ = DiskQueue::Open(env_, *manifest_, Small()).value();
  }
  void Commit() {
    Checkpointable* const all[] = {queue_.get()};
    ASSERT_TRUE(manifest_->Commit(all));
  }
  size_t Files() { return env_.List("store").value().size(); }

  MemEnv env_;
  std::optional<Manifest> manifest_;
  std::unique_ptr<DiskQueue> queue_;
};

TEST_F(DiskQueueTest, FirstInFirstOut) {
  const std::string_view batch[] = {"a", "b", "", "c"};
  ASSERT_TRUE(queue_->Append(batch));
  EXPECT_EQ(queue_->size(), 4U);
  EXPECT_THAT(queue_->Pop(2).value(), ElementsAre("a", "b"));
  ASSERT_TRUE(queue_->Append("d"));
  EXPECT_THAT(queue_->Pop(10).value(), ElementsAre("", "c", "d"));
  EXPECT_THAT(queue_->Pop(10).value(), IsEmpty());
}

TEST_F(DiskQueueTest, BehavesLikeADequeAcrossCommitsAndCrashes) {
  Rng rng(11);
  std::deque<std::string> model;
  std::deque<std::string> committed;
  for (int step = 0; step < 20'000; ++step) {
    switch (rng.Below(20)) {
      case 0:
        Commit();
        committed = model;
        break;
      case 1:
        if (rng.Below(10) == 0) {
          env_.Crash(rng.Below(2) == 0 ? CrashMode::kLoseUnsynced : CrashMode::kTorn, rng.Next());
          Reopen();
          model = committed;
          ASSERT_EQ(queue_->size(), model.size());
        }
        break;
      case 2:
      case 3:
      case 4:
      case 5:
      case 6: {
        const size_t max = rng.Below(30);
        const auto result = queue_->Pop(max);
        ASSERT_TRUE(result) << result.error().ToString();
        const auto& popped = *result;
        ASSERT_EQ(popped.size(), std::min(max, model.size()));
        for (const std::string& record : popped) {
          ASSERT_EQ(record, model.front());
          model.pop_front();
        }
        break;
      }
      default: {
        const std::string record = "http://example.com/" + std::string(rng.Below(100), 'x') + std::to_string(step);
        ASSERT_TRUE(queue_->Append(record));
        model.push_back(record);
      }
    }
  }
}

TEST_F(DiskQueueTest, ConsumedSegmentsAreFreedAfterTheCommit) {
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(queue_->Append("record number " + std::to_string(i * 7919)));
  Commit();
  const size_t full = Files();
  EXPECT_GT(full, 5U);
  ASSERT_EQ(queue_->Pop(5000).value().size(), 5000U);
  EXPECT_EQ(Files(), full) << "the committed manifest still names them";
  Commit();
  EXPECT_LE(Files(), 2U);
}

TEST_F(DiskQueueTest, PopIsNotCommittedUntilItIs) {
  ASSERT_TRUE(queue_->Append("a"));
  ASSERT_TRUE(queue_->Append("b"));
  Commit();
  EXPECT_THAT(queue_->Pop(1).value(), ElementsAre("a"));
  env_.Crash(CrashMode::kKeepAll);
  Reopen();
  EXPECT_THAT(queue_->Pop(2).value(), ElementsAre("a", "b"));
}

TEST_F(DiskQueueTest, FullDiskRefusesABatchWhole) {
  FaultyEnv faulty(env_, {.space = 3000});
  Manifest manifest = Manifest::Open(faulty, "full").value();
  auto queue = DiskQueue::Open(faulty, manifest, Small()).value();
  uint64_t taken = 0;
  Status status;
  Rng rng(2);
  const auto record = [&] { return std::to_string(rng.Next()) + std::to_string(rng.Next()); };
  while ((status = queue->Append(record()))) ASSERT_LT(++taken, 10'000U);
  EXPECT_EQ(status.error().code(), ErrorCode::kNoSpace);
  EXPECT_EQ(queue->size(), taken);
  faulty.AddSpace(100'000);
  ASSERT_TRUE(queue->Append("after"));
  const auto all = queue->Pop(100'000).value();
  EXPECT_EQ(all.size(), taken + 1);
  EXPECT_EQ(all.back(), "after");
}

TEST_F(DiskQueueTest, AFailureInTheMiddleOfAPopLosesNothing) {
  // Whichever operation of the pops fails, every record comes out once, in order.
  for (uint64_t fail = 0;; ++fail) {
    MemEnv env;
    FaultyEnv faulty(env);
    Manifest manifest = Manifest::Open(faulty, "store").value();
    auto queue = DiskQueue::Open(faulty, manifest, Small()).value();
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(queue->Append(std::to_string(i)));
    const uint64_t begin = faulty.operations();
    faulty.SetPlan({.fail_at = begin + fail});
    std::vector<std::string> all;
    uint64_t failures = 0;
    while (all.size() < 400) {
      const auto some = queue->Pop(150);
      if (some) {
        all.insert(all.end(), some->begin(), some->end());
      } else {
        ASSERT_LT(++failures, 10U);
      }
    }
    for (int i = 0; i < 400; ++i) ASSERT_EQ(all[static_cast<size_t>(i)], std::to_string(i));
    EXPECT_EQ(queue->size(), 0U);
    if (faulty.operations() <= begin + fail) break;
  }
}

TEST_F(DiskQueueTest, TheFrontStaysUntilItIsPopped) {
  EXPECT_EQ(queue_->Front().value(), nullptr);
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(queue_->Append(std::to_string(i)));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(*queue_->Front().value(), std::to_string(i));
    // Moving the first to the end, as a walk does, leaves what was looked at as it is.
    const std::string* const front = queue_->Front().value();
    ASSERT_TRUE(queue_->Append(*front));
    ASSERT_EQ(*front, std::to_string(i));
    queue_->PopFront();
  }
  EXPECT_EQ(queue_->size(), 300U);
  EXPECT_EQ(*queue_->Front().value(), "100");
  Commit();
  Reopen();
  EXPECT_EQ(*queue_->Front().value(), "100") << "looked at and not popped";
  EXPECT_THAT(queue_->Pop(2).value(), testing::ElementsAre("100", "101"));
  EXPECT_EQ(*queue_->Front().value(), "102");
  const auto rest = queue_->Pop(1000).value();
  ASSERT_EQ(rest.size(), 298U);
  for (size_t i = 0; i < rest.size(); ++i) ASSERT_EQ(rest[i], std::to_string((i + 102) % 300));
  EXPECT_EQ(queue_->Front().value(), nullptr);
}

TEST_F(DiskQueueTest, CorruptSegmentIsNamed) {
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue_->Append("record " + std::to_string(i)));
  Commit();
  env_.Corrupt("store/q-000000001.q", 60, "\xff\xff");
  Reopen();
  const auto popped = queue_->Pop(1);
  ASSERT_FALSE(popped);
  EXPECT_EQ(popped.error().ToString(), "corrupt: store/q-000000001.q: block at 16: checksum differs");
}

TEST_F(DiskQueueTest, NumbersThatDoNotFitAreCorrupt) {
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(queue_->Append("record number " + std::to_string(i * 7919)));
  ASSERT_EQ(queue_->Pop(3).value().size(), 3U);
  Commit();
  ManifestSection section = manifest_->sections()[0];
  ASSERT_GT(section.files.size(), 2U);
  const auto outcome = [&](const std::string& key, uint64_t value) -> Status {
    auto env = env_.CrashedCopy(CrashMode::kKeepAll);
    ManifestSection changed = section;
    changed.numbers[key] = value;
    RETURN_IF_ERROR(Manifest::Read(*env, "store").value().WriteNext(std::span(&changed, 1)));
    const Manifest manifest = Manifest::Open(*env, "store").value();
    ASSIGN_OR_RETURN(auto queue, DiskQueue::Open(*env, manifest, Small()));
    while (queue->size() > 0) RETURN_IF_ERROR(queue->Pop(100));
    return {};
  };
  ASSERT_TRUE(outcome("popped", 3));
  const uint64_t huge = ~uint64_t{0};
  const std::pair<const char*, uint64_t> wrong[] = {{"pushed", 3001},
                                                    {"pushed", 2},
                                                    {"pushed", huge},
                                                    {"popped", 0},
                                                    {"popped", huge},
                                                    {"reader_block", 0},
                                                    {"reader_block", kFileHeaderSize - 1},
                                                    {"reader_block", kFileHeaderSize + 1},
                                                    {"reader_block", section.files[0].length},
                                                    {"reader_block", section.files[0].length + 1},
                                                    {"reader_block", huge},
                                                    {"reader_record", 4},
                                                    {"reader_record", 1000},
                                                    {"reader_record", uint64_t{1} << 32},
                                                    {"next_segment", 0},
                                                    {"next_segment", 2}};
  for (const auto& [key, value] : wrong) {
    const Status status = outcome(key, value);
    ASSERT_FALSE(status) << key << " " << value;
    EXPECT_EQ(status.error().code(), ErrorCode::kCorrupt) << status.error().ToString();
    EXPECT_THAT(status.error().message(), testing::AnyOf(HasSubstr("queue q: "), HasSubstr("store/q-000000001.q: ")));
  }
  // A segment that has only its header.
  section.files = {{section.files[0].name, kFileHeaderSize}};
  EXPECT_EQ(outcome("reader_block", kFileHeaderSize).error().code(), ErrorCode::kCorrupt);
  EXPECT_EQ(outcome("reader_block", 0).error().code(), ErrorCode::kCorrupt);
}

TEST_F(DiskQueueTest, ManyProducersLoseNothing) {
  std::vector<std::thread> producers;
  for (int p = 0; p < 4; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < 2000; ++i) {
        const std::string a = std::to_string(p) + " " + std::to_string(2 * i);
        const std::string b = std::to_string(p) + " " + std::to_string(2 * i + 1);
        const std::string_view batch[] = {a, b};
        ASSERT_TRUE(queue_->Append(batch));
      }
    });
  }
  std::vector<int> next(4, 0);
  size_t received = 0;
  while (received < 16'000) {
    const auto records = queue_->Pop(100).value();
    for (const std::string& record : records) {
      const auto p = static_cast<size_t>(record[0] - '0');
      ASSERT_EQ(std::stoi(record.substr(2)), next[p]++);
      ++received;
    }
  }
  for (std::thread& producer : producers) producer.join();
  EXPECT_EQ(queue_->size(), 0U);
}

TEST_F(DiskQueueTest, HundredsOfQueuesAreIndependent) {
  std::vector<std::unique_ptr<DiskQueue>> queues;
  for (int i = 0; i < 300; ++i)
    queues.push_back(DiskQueue::Open(env_, *manifest_, Small("n" + std::to_string(i))).value());
  for (int round = 0; round < 20; ++round) {
    for (size_t i = 0; i < queues.size(); ++i)
      ASSERT_TRUE(queues[i]->Append(std::to_string(i * 100 + static_cast<size_t>(round))));
  }
  std::vector<Checkpointable*> all;
  for (const auto& queue : queues) all.push_back(queue.get());
  ASSERT_TRUE(manifest_->Commit(all));
  for (size_t i = 0; i < queues.size(); ++i) {
    const auto records = queues[i]->Pop(100).value();
    ASSERT_EQ(records.size(), 20U);
    EXPECT_EQ(records[7], std::to_string(i * 100 + 7));
  }
}

}  // namespace
}  // namespace portolan
