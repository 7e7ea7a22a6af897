#include "io/local_socket.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <thread>
#include <vector>

namespace portolan {
namespace {

constexpr int64_t kLongNs = 30'000'000'000;

class LocalSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    dir_ = std::filesystem::temp_directory_path() / ("local_socket_test." + std::to_string(getpid()));
    std::filesystem::create_directories(dir_);
    path_ = dir_ / "s.sock";
    loop_ = EventLoop::Create().value();
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  // The loop runs while `client` does.
  void With(const std::function<void()>& client) {
    std::thread thread([&] {
      client();
      loop_->Stop();
    });
    loop_->Run();
    thread.join();
  }

  std::filesystem::path dir_;
  std::string path_;
  std::unique_ptr<EventLoop> loop_;
};

TEST_F(LocalSocketTest, ALineIsAnsweredByALine) {
  std::unique_ptr<LocalServer> server;
  server = LocalServer::Listen(*loop_, path_, [&](LocalServer::ClientId client, const std::string& line) {
             if (line == "later") {
               loop_->AddTimer(20'000'000, [&server, client] { server->Answer(client, "at last"); });
             } else if (line != "silence") {
               server->Answer(client, "you said " + line);
             }
           }).value();
  struct stat about{};
  ASSERT_EQ(stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0600U);
  With([&] {
    EXPECT_EQ(AskLocal(path_, "hello", kLongNs).value(), "you said hello");
    EXPECT_EQ(AskLocal(path_, "later", kLongNs).value(), "at last");
    EXPECT_EQ(AskLocal(path_, "silence", 50'000'000).error().code(), ErrorCode::kBusy);
    EXPECT_FALSE(AskLocal(path_, std::string(1000, 'x'), kLongNs)) << "too long a line is hung up on";
    EXPECT_EQ(AskLocal(path_, "again", kLongNs).value(), "you said again");
  });
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_EQ(AskLocal(path_, "hello", kLongNs).error().code(), ErrorCode::kNotFound);
}

TEST_F(LocalSocketTest, ManyWhoSayNothingLeaveRoomForNobodyButAreDropped) {
  const auto server =
      LocalServer::Listen(*loop_, path_, [](LocalServer::ClientId, const std::string&) { /* never answers */ }).value();
  With([&] {
    std::vector<std::thread> clients;
    for (size_t i = 0; i < 3 * LocalServer::kMaxClients; ++i) {
      clients.emplace_back([&] { EXPECT_FALSE(AskLocal(path_, "x", 300'000'000)); });
    }
    for (std::thread& client : clients) client.join();
  });
}

TEST_F(LocalSocketTest, AnyPathWillDoAndWhatADeadOneLeftIsReplaced) {
  std::filesystem::path deep = dir_;
  for (int i = 0; i < 4; ++i) deep /= std::string(80, 'd');
  std::filesystem::create_directories(deep);
  const std::string path = deep / "control.sock";
  std::unique_ptr<LocalServer> server;
  const auto answer = [&](LocalServer::ClientId client, const std::string&) { server->Answer(client, "here"); };
  server = LocalServer::Listen(*loop_, path, answer).value();
  std::filesystem::create_hard_link(path, deep / "kept");
  server.reset();
  std::filesystem::rename(deep / "kept", path);  // as if it had died
  EXPECT_EQ(AskLocal(path, "x", kLongNs).error().code(), ErrorCode::kNotFound);
  server = LocalServer::Listen(*loop_, path, answer).value();
  With([&] { EXPECT_EQ(AskLocal(path, "x", kLongNs).value(), "here"); });
  // Another kind of file is not ours to remove.
  server.reset();
  std::filesystem::create_directory(path);
  EXPECT_EQ(LocalServer::Listen(*loop_, path, answer).error().code(), ErrorCode::kExists);
}

}  // namespace
}  // namespace portolan
