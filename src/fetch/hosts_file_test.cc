// The hosts file, alone and as the resolver uses it.

#include "fetch/hosts_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>

#include "fetch/resolver.h"
#include "fetch/testing/dns_server.h"
#include "fetch/testing/print_outcome.h"
#include "fetch/testing/temp_file.h"

namespace portolan {
namespace {

using testing::ElementsAre;
using testing::IsNull;
using testing::Pointee;

Address Ip(std::string_view text) { return *Address::Parse(text); }

TEST(HostsFileTest, LinesAsPeopleWriteThem) {
  const TempFile file(
      "# comment\n"
      "127.0.0.1\tlocalhost\n"
      "10.0.0.1  Intranet.Example  intranet # the printer\r\n"
      "::1 localhost ip6-localhost\n"
      "  10.0.0.2 indented\n"
      "10.0.0.3 intranet\n"
      "10.0.0.3 intranet\n"
      "not-an-address name\n"
      "fe80::1%lo0 zoned\n"
      "[::2] bracketed\n"
      "10.0.0.4\n"
      "10.0.0.5 dotted. #\n"
      "10.0.0.6 last");
  HostsFile hosts(file.path());
  EXPECT_THAT(hosts.Find("localhost", 0), Pointee(ElementsAre(Ip("127.0.0.1"), Ip("::1"))));
  EXPECT_THAT(hosts.Find("intranet.example", 0), Pointee(ElementsAre(Ip("10.0.0.1"))));
  EXPECT_THAT(hosts.Find("intranet", 0), Pointee(ElementsAre(Ip("10.0.0.1"), Ip("10.0.0.3"))));
  EXPECT_THAT(hosts.Find("intranet.", 0), Pointee(ElementsAre(Ip("10.0.0.1"), Ip("10.0.0.3"))));
  EXPECT_THAT(hosts.Find("indented", 0), Pointee(ElementsAre(Ip("10.0.0.2"))));
  EXPECT_THAT(hosts.Find("dotted", 0), Pointee(ElementsAre(Ip("10.0.0.5"))));
  EXPECT_THAT(hosts.Find("last", 0), Pointee(ElementsAre(Ip("10.0.0.6"))));
  for (const char* none : {"name", "zoned", "bracketed", "the", "printer", "#", "", ".", "10.0.0.1"}) {
    EXPECT_THAT(hosts.Find(none, 0), IsNull()) << none;
  }
}

TEST(HostsFileTest, IsReadAgainWhenItChangedAndNotLookedAtMoreThanOnceASecond) {
  const TempFile file("10.0.0.1 a\n");
  HostsFile hosts(file.path());
  EXPECT_THAT(hosts.Find("a", 0), Pointee(ElementsAre(Ip("10.0.0.1"))));
  file.Write("10.0.0.2 a\n");
  EXPECT_THAT(hosts.Find("a", kSecond - 1), Pointee(ElementsAre(Ip("10.0.0.1"))));
  EXPECT_THAT(hosts.Find("a", kSecond), Pointee(ElementsAre(Ip("10.0.0.2"))));
  std::filesystem::remove(file.path());
  EXPECT_THAT(hosts.Find("a", 2 * kSecond), IsNull());
  file.Write("10.0.0.3 a\n");
  EXPECT_THAT(hosts.Find("a", 3 * kSecond), Pointee(ElementsAre(Ip("10.0.0.3"))));
}

TEST(HostsFileTest, WhatIsNoFileNamesNobody) {
  for (const char* path : {"", "/", "/dev/zero", "/nonexistent/hosts"}) {
    HostsFile hosts(path);
    EXPECT_THAT(hosts.Find("localhost", 0), IsNull()) << path;
  }
}

TEST(HostsFileTest, OfALongFileTheBeginningCounts) {
  std::string text = "10.0.0.1 first\n";
  while (text.size() + 2000 < HostsFile::kMaxBytes) text += "#" + std::string(998, 'x') + "\n";
  text += "10.0.0.2 near-the-end\n#";
  text += std::string(HostsFile::kMaxBytes - text.size() - 12, 'x');
  text += "\n10.0.0.3 cut\n10.0.0.4 beyond\n";  // the limit is inside the line of "cut"
  const TempFile file(text);
  HostsFile hosts(file.path());
  EXPECT_THAT(hosts.Find("first", 0), Pointee(ElementsAre(Ip("10.0.0.1"))));
  EXPECT_THAT(hosts.Find("near-the-end", 0), Pointee(ElementsAre(Ip("10.0.0.2"))));
  for (const char* none : {"c", "cu", "cut", "beyond"}) EXPECT_THAT(hosts.Find(none, 0), IsNull()) << none;
}

TEST(HostsFileTest, LocalhostAndWhatIsBelowIt) {
  for (const char* name : {"localhost", "localhost.", "a.localhost", "a.b.localhost."}) EXPECT_TRUE(IsLocalhost(name));
  for (const char* name : {"", ".", "notlocalhost", "localhost.com", "localhos", "localhost.."}) {
    EXPECT_FALSE(IsLocalhost(name)) << name;
  }
}

class HostsResolverTest : public testing::Test {
 protected:
  Resolution Ask(const ResolverOptions& options, const std::string& name) {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<Resolution> answer;
    auto resolver = Resolver::Create(options, [&](Resolution&& resolution) {
      const std::lock_guard lock(mutex);
      answer = std::move(resolution);
      changed.notify_all();
    });
    EXPECT_TRUE(resolver);
    (*resolver)->Resolve({.host = 1, .name = name});
    std::unique_lock lock(mutex);
    EXPECT_TRUE(changed.wait_for(lock, std::chrono::minutes(1), [&] { return answer.has_value(); }));
    return *answer;
  }

  ResolverOptions Options(const std::string& hosts_file) {
    ResolverOptions options;
    options.servers = {server_.address()};
    options.hosts_file = hosts_file;
    options.allow_private = true;
    return options;
  }

  DnsServer server_{[](const std::string&, bool) { return DnsReply{.addresses = {Ip("8.8.8.8")}}; }};
};

TEST_F(HostsResolverTest, TheFileCountsBeforeTheDns) {
  const TempFile file("10.0.0.1 here.com\n::2 here.com\n8.8.4.4 public.com\n10.0.0.1 both.com\n8.8.4.4 both.com\n");
  ResolverOptions options = Options(file.path());
  const Resolution here = Ask(options, "here.com");
  EXPECT_THAT(here.addresses, ElementsAre(Ip("10.0.0.1"), Ip("::2")));
  EXPECT_EQ(here.ttl_s, options.min_ttl_s);
  EXPECT_FALSE(here.fresh);
  EXPECT_EQ(server_.questions(), 0);
  EXPECT_THAT(Ask(options, "elsewhere.com").addresses, ElementsAre(Ip("8.8.8.8")));
  options.families = AddressFamilies::kV6Only;
  EXPECT_THAT(Ask(options, "here.com").addresses, ElementsAre(Ip("::2")));
  // Nothing of the family in the file: the DNS may have it.
  options.families = AddressFamilies::kV4Only;
  const TempFile v6("::2 six.com\n");
  options.hosts_file = v6.path();
  EXPECT_THAT(Ask(options, "six.com").addresses, ElementsAre(Ip("8.8.8.8")));
}

TEST_F(HostsResolverTest, PrivateAddressesOfTheFileAreRefusedUnlessAllowed) {
  const TempFile file("10.0.0.1 here.com both.com\n8.8.4.4 public.com both.com\n0.0.0.0 blocked.com\n");
  ResolverOptions options = Options(file.path());
  EXPECT_EQ(Ask(options, "blocked.com").outcome, FetchOutcome::kAddressForbidden);
  options.allow_private = false;
  EXPECT_EQ(Ask(options, "here.com").outcome, FetchOutcome::kAddressForbidden);
  EXPECT_THAT(Ask(options, "public.com").addresses, ElementsAre(Ip("8.8.4.4")));
  EXPECT_THAT(Ask(options, "both.com").addresses, ElementsAre(Ip("8.8.4.4")));
  EXPECT_EQ(Ask(options, "localhost").outcome, FetchOutcome::kAddressForbidden);
  EXPECT_EQ(Ask(options, "a.localhost").outcome, FetchOutcome::kAddressForbidden);
  EXPECT_EQ(server_.questions(), 0);
}

TEST_F(HostsResolverTest, LocalhostIsThisMachineWithoutAFile) {
  ResolverOptions options = Options("");
  for (const char* name : {"localhost", "a.localhost", "localhost."}) {
    EXPECT_THAT(Ask(options, name).addresses, ElementsAre(Ip("127.0.0.1"), Ip("::1"))) << name;
  }
  options.families = AddressFamilies::kV6Only;
  EXPECT_THAT(Ask(options, "localhost").addresses, ElementsAre(Ip("::1")));
  EXPECT_EQ(server_.questions(), 0);
  // What the administrator wrote counts before that.
  const TempFile file("127.0.0.2 a.localhost\n");
  options = Options(file.path());
  EXPECT_THAT(Ask(options, "a.localhost").addresses, ElementsAre(Ip("127.0.0.2")));
}

}  // namespace
}  // namespace portolan
