// Parts behind servers of Xapian's protocol: the same answer as from here, and servers that fail in every way.

#include <arpa/inet.h>
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "parse/page_maker.h"
#include "search/index_server.h"
#include "search/search_parts.h"
#include "search/testing/small_index.h"
#include "search/xapian_wire.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Pages of ../shared/data as the crawler reads them, on made-up hosts. None where that folder is absent.
struct RealPage {
  std::string url;
  std::string record;  // of the text log
};

std::vector<RealPage> LoadRealPages(const std::string& folder, size_t most) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, error)) {
    if (entry.is_regular_file() && entry.path().extension() == ".html") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  auto maker = PageMaker::Create({.text_log = true}).value();
  std::vector<RealPage> pages;
  for (const auto& path : paths) {
    if (pages.size() >= most) break;
    std::ifstream file(path, std::ios::binary);
    FetchResponse response;
    const size_t number = pages.size();
    response.task.url = "https://www.site" + std::to_string(number % 37) + ".test/page/" + std::to_string(number);
    response.response_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
    response.body.assign(std::istreambuf_iterator<char>(file), {});
    response.times.begin_unix_ns = 1'700'000'000'000'000'000;
    const PageResult result = maker.Make(std::move(response));
    for (const OutputItem& item : result.outputs) {
      if (item.output != OutputId::kText) continue;
      PackedRecords records(item.records);
      while (records.Next()) {
        const auto page = ParseTextRecord(records.record());
        if (page) pages.push_back({std::string(page->url), std::string(records.record())});
      }
    }
  }
  return pages;
}

std::string AddressOf(uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

// "score url +similar" of each hit.
std::vector<std::string> Rows(const SearchParts& parts, const std::string& words) {
  const auto answer = parts.Ask({.words = words, .limit = 30});
  if (!answer) return {answer.error().ToString()};
  std::vector<std::string> rows = {fmt::format("{} {} {}", answer->matches, answer->exact, answer->all_words)};
  for (const SearchHit& hit : answer->hits) {
    rows.push_back(fmt::format("{:.6f} {} +{}", hit.score, hit.document.data.url, hit.similar));
  }
  for (const auto& left_out : answer->left_out) rows.push_back(left_out.why);
  return rows;
}

TEST(SearchPartsTest, OrderAndScoresOfRealPagesDoNotDependOnTheParts) {
  const auto pages = LoadRealPages("../shared/data/pages/readability", 130);
  if (pages.empty()) GTEST_SKIP() << "no ../shared/data/pages";
  TestIndex index;
  std::vector<TestPage> made;
  std::vector<std::string> questions = {"the",    "new york", "\"the new\"", "site:site3.test the",
                                        "a -the", "lang:en",  "of OR to"};
  for (const RealPage& real : pages) {
    const TextRecord page = *ParseTextRecord(real.record);
    made.push_back({.url = real.url,
                    .title = std::string(page.title),
                    .text = MainTextOf(page),
                    .language = std::string(page.language),
                    .headings = std::string(page.headings),
                    .step = static_cast<unsigned>(made.size() % 7),
                    .similarity = page.similarity});
    if (made.size() % 3 == 0) questions.emplace_back(CutUtf8(page.title, 60));
  }
  const auto one = index.Write(made, 1);
  const auto two = index.Write(made, 2);
  const auto five = index.Write(made, 5);
  std::vector<std::unique_ptr<IndexServer>> servers;
  std::vector<std::string> remotes;
  for (const std::string& dir : five) {
    servers.push_back(IndexServer::Start({dir}, "127.0.0.1", 0).value());
    remotes.push_back(AddressOf(servers.back()->port()));
  }
  const Clock& clock = Clock::Real();
  const auto single = SearchParts::Make(clock, {.dirs = one}).value();
  std::vector<std::unique_ptr<SearchParts>> others;
  others.push_back(SearchParts::Make(clock, {.dirs = two, .threads = 2}).value());
  others.push_back(SearchParts::Make(clock, {.dirs = five, .threads = 3}).value());
  others.push_back(SearchParts::Make(clock, {.remotes = remotes, .remote_step_ns = 10 * kSecond}).value());
  others.push_back(SearchParts::Make(clock, {.dirs = {five[0], five[3]},
                                             .remotes = {remotes[1], remotes[2], remotes[4]},
                                             .remote_step_ns = 10 * kSecond})
                       .value());
  size_t found = 0;
  for (const std::string& question : questions) {
    const auto expected = Rows(*single, question);
    found += expected.size() > 1 ? 1 : 0;
    for (size_t i = 0; i < others.size(); ++i) EXPECT_EQ(Rows(*others[i], question), expected) << question << " " << i;
  }
  EXPECT_GT(found, 25U);
}

TEST(SearchPartsTest, ARemotePartSeesNewPagesAndComesBack) {
  TestIndex index;
  std::vector<TestPage> pages = {{.url = "https://a.test/1", .title = "whale", .text = "one"}};
  const auto dirs = index.Write(pages);
  auto server = IndexServer::Start(dirs, "127.0.0.1", 0).value();
  const uint16_t port = server->port();
  const auto parts = SearchParts::Make(Clock::Real(), {.remotes = {AddressOf(port)}}).value();
  EXPECT_EQ(parts->Ask({.words = "whale"})->matches, 1U);
  {
    Xapian::WritableDatabase more(dirs[0]);
    auto maker = DocumentMaker::Create().value();
    more.add_document(maker.Make({.url = "https://a.test/2", .title = "whale"}, {}, "").value());
  }
  EXPECT_EQ(parts->Ask({.words = "whale"})->matches, 2U) << "over a connection that was kept";
  server->Stop();
  EXPECT_EQ(parts->Ask({.words = "whale"}).error().code(), ErrorCode::kIo);
  server = IndexServer::Start(dirs, "127.0.0.1", port).value();
  EXPECT_EQ(parts->Ask({.words = "whale"})->matches, 2U);
  EXPECT_EQ(IndexServer::Start(dirs, "127.0.0.1", port).error().code(), ErrorCode::kIo) << "in use";
}

// A server that does what it is told with each connection.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::function<void(int)> script) : script_(std::move(script)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 5), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const int connection = ::accept(socket_, nullptr, nullptr);
        if (connection < 0) continue;
        if (!stop.stop_requested()) script_(connection);
        ::close(connection);
      }
    });
  }
  ~ScriptedServer() {
    thread_.request_stop();
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  uint16_t port() const { return port_; }

 private:
  const std::function<void(int)> script_;
  int socket_ = -1;
  uint16_t port_ = 0;
  std::jthread thread_;
};

void Say(int connection, WireReply type, const std::string& body) {
  std::string message;
  AppendWireMessage(message, static_cast<WireAsk>(type), body);
  EXPECT_GE(::send(connection, message.data(), message.size(), MSG_NOSIGNAL), 0);
}

// Until the client goes.
void WaitForEnd(int connection) {
  char bytes[4096];
  while (::recv(connection, bytes, sizeof(bytes), 0) > 0) {
  }
}

void AwaitMessage(int connection) {
  char bytes[1 << 16];
  EXPECT_GT(::recv(connection, bytes, sizeof(bytes), 0), 0);
}

std::string Numbers(std::initializer_list<uint64_t> numbers) {
  std::string out;
  for (const uint64_t number : numbers) AppendWireNumber(out, number);
  return out;
}

// Ten pages of a hundred words in all.
std::string Greeting() { return std::string("\x27\x01", 2) + Numbers({10, 0, 1, 9}) + '1' + Numbers({100}) + "uuid"; }
// total length, documents, relevant, total length, no parts, no terms
std::string Statistics(uint64_t documents) { return Numbers({100, documents, 0, 100}) + '\0' + Numbers({0}); }

struct Lie {
  std::string name;
  std::function<void(int)> script;
  std::string why;
};

TEST(SearchPartsTest, APartThatHangsOrLiesIsLeftOutInTimeAndNamed) {
  TestIndex index;
  const auto dirs = index.Write({{.url = "https://a.test/1", .title = "whale", .text = "one"}});
  const auto greet = [](int c) {
    Say(c, WireReply::kUpdate, Greeting());
    AwaitMessage(c);  // for languages
    Say(c, WireReply::kDone, "");
    AwaitMessage(c);  // for statistics
  };
  const std::vector<Lie> lies = {
      {"silence", [](int c) { WaitForEnd(c); }, "no answer in time"},
      {"end", [](int) {}, "ended the connection"},
      {"http",
       [](int c) {
         EXPECT_GT(::send(c, "HTTP/1.1 400 Bad\r\n\r\n", 20, MSG_NOSIGNAL), 0);
         WaitForEnd(c);
       },
       ""},
      {"version",
       [](int c) {
         Say(c, WireReply::kUpdate, "\x10\x01");
         WaitForEnd(c);
       },
       "version 16"},
      {"huge message",
       [](int c) {
         EXPECT_GT(::send(c, "\0\xff\x7f\x7f\x7f\x7f\x8f", 7, MSG_NOSIGNAL), 0);
         WaitForEnd(c);
       },
       "a message of"},
      {"drip",
       [](int c) {
         while (::send(c, "\0\xff\x7f\x7f\x81 ", 1, MSG_NOSIGNAL) > 0) ::usleep(20'000);
       },
       ""},
      {"no statistics",
       [&](int c) {
         greet(c);
         WaitForEnd(c);
       },
       "no answer in time"},
      {"exception",
       [&](int c) {
         greet(c);
         Say(c, WireReply::kException, std::string("\x01\x00\x05", 3) + "b\033ad!");
         WaitForEnd(c);
       },
       "the server says: b\\x1bad!"},
      {"too many",
       [&](int c) {
         greet(c);
         Say(c, WireReply::kStatistics, Statistics(uint64_t{1} << 40));
         WaitForEnd(c);
       },
       "make no sense"},
      {"no results",
       [&](int c) {
         greet(c);
         Say(c, WireReply::kStatistics, Statistics(10));
         WaitForEnd(c);
       },
       "no answer in time"},
      {"results of garbage",
       [&](int c) {
         greet(c);
         Say(c, WireReply::kStatistics, Statistics(10));
         AwaitMessage(c);
         Say(c, WireReply::kResults, std::string(100, '\x07'));
         WaitForEnd(c);
       },
       "twice"},
      {"another message",
       [&](int c) {
         greet(c);
         Say(c, WireReply::kDone, "");
         WaitForEnd(c);
       },
       "of type 2"},
  };
  for (const Lie& lie : lies) {
    const ScriptedServer server(lie.script);
    const auto parts =
        SearchParts::Make(Clock::Real(),
                          {.dirs = dirs, .remotes = {AddressOf(server.port())}, .remote_step_ns = 150 * kMillisecond})
            .value();
    const int64_t begin = Clock::Real().NowNs();
    const auto answer = parts->Ask({.words = "whale"});
    ASSERT_TRUE(answer) << lie.name << answer.error().ToString();
    EXPECT_LT(Clock::Real().NowNs() - begin, 3 * kSecond) << lie.name;
    EXPECT_EQ(answer->hits.size(), 1U) << lie.name;
    ASSERT_EQ(answer->left_out.size(), 1U) << lie.name;
    EXPECT_THAT(answer->left_out[0].part, AddressOf(server.port()));
    EXPECT_THAT(answer->left_out[0].why, HasSubstr(lie.why)) << lie.name;
  }
}

TEST(SearchPartsTest, AddressesOfRemotePartsAreChecked) {
  for (const std::string bad : {"", "host", "host:", ":8019", "host:80x", "host:123456"}) {
    EXPECT_EQ(SearchParts::Make(Clock::Real(), {.remotes = {bad}}).error().code(), ErrorCode::kInvalidArgument) << bad;
  }
  const auto parts = SearchParts::Make(Clock::Real(), {.remotes = {"127.0.0.1:1"}}).value();
  EXPECT_EQ(parts->Ask({.words = "whale"}).error().code(), ErrorCode::kIo) << "nobody listens there";
}

}  // namespace
}  // namespace portolan
