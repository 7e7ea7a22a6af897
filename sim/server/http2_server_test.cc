// HTTP/2 as libcurl sees it: answers, many streams at once, and the faults that streams know.

#include <curl/curl.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/server/server_fixture.h"

namespace portolan::sim {
namespace {

constexpr size_t kBodyBytes = 100'000;

class Http2ServerTest : public testing::Test {
 protected:
  struct Fetched {
    CURLcode code = CURLE_OK;
    long status = 0;
    long version = 0;
    std::string body;
    size_t most = ~size_t{0};  // the client leaves after so many bytes
  };

  static size_t Take(char* data, size_t size, size_t count, void* to) {
    auto* fetched = static_cast<Fetched*>(to);
    fetched->body.append(data, size * count);
    return fetched->body.size() > fetched->most ? 0 : size * count;
  }

  void Add(const std::string& path, WireFault fault, uint64_t fault_at = 0, int64_t delay_ns = 0) {
    Answer& answer = site_.pages[path];
    answer.headers = {{"Content-Type", "text/html"}};
    answer.body = std::string(kBodyBytes, 'b');
    answer.fault = fault;
    answer.fault_at = fault_at;
    answer.delay_ns = delay_ns;
  }

  void Serve() {
    auto server = SimServer::Start({.hits = &sink_, .visit_entries = 64}, site_);
    ASSERT_TRUE(server.has_value()) << server.error().ToString();
    server_ = *std::move(server);
  }

  CURL* Prepare(const std::string& path, Fetched& fetched, long most_ms = 20'000) {
    CURL* curl = curl_easy_init();
    const std::string port = std::to_string(server_->ports().https);
    curl_easy_setopt(curl, CURLOPT_URL, ("https://h.test:" + port + path).c_str());
    resolve_.push_back(curl_slist_append(nullptr, ("h.test:" + port + ":127.0.0.1").c_str()));
    curl_easy_setopt(curl, CURLOPT_RESOLVE, resolve_.back());
    curl_blob ca = {const_cast<char*>(server_->ca_pem().data()), server_->ca_pem().size(), CURL_BLOB_COPY};
    curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &ca);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &fetched);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, most_ms);
    curl_easy_setopt(curl, CURLOPT_PIPEWAIT, 1L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    return curl;
  }

  static void Finish(CURL* curl, Fetched& fetched) {
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &fetched.status);
    curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &fetched.version);
    curl_easy_cleanup(curl);
  }

  Fetched Fetch(const std::string& path, long most_ms = 20'000, size_t most = ~size_t{0}) {
    Fetched fetched;
    fetched.most = most;
    CURL* curl = Prepare(path, fetched, most_ms);
    fetched.code = curl_easy_perform(curl);
    Finish(curl, fetched);
    return fetched;
  }

  ~Http2ServerTest() override {
    for (curl_slist* list : resolve_) curl_slist_free_all(list);
  }

  TableSite site_;
  ListSink sink_;
  std::unique_ptr<SimServer> server_;
  std::vector<curl_slist*> resolve_;
};

TEST_F(Http2ServerTest, AnswersWholeAndLogsTheHit) {
  Add("/", WireFault::kNone);
  Serve();
  const Fetched fetched = Fetch("/");
  EXPECT_EQ(fetched.code, CURLE_OK);
  EXPECT_EQ(fetched.status, 200);
  EXPECT_EQ(fetched.version, CURL_HTTP_VERSION_2_0);
  EXPECT_EQ(fetched.body, site_.pages["/"].body);
  EXPECT_EQ(Fetch("/none").status, 404);
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 2; }));
  const auto hits = sink_.hits();
  ASSERT_EQ(hits.size(), 2U);
  EXPECT_EQ(hits[0].path, "/");
  EXPECT_EQ(hits[0].host, "h.test");
  EXPECT_EQ(hits[0].hit.status, 200);
  EXPECT_TRUE(hits[0].hit.tls);
  EXPECT_GE(hits[0].hit.bytes, kBodyBytes);
}

TEST_F(Http2ServerTest, ManyStreamsShareOneConnection) {
  constexpr size_t kStreams = 40;
  // Less than one read of libcurl's: 7.88 forgets, once in fifty times, what it holds of longer bodies of streams that
  // share a connection. The server had sent all of it.
  constexpr size_t kShort = 15'000;
  Add("/", WireFault::kNone);
  Add("/slow", WireFault::kSlowFirstByte, 0, 50 * kMillisecond);
  for (auto& [path, answer] : site_.pages) answer.body.resize(kShort);
  Serve();
  CURLM* multi = curl_multi_init();
  std::vector<Fetched> fetched(kStreams);
  std::vector<CURL*> handles;
  for (size_t i = 0; i < kStreams; ++i) {
    handles.push_back(Prepare(i % 4 == 0 ? "/slow" : "/", fetched[i]));
    curl_multi_add_handle(multi, handles.back());
  }
  int running = 1;
  while (running > 0) {
    ASSERT_EQ(curl_multi_perform(multi, &running), CURLM_OK);
    if (running > 0) curl_multi_poll(multi, nullptr, 0, 1000, nullptr);
  }
  for (size_t i = 0; i < kStreams; ++i) {
    curl_multi_remove_handle(multi, handles[i]);
    Finish(handles[i], fetched[i]);
    EXPECT_EQ(fetched[i].status, 200);
    EXPECT_EQ(fetched[i].body.size(), kShort);
  }
  curl_multi_cleanup(multi);
  EXPECT_EQ(sink_.opens().size(), 1U);
  EXPECT_EQ(sink_.hits().size(), kStreams);
  for (const auto& hit : sink_.hits()) EXPECT_GE(hit.hit.bytes, kShort);
}

TEST_F(Http2ServerTest, FaultsOfStreams) {
  Add("/reset", WireFault::kReset);
  Add("/garbage", WireFault::kGarbage);
  Add("/cut", WireFault::kCloseEarly, 1000);
  Add("/long", WireFault::kLongLength);
  Add("/flood", WireFault::kHeaderFlood, 1 << 20);
  Add("/", WireFault::kNone);
  Serve();
  for (const char* path : {"/reset", "/garbage"}) {
    const Fetched fetched = Fetch(path);
    EXPECT_NE(fetched.code, CURLE_OK) << path;
    EXPECT_EQ(fetched.status, 0) << path;
  }
  const Fetched cut = Fetch("/cut");
  EXPECT_NE(cut.code, CURLE_OK);
  EXPECT_EQ(cut.body.size(), 1000U);
  EXPECT_NE(Fetch("/long").code, CURLE_OK);
  EXPECT_NE(Fetch("/flood").code, CURLE_OK);
  EXPECT_EQ(Fetch("/").code, CURLE_OK);  // the server goes on
}

TEST_F(Http2ServerTest, TarpitAndEndlessAreLeftByTheClient) {
  Add("/tarpit", WireFault::kTarpit, 0, 20 * kMillisecond);
  Add("/endless", WireFault::kEndless);
  Serve();
  const Fetched tarpit = Fetch("/tarpit", 400);
  EXPECT_EQ(tarpit.code, CURLE_OPERATION_TIMEDOUT);
  EXPECT_LE(tarpit.body.size(), 20U);
  const Fetched endless = Fetch("/endless", 20'000, 5 << 20);
  EXPECT_EQ(endless.code, CURLE_WRITE_ERROR);
  EXPECT_GT(endless.body.size(), size_t{5} << 20);
  ASSERT_TRUE(Eventually([&] { return sink_.closes() == 2; }));
  EXPECT_EQ(sink_.hits().size(), 2U);  // given up, and logged so
}

}  // namespace
}  // namespace portolan::sim
