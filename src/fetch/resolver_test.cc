// The resolver against a scripted name server.

#include "fetch/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <latch>
#include <map>

#include "fetch/testing/dns_server.h"
#include "fetch/testing/print_outcome.h"
#include "fetch/testing/temp_file.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Address Ip(std::string_view text) { return *Address::Parse(text); }

class Asker {
 public:
  explicit Asker(const ResolverOptions& options) {
    auto made = Resolver::Create(options, [this](Resolution&& resolution) {
      const std::lock_guard lock(mutex_);
      answers_.push_back(std::move(resolution));
      changed_.notify_all();
    });
    resolver_ = *std::move(made);
  }

  void Send(const std::string& name, uint64_t host) { resolver_->Resolve({.host = host, .name = name}); }
  std::vector<Resolution> WaitFor(size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, std::chrono::minutes(1), [&] { return answers_.size() >= count; }));
    return answers_;
  }
  Resolution Ask(const std::string& name) {
    size_t before = 0;
    {
      const std::lock_guard lock(mutex_);
      before = answers_.size();
    }
    Send(name, 7);
    return WaitFor(before + 1).back();
  }
  Resolver& resolver() { return *resolver_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Resolution> answers_;  // guarded by mutex_
  std::unique_ptr<Resolver> resolver_;
};

ResolverOptions OptionsFor(const DnsServer& server) {
  ResolverOptions options;
  options.hosts_file.clear();
  options.servers = {server.address()};
  options.timeout_ns = 100 * kMillisecond;
  options.tries = 2;
  return options;
}

TEST(ResolverTest, AddressesOfBothFamiliesWithTheirTtl) {
  DnsServer server([](const std::string&, bool) {
    return DnsReply{.addresses = {Ip("2606:4700::1"), Ip("8.8.8.8"), Ip("8.8.4.4")}, .ttl = 300};
  });
  Asker asker(OptionsFor(server));
  const Resolution first = asker.Ask("example.com");
  EXPECT_EQ(first.outcome, FetchOutcome::kAnswered);
  EXPECT_EQ(first.host, 7U);
  EXPECT_THAT(first.addresses, ElementsAre(Ip("8.8.8.8"), Ip("8.8.4.4"), Ip("2606:4700::1")));
  EXPECT_EQ(first.ttl_s, 300U);

  ResolverOptions options = OptionsFor(server);
  options.families = AddressFamilies::kV6First;
  options.max_addresses = 2;
  Asker other(options);
  EXPECT_THAT(other.Ask("example.com").addresses, ElementsAre(Ip("2606:4700::1"), Ip("8.8.8.8")));
  options.families = AddressFamilies::kV4Only;
  Asker v4(options);
  EXPECT_THAT(v4.Ask("example.com").addresses, ElementsAre(Ip("8.8.8.8"), Ip("8.8.4.4")));
}

TEST(ResolverTest, ShortestTtlOnTheWayCounts) {
  DnsServer server([](const std::string&, bool) {
    return DnsReply{.alias = "real.example.net", .alias_ttl = 120, .addresses = {Ip("8.8.8.8")}, .ttl = 3600};
  });
  Asker asker(OptionsFor(server));
  const Resolution answer = asker.Ask("www.example.com");
  EXPECT_THAT(answer.addresses, ElementsAre(Ip("8.8.8.8")));
  EXPECT_EQ(answer.ttl_s, 120U);
}

TEST(ResolverTest, CacheHoldsForTheTtlAndNoLonger) {
  DnsServer server([](const std::string&, bool) { return DnsReply{.addresses = {Ip("8.8.8.8")}, .ttl = 300}; });
  ManualClock clock;
  ResolverOptions options = OptionsFor(server);
  options.clock = &clock;
  Asker asker(options);
  EXPECT_EQ(asker.Ask("example.com").ttl_s, 300U);
  clock.Advance(100 * kSecond);
  EXPECT_EQ(asker.Ask("example.com").ttl_s, 200U);
  EXPECT_EQ(server.questions("example.com"), 1);
  clock.Advance(200 * kSecond);
  EXPECT_EQ(asker.Ask("example.com").ttl_s, 300U);
  EXPECT_EQ(server.questions("example.com"), 2);
}

TEST(ResolverTest, TtlIsHeldBetweenItsBounds) {
  DnsServer server([](const std::string& name, bool) {
    return DnsReply{.addresses = {Ip("8.8.8.8")}, .ttl = name == "short.test1" ? 0U : 1'000'000U};
  });
  Asker asker(OptionsFor(server));
  EXPECT_EQ(asker.Ask("short.test1").ttl_s, 60U);
  EXPECT_EQ(asker.Ask("long.test1").ttl_s, 86'400U);
}

TEST(ResolverTest, MissingNamesAreRememberedToo) {
  DnsServer server(
      [](const std::string& name, bool) { return name == "no-data.com" ? DnsReply{} : DnsReply{.rcode = 3}; });
  ManualClock clock;
  ResolverOptions options = OptionsFor(server);
  options.clock = &clock;
  Asker asker(options);
  for (const char* name : {"nowhere.com", "no-data.com"}) {
    for (int i = 0; i < 3; ++i) {
      const Resolution answer = asker.Ask(name);
      EXPECT_EQ(answer.outcome, FetchOutcome::kDnsNotFound);
      EXPECT_EQ(answer.ttl_s, options.negative_ttl_s);
      EXPECT_THAT(answer.addresses, IsEmpty());
    }
    EXPECT_EQ(server.questions(name), 1) << name;
  }
  clock.Advance(options.negative_ttl_s * kSecond);
  asker.Ask("nowhere.com");
  EXPECT_EQ(server.questions("nowhere.com"), 2);
}

TEST(ResolverTest, FailingServersAndSilenceAreToldApart) {
  DnsServer server([](const std::string& name, bool) -> std::optional<DnsReply> {
    if (name == "silent.com") return std::nullopt;
    if (name == "garbage.com") return DnsReply{.garbage = std::string(40, '\xff')};
    return DnsReply{.rcode = name == "servfail.com" ? 2 : 5};
  });
  Asker asker(OptionsFor(server));
  EXPECT_EQ(asker.Ask("servfail.com").outcome, FetchOutcome::kDnsFailed);
  EXPECT_EQ(asker.Ask("refused.com").outcome, FetchOutcome::kDnsFailed);
  const Resolution silent = asker.Ask("silent.com");
  EXPECT_EQ(silent.outcome, FetchOutcome::kDnsTimeout);
  EXPECT_EQ(silent.ttl_s, 30U);
  EXPECT_EQ(server.questions("silent.com"), 2) << "each try is a question";
  const FetchOutcome garbage = asker.Ask("garbage.com").outcome;
  EXPECT_TRUE(garbage == FetchOutcome::kDnsFailed || garbage == FetchOutcome::kDnsTimeout) << FetchOutcomeName(garbage);
}

TEST(ResolverTest, ServerThatAnswersTheSecondTry) {
  int seen = 0;
  DnsServer server([&](const std::string&, bool v6) -> std::optional<DnsReply> {
    if (!v6 && seen++ == 0) return std::nullopt;
    return DnsReply{.addresses = {Ip("8.8.8.8")}};
  });
  Asker asker(OptionsFor(server));
  EXPECT_EQ(asker.Ask("late.com").outcome, FetchOutcome::kAnswered);
}

TEST(ResolverTest, SecondServerHelps) {
  DnsServer dead([](const std::string&, bool) -> std::optional<DnsReply> { return std::nullopt; });
  DnsServer good([](const std::string&, bool) { return DnsReply{.addresses = {Ip("8.8.8.8")}}; });
  ResolverOptions options = OptionsFor(dead);
  options.servers.push_back(good.address());
  Asker asker(options);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(asker.Ask("n" + std::to_string(i) + ".com").outcome, FetchOutcome::kAnswered);
  }
}

TEST(ResolverTest, PrivateAddressesAreRefused) {
  DnsServer server([](const std::string& name, bool) {
    if (name == "mixed.com") return DnsReply{.addresses = {Ip("10.0.0.1"), Ip("8.8.8.8"), Ip("fe80::1")}};
    return DnsReply{.addresses = {Ip("192.168.0.1"), Ip("127.0.0.1"), Ip("::1")}};
  });
  Asker asker(OptionsFor(server));
  EXPECT_THAT(asker.Ask("mixed.com").addresses, ElementsAre(Ip("8.8.8.8")));
  const Resolution inside = asker.Ask("printer.com");
  EXPECT_EQ(inside.outcome, FetchOutcome::kAddressForbidden);
  EXPECT_THAT(inside.addresses, IsEmpty());
  ResolverOptions options = OptionsFor(server);
  options.allow_private = true;
  Asker trusting(options);
  EXPECT_EQ(trusting.Ask("printer.com").addresses.size(), 3U);
}

TEST(ResolverTest, LiteralsAnswerThemselvesAndAreChecked) {
  DnsServer server([](const std::string&, bool) { return DnsReply{.rcode = 3}; });
  Asker asker(OptionsFor(server));
  EXPECT_THAT(asker.Ask("8.8.8.8").addresses, ElementsAre(Ip("8.8.8.8")));
  EXPECT_THAT(asker.Ask("[2606:4700::1]").addresses, ElementsAre(Ip("2606:4700::1")));
  EXPECT_EQ(asker.Ask("127.0.0.1").outcome, FetchOutcome::kAddressForbidden);
  EXPECT_EQ(asker.Ask("[::ffff:10.0.0.1]").outcome, FetchOutcome::kAddressForbidden);
  EXPECT_EQ(server.questions(), 0);
}

TEST(ResolverTest, NamesThatTheDnsCannotHoldDoNotExist) {
  DnsServer server([](const std::string&, bool) { return DnsReply{.rcode = 3}; });
  Asker asker(OptionsFor(server));
  EXPECT_EQ(asker.Ask(std::string(300, 'a') + ".com").outcome, FetchOutcome::kDnsNotFound);
  EXPECT_EQ(asker.Ask("a..b").outcome, FetchOutcome::kDnsNotFound);
  EXPECT_EQ(asker.Ask("").outcome, FetchOutcome::kDnsNotFound);
}

// A forger who need not guess the port has only the 16 bits of the question's number to guess.
TEST(ResolverTest, EachQuestionHasASourcePortOfItsOwnAndARandomNumber) {
  constexpr int kNames = 400;
  std::latch all_out(1);
  DnsServer server([&](const std::string&, bool) {
    all_out.wait();
    return DnsReply{.addresses = {Ip("8.8.8.8")}};
  });
  ResolverOptions options = OptionsFor(server);
  options.families = AddressFamilies::kV4Only;
  options.timeout_ns = 30 * kSecond;
  options.max_outstanding = kNames / 4;  // some at once, some one after the other
  Asker asker(options);
  for (uint64_t i = 0; i < kNames; ++i) asker.Send("n" + std::to_string(i) + ".com", i);
  all_out.count_down();
  for (const Resolution& answer : asker.WaitFor(kNames)) ASSERT_EQ(answer.outcome, FetchOutcome::kAnswered);
  std::map<uint16_t, int> by_port;
  std::map<uint16_t, int> by_id;
  int neighbours = 0;
  uint16_t before = 0;
  const auto senders = server.senders();
  ASSERT_EQ(senders.size(), size_t{kNames});
  for (const DnsServer::Sender& sender : senders) {
    ++by_port[sender.port];
    ++by_id[sender.id];
    neighbours += static_cast<uint16_t>(sender.port - before) <= 2;
    before = sender.port;
  }
  // Of 28,000 ports and 65,536 numbers, drawn at random, a few come twice; one in a thousand says more than luck.
  EXPECT_GT(by_port.size(), size_t{kNames} * 9 / 10);
  EXPECT_GT(by_id.size(), size_t{kNames} * 9 / 10);
  EXPECT_LT(neighbours, kNames / 10) << "ports are drawn, not counted up";
}

TEST(ResolverTest, NamesForAProxyAreNotAskedForAndHaveAStandInEach) {
  DnsServer server([](const std::string&, bool) { return DnsReply{.addresses = {Ip("8.8.8.8")}}; });
  const TempFile file("10.0.0.1 a.com\n");
  ResolverOptions options = OptionsFor(server);
  options.hosts_file = file.path();
  options.names_by_proxy = true;
  Asker asker(options);
  const Resolution a = asker.Ask("a.com");
  EXPECT_EQ(a.outcome, FetchOutcome::kAnswered);
  EXPECT_FALSE(a.fresh);
  EXPECT_THAT(a.addresses, ElementsAre(Address::Unresolved("a.com", HashKey::Known())));
  EXPECT_THAT(asker.Ask("b.com").addresses, ElementsAre(Address::Unresolved("b.com", HashKey::Known())));
  EXPECT_THAT(asker.Ask("8.8.8.8").addresses, ElementsAre(Ip("8.8.8.8")));
  EXPECT_EQ(asker.Ask("10.0.0.1").outcome, FetchOutcome::kAddressForbidden);
  EXPECT_EQ(asker.Ask("[::1]").outcome, FetchOutcome::kAddressForbidden);
  EXPECT_EQ(asker.Ask("localhost").outcome, FetchOutcome::kAddressForbidden);
  EXPECT_EQ(server.questions(), 0);
  options.allow_private = true;
  Asker free(options);
  EXPECT_THAT(free.Ask("localhost").addresses, ElementsAre(Address::Unresolved("localhost", HashKey::Known())));
}

TEST(ResolverTest, SameQuestionsAreJoinedAndOutstandingOnesBounded) {
  std::latch go(1);
  DnsServer server([&](const std::string&, bool) {
    go.wait();
    return DnsReply{.addresses = {Ip("8.8.8.8")}};
  });
  ResolverOptions options = OptionsFor(server);
  options.families = AddressFamilies::kV4Only;
  options.timeout_ns = 30 * kSecond;
  options.max_outstanding = 2;
  options.max_waiting = 100;
  Asker asker(options);
  for (uint64_t i = 0; i < 60; ++i) asker.Send("joined.com", i);
  for (uint64_t i = 60; i < 150; ++i) asker.Send("n" + std::to_string(i) + ".com", i);
  // Beyond max_waiting the answer is ours, at once.
  for (const Resolution& refused : asker.WaitFor(50)) EXPECT_EQ(refused.outcome, FetchOutcome::kLocal);
  EXPECT_LE(server.questions(), 2);
  go.count_down();
  const auto all = asker.WaitFor(150);
  std::vector<int> seen(150, 0);
  for (const Resolution& answer : all) ++seen[answer.host];
  EXPECT_THAT(seen, testing::Each(1));
  EXPECT_EQ(server.questions("joined.com"), 1);
  const Resolver::Counters& counters = asker.resolver().counters();
  EXPECT_EQ(counters.asked, 41U);
  EXPECT_EQ(counters.joined, 59U);
  EXPECT_EQ(counters.refused, 50U);
}

TEST(ResolverTest, CacheIsBounded) {
  DnsServer server([](const std::string&, bool) { return DnsReply{.addresses = {Ip("8.8.8.8")}}; });
  ResolverOptions options = OptionsFor(server);
  options.cache_entries = 2;
  Asker asker(options);
  asker.Ask("a.com");
  asker.Ask("b.com");
  asker.Ask("a.com");
  asker.Ask("c.com");  // b.com was not used for longest
  asker.Ask("a.com");
  EXPECT_EQ(server.questions("a.com"), 1);
  asker.Ask("b.com");
  EXPECT_EQ(server.questions("b.com"), 2);
}

TEST(ResolverTest, StopCancelsWhatIsOutAndWhatWaits) {
  DnsServer server([](const std::string&, bool) -> std::optional<DnsReply> { return std::nullopt; });
  ResolverOptions options = OptionsFor(server);
  options.timeout_ns = 60 * kSecond;
  options.max_outstanding = 5;
  Asker asker(options);
  for (uint64_t i = 0; i < 50; ++i) asker.Send("n" + std::to_string(i % 40) + ".com", i);
  asker.resolver().Stop();
  const auto all = asker.WaitFor(50);
  ASSERT_EQ(all.size(), 50U);
  for (const Resolution& answer : all) EXPECT_EQ(answer.outcome, FetchOutcome::kCancelled);
}

TEST(ResolverTest, WrongServersAreRefused) {
  ResolverOptions options;
  options.servers = {"not an address"};
  EXPECT_EQ(Resolver::Create(options, [](Resolution&&) {}).error().code(), ErrorCode::kInvalidArgument);
}

TEST(ResolverTest, ThousandsOfNames) {
  DnsServer server([](const std::string& name, bool) {
    return DnsReply{.addresses = {Address::V4(0x08000000 + static_cast<uint32_t>(std::stoul(name.substr(1))))}};
  });
  ResolverOptions options = OptionsFor(server);
  options.timeout_ns = 5 * kSecond;
  options.max_outstanding = 50;
  Asker asker(options);
  for (uint32_t i = 0; i < 3000; ++i) asker.Send("n" + std::to_string(i) + ".com", i);
  for (const Resolution& answer : asker.WaitFor(3000)) {
    ASSERT_EQ(answer.outcome, FetchOutcome::kAnswered);
    ASSERT_THAT(answer.addresses, ElementsAre(Address::V4(0x08000000 + static_cast<uint32_t>(answer.host))));
  }
}

}  // namespace
}  // namespace portolan
