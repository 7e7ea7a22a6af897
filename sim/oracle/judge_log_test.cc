#include "sim/oracle/judge_log.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "io/mem_env.h"
#include "sim/hits/hit_log_writer.h"

namespace portolan::sim {
namespace {

constexpr int64_t kS = 1'000'000'000;
constexpr int64_t kStart = 1'767'300'000 * kS;

// Requests of a second's distance, each answered at once, but for one that takes 50 s and stands in the log at its end.
void WriteLog(Env& env, const World& world, const std::string& path) {
  auto writer = HitLogWriter::Create(env, path, {.profile = "small", .seed = 1, .parameters = ""});
  ASSERT_TRUE(writer.has_value());
  const std::string host = world.HostName({0, 0});
  const auto hit = [&](int64_t begin_s, int64_t end_s) {
    (*writer)->OnHit({.unix_ns = kStart + begin_s * kS,
                      .end_ns = kStart + end_s * kS,
                      .host = host,
                      .method = "GET",
                      .path_and_query = "/",
                      .status = 200});
  };
  for (int64_t at = 0; at < 200; ++at) {
    if (at == 70) hit(20, 70);
    if (at != 20) hit(at, at);
  }
  ASSERT_TRUE((*writer)->Close().has_value());
}

TEST(JudgeLogTest, TheWindowIsAsLongAsTheLongestRequest) {
  MemEnv env;
  const auto world = *World::Create(*LoadProfile("small"), 1);
  WriteLog(env, *world, "log");
  const auto window_ns = WindowOf(env, "log");
  ASSERT_TRUE(window_ns.has_value());
  // When it is read, the second before its end was the newest of the log.
  EXPECT_EQ(*window_ns, 49 * kS);
  Rules rules;
  rules.connections = 1;
  rules.robots = false;
  const auto account = JudgeHitLog(env, "log", *world, rules);
  ASSERT_TRUE(account.has_value()) << account.error().message();
  EXPECT_EQ(account->fetches, 200U);
  EXPECT_EQ(account->max_in_progress, 2U);
  // Those that began while it was open.
  EXPECT_EQ(account->Of(Violation::kParallel), 49U);
  EXPECT_FALSE(WindowOf(env, "none").has_value());
}

}  // namespace
}  // namespace portolan::sim
