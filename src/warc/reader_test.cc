#include "warc/reader.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <zlib.h>

#include <map>
#include <string>
#include <vector>

#include "io/rng.h"

namespace portolan {
namespace {

std::string Gzip(std::string_view bytes) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, bytes.size()) + 32, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string Record(std::string_view uri, std::string_view block, std::string_view more = {}, int length = -1) {
  return "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"
         "Content-Type: text/plain\r\nWARC-Target-URI: " +
         std::string(uri) + "\r\n" + std::string(more) +
         "Content-Length: " + std::to_string(length < 0 ? static_cast<int>(block.size()) : length) + "\r\n\r\n" +
         std::string(block) + "\r\n\r\n";
}

struct Seen {
  std::vector<std::string> uris;
  std::vector<std::string> blocks;
  std::vector<std::pair<uint64_t, uint64_t>> places;
  std::vector<Fault> faults;
  WarcReaderStats stats;
  std::vector<FaultKind> kinds() const {
    std::vector<FaultKind> out;
    for (const Fault& fault : faults) out.push_back(fault.kind);
    return out;
  }
};

Seen ReadAll(const std::string& bytes, bool strict = true) {
  Seen seen;
  WarcReaderOptions options;
  options.strict = strict;
  options.faults = [&](const Fault& fault) { seen.faults.push_back(fault); };
  WarcReader reader(MemorySource(bytes), options);
  while (reader.Next().value()) {
    seen.uris.emplace_back(reader.record().uri());
    std::string block;
    for (;;) {
      const std::string_view piece = reader.ReadBlock().value();
      if (piece.empty()) break;
      block.append(piece);
    }
    seen.blocks.push_back(block);
    EXPECT_TRUE(reader.Finish().has_value());
    seen.places.emplace_back(reader.record().offset, reader.record().length);
  }
  seen.stats = reader.stats();
  return seen;
}

using Uris = std::vector<std::string>;
using Kinds = std::vector<FaultKind>;

TEST(WarcReaderTest, PlainRecordsHaveTheirPlaces) {
  const std::string one = Record("http://a/", "alpha");
  const Seen seen = ReadAll(one + Record("http://b/", "beta"));
  EXPECT_EQ(seen.uris, (Uris{"http://a/", "http://b/"}));
  EXPECT_EQ(seen.blocks, (Uris{"alpha", "beta"}));
  EXPECT_EQ(seen.places[0], std::make_pair(uint64_t{0}, uint64_t{one.size() - 4}));
  EXPECT_EQ(seen.places[1].first, one.size());
  EXPECT_TRUE(seen.faults.empty());
}

TEST(WarcReaderTest, GzipRecordsHaveTheirMembersPlaces) {
  const std::string one = Gzip(Record("http://a/", "alpha"));
  const std::string two = Gzip(Record("http://b/", std::string(200'000, 'x')));
  const Seen seen = ReadAll(one + two);
  EXPECT_EQ(seen.places[0], std::make_pair(uint64_t{0}, uint64_t{one.size()}));
  EXPECT_EQ(seen.places[1], std::make_pair(uint64_t{one.size()}, uint64_t{two.size()}));
  EXPECT_EQ(seen.blocks[1].size(), 200'000U);
  EXPECT_TRUE(seen.faults.empty());
}

TEST(WarcReaderTest, RecordsOfOneGzipMemberAreReadAndNamed) {
  const Seen seen = ReadAll(Gzip(Record("http://a/", "alpha") + Record("http://b/", "beta")));
  EXPECT_EQ(seen.uris, (Uris{"http://a/", "http://b/"}));
  EXPECT_EQ(seen.kinds(), Kinds{FaultKind::kSharedMember});
}

TEST(WarcReaderTest, ARecordMaySpanMembers) {
  const std::string record = Record("http://a/", std::string(1000, 'y'));
  const Seen seen = ReadAll(Gzip(record.substr(0, 500)) + Gzip(record.substr(500)));
  EXPECT_EQ(seen.blocks, Uris{std::string(1000, 'y')});
}

TEST(WarcReaderTest, ALengthThatIsTooLongEndsWithTheMember) {
  const Seen seen = ReadAll(Gzip(Record("http://a/", "alpha", "", 5000)) + Gzip(Record("http://b/", "beta")));
  EXPECT_EQ(seen.uris, (Uris{"http://a/", "http://b/"}));
  EXPECT_EQ(seen.blocks[1], "beta");
  EXPECT_EQ(seen.kinds(), Kinds{FaultKind::kTruncatedRecord});
}

TEST(WarcReaderTest, ALengthThatIsTooShortLeavesBytesThatAreCounted) {
  const Seen seen = ReadAll(Record("http://a/", "alphabet", "", 5) + Record("http://b/", "beta"));
  EXPECT_EQ(seen.uris, (Uris{"http://a/", "http://b/"}));
  EXPECT_EQ(seen.kinds(), (Kinds{FaultKind::kBadRecordEnd, FaultKind::kGarbage}));
  EXPECT_EQ(seen.stats.skipped_bytes, 7U);
}

TEST(WarcReaderTest, ABrokenMemberCostsOnlyItself) {
  const std::string one = Gzip(Record("http://a/", "alpha"));
  std::string two = Gzip(Record("http://b/", "beta and more of it"));
  two[40] = static_cast<char>(two[40] ^ 0x55);
  const std::string three = Gzip(Record("http://c/", "gamma"));
  const Seen seen = ReadAll(one + two + three);
  EXPECT_EQ(seen.uris.front(), "http://a/");
  EXPECT_EQ(seen.uris.back(), "http://c/");
  EXPECT_EQ(seen.blocks.back(), "gamma");
  EXPECT_EQ(seen.places.back(), std::make_pair(uint64_t{one.size() + two.size()}, uint64_t{three.size()}));
  EXPECT_EQ(seen.faults.front().kind, FaultKind::kGzipData);
  EXPECT_EQ(seen.faults.front().offset, one.size());
}

// A crash in the middle of a record, and a restart that appended to the same file.
TEST(WarcReaderTest, AWholeMemberBehindACutOneIsFound) {
  const std::string one = Gzip(Record("http://a/", std::string(3000, 'q') + "alpha"));
  const std::string two = Gzip(Record("http://b/", "beta"));
  for (size_t cut = 20; cut < one.size(); ++cut) {
    const Seen seen = ReadAll(one.substr(0, cut) + two);
    ASSERT_FALSE(seen.uris.empty()) << cut;
    EXPECT_EQ(seen.uris.back(), "http://b/") << cut;
    EXPECT_EQ(seen.places.back().first, cut);
    EXPECT_FALSE(seen.faults.empty());
  }
}

TEST(WarcReaderTest, GarbageBetweenMembersIsNamedWithItsOffset) {
  const std::string one = Gzip(Record("http://a/", "alpha"));
  const Seen seen = ReadAll(one + "monkeys" + Gzip(Record("http://b/", "beta")) + std::string(16, '\0'));
  EXPECT_EQ(seen.uris, (Uris{"http://a/", "http://b/"}));
  EXPECT_EQ(seen.kinds(), (Kinds{FaultKind::kGzipGarbage, FaultKind::kGzipGarbage}));
  EXPECT_EQ(seen.faults[0].offset, one.size());
}

TEST(WarcReaderTest, DigestsAreChecked) {
  const std::string good = "WARC-Block-Digest: sha1:BE7LYLNDEDUWQYIYUIGNEN3AL76C3JVL\r\n";
  const Seen wrong = ReadAll(Record("http://a/", "alpha", good));
  EXPECT_EQ(wrong.kinds(), Kinds{FaultKind::kBlockDigest});
  Digester sha256(DigestKind::kSha256);
  sha256.Update("alpha");
  const std::string right = "WARC-Payload-Digest: sha256:" + Base16(sha256.Finish()) + "\r\n";
  EXPECT_TRUE(ReadAll(Record("http://a/", "alpha", right)).faults.empty());
  EXPECT_EQ(ReadAll(Record("http://a/", "alphA", right)).kinds(), Kinds{FaultKind::kPayloadDigest});
}

TEST(WarcReaderTest, APayloadDigestWithoutChunkingIsRightToo) {
  for (const std::string_view digested : {"5\r\nalpha\r\n0\r\n\r\n", "alpha"}) {
    Digester sha1;
    sha1.Update(digested);
    const std::string block = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nalpha\r\n0\r\n\r\n";
    std::string record = Record("http://a/", block, "WARC-Payload-Digest: " + LabelledSha1(sha1.Finish()) + "\r\n");
    record.replace(record.find("resource"), 8, "response");
    EXPECT_TRUE(ReadAll(record).faults.empty());
  }
}

TEST(WarcReaderTest, FieldsMayContinueRepeatAndBeInAnyCase) {
  WarcReader reader(MemorySource("warc/1.1\nwarc-TYPE: RESPONSE\nX-A: one\n  two\n\tthree\nx-a: again\n"
                                 "content-length:0\n\n"),
                    {});
  ASSERT_TRUE(reader.Next().value());
  const WarcRecord& record = reader.record();
  EXPECT_EQ(record.type, WarcType::kResponse);
  EXPECT_EQ(record.fields.Get("X-A"), "one two three");
  EXPECT_EQ(record.fields.Count("x-A"), 2U);
}

TEST(WarcReaderTest, ArcOfBothVersionsIsRead) {
  const std::string v1 =
      "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 69\n1 0 Somebody\nURL IP-address Archive-date Content-type "
      "Archive-length\n\n\nhttp://a/b c 10.0.0.1 20200102030405 text/html 31\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n"
      "hello!\n\n";
  const Seen one = ReadAll(v1, false);
  EXPECT_EQ(one.uris, (Uris{"filedesc://x.arc", "http://a/b c"}));
  const std::string v2 =
      "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 200 - - 0 x.arc 14\n2 0 Somebody\n\n\n"
      "http://a/ 10.0.0.1 20200102030405 text/html 200 - - 95 x.arc 5\nhello\n";
  WarcReader reader(MemorySource(v2), {});
  ASSERT_TRUE(reader.Next().value());
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.record().format, ArchiveFormat::kArc2);
  EXPECT_EQ(reader.record().fields.Get("Result-code"), "200");
  EXPECT_EQ(reader.record().uri(), "http://a/");
  EXPECT_EQ(reader.ReadBlock().value(), "hello");
  EXPECT_FALSE(reader.Next().value());
}

// What the fields of an ARC file's second record are; "" where it is not read.
std::string ArcFields(const std::string& line, bool version_2 = false) {
  const std::string file = version_2 ? "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 200 - - 0 x.arc 4\n2 0\n\n"
                                     : "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 4\n1 0\n\n";
  const std::string bytes = file + line + "\nhello\nhttp://end/ 10.0.0.9 20200102030405 text/html 3\nend\n";
  WarcReader reader(MemorySource(bytes), {});
  EXPECT_TRUE(reader.Next().value());
  if (!reader.Next().value() || reader.record().uri() == "http://end/") return "";
  const FieldList& fields = reader.record().fields;
  std::string out = std::string(reader.record().uri()) + "|" + std::string(fields.Get("IP-address")) + "|" +
                    reader.record().Timestamp() + "|" + std::string(fields.Get("Content-type"));
  EXPECT_EQ(reader.ReadBlock().value(), "hello") << line;
  EXPECT_TRUE(reader.Next().value()) << line;
  EXPECT_EQ(reader.record().uri(), "http://end/") << line;
  return out;
}

TEST(WarcReaderTest, ArcLinesThatOtherReadersTakeAreRead) {
  EXPECT_EQ(ArcFields("http://a/b c 10.0.0.1 20200102030405 text/html 5"),
            "http://a/b c|10.0.0.1|20200102030405|text/html");
  const std::string good = "http://a/|10.0.0.1|20200102030405|text/html";
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 text/html 5\r"), good);
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 text/html 5\r\r"), good);
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 text/html 5 "), good);
  EXPECT_EQ(ArcFields("http://a/  10.0.0.1 20200102030405 text/html 5"), good);
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1  20200102030405 text/html 5"), good);
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405  text/html 5"), good);
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 text/html  5"), good);
  EXPECT_EQ(ArcFields("http://a/\t10.0.0.1\t20200102030405\ttext/html\t5"), good);
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 text/html; charset=utf-8 5"), good + "; charset=utf-8");
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 5"), "http://a/|10.0.0.1|20200102030405|");
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405  5"), "http://a/|10.0.0.1|20200102030405|");
  EXPECT_EQ(ArcFields("www.a/ 10.0.0.1 20200102030405 text/html 5"), "www.a/|10.0.0.1|20200102030405|text/html");
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 soon text/html 5"), "http://a/|10.0.0.1|00000000000000|text/html");
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 202001020304057 text/html 5"), good);  // a digit too many
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 202001020304 text/html 5"), "http://a/|10.0.0.1|20200102030400|text/html");
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 202099020304057 text/html 5"), "http://a/|10.0.0.1|20209902030405|text/html");
  // The fields of the other version.
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 text/html 200 - - 95 x.arc 5"), good);
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 text/html 5", true), good);
  EXPECT_EQ(ArcFields("http://a/ 10.0.0.1 20200102030405 text/html; x=y 200 - - 95 x.arc 5", true), good + "; x=y");
  // Not a record's line.
  EXPECT_EQ(ArcFields("see 10.0.0.1 for what is new 5"), "");
  EXPECT_EQ(ArcFields("http: one two three four"), "");
}

TEST(WarcReaderTest, StrictReadingNamesArcLinesThatAreReadAllTheSame) {
  const std::string version = "filedesc://x.arc 0.0.0.0 20200101000000 text/plain 4\n1 0\n\n";
  for (const char* line :
       {"http://a/ 10.0.0.1 20200102030405 text/html 5\r\r\n", "http://a/  10.0.0.1 20200102030405 text/html 5\n",
        "http://a/ 10.0.0.1 20200102030405 text/html; charset=x 5\n"}) {
    const Seen seen = ReadAll(version + line + "hello\n");
    EXPECT_EQ(seen.uris, (Uris{"filedesc://x.arc", "http://a/"})) << line;
    EXPECT_EQ(seen.kinds(), Kinds{FaultKind::kArcLine}) << line;
  }
  EXPECT_EQ(ReadAll(version + "http://a/ 10.0.0.1 20200102030405 text/html 5\nhello\n").kinds(), Kinds{});
}

TEST(WarcReaderTest, LinesEndedTwiceAreRead) {
  // CR CR LF, as a writer leaves them whose library ended lines once more; in the header and in the HTTP head.
  std::string one = Record("http://a/", "alpha");
  const size_t head = one.find("\r\n\r\n") + 4;
  std::string twice;
  for (const char c : one.substr(0, head)) twice += c == '\r' ? "\r\r" : std::string(1, c);
  const std::string bytes = twice + one.substr(head) + Record("http://b/", "beta");
  const Seen seen = ReadAll(bytes, false);
  EXPECT_EQ(seen.uris, (Uris{"http://a/", "http://b/"}));
  EXPECT_EQ(seen.blocks, (Uris{"alpha", "beta"}));
  EXPECT_EQ(seen.stats.faults, 0U);
  EXPECT_EQ(ReadAll(bytes).kinds(), Kinds{FaultKind::kBadHeaderLine});

  const std::string http = "HTTP/1.1 200 OK\r\r\nA: b\r\r\n\r\r\nbody";
  const std::string answer = "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: " + std::to_string(http.size()) +
                             "\r\n\r\n" + http + "\r\n\r\n";
  WarcReader reader(MemorySource(answer), {});
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.record().http.status, 200);
  EXPECT_EQ(reader.record().http.fields.Get("A"), "b");
  EXPECT_EQ(reader.ReadPayload().value(), "body");
}

TEST(WarcReaderTest, ReadingMayBeginAtARecordsOffset) {
  const std::string one = Gzip(Record("http://a/", "alpha"));
  const std::string two = Gzip(Record("http://b/", "beta"));
  const std::string bytes = one + two;
  WarcReaderOptions options;
  options.start = one.size();
  WarcReader reader(MemorySource(bytes), options);
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.record().uri(), "http://b/");
  ASSERT_TRUE(reader.Finish().has_value());
  EXPECT_EQ(reader.record().offset, one.size());
  EXPECT_EQ(reader.record().length, two.size());
}

TEST(WarcReaderTest, AHeaderWithoutEndIsBoundedAndNamed) {
  const std::string bytes = "WARC/1.0\r\n" + std::string(3 << 20, 'h') + "\r\n" + Record("http://b/", "beta");
  const Seen seen = ReadAll(bytes);
  EXPECT_EQ(seen.uris, Uris{"http://b/"});
  EXPECT_EQ(seen.faults[0].kind, FaultKind::kHeaderTooLong);
}

TEST(WarcReaderTest, AnErrorOfTheSourceIsPassedOn) {
  WarcReader reader([](uint64_t, char*, size_t) -> Result<size_t> { return Fail(ErrorCode::kIo, "disk gone"); }, {});
  const auto more = reader.Next();
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().code(), ErrorCode::kIo);
}

// Every cut of a good file gives a prefix of its records and, except at a record's end, a fault.
TEST(WarcReaderTest, EveryCutIsAPrefixWithAFault) {
  const std::string one = Gzip(Record("http://a/", "alpha"));
  const std::string two = Gzip(Record("http://b/", "beta"));
  const std::string bytes = one + two;
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    const Seen seen = ReadAll(bytes.substr(0, cut));
    EXPECT_LE(seen.uris.size(), 2U);
    if (cut >= one.size()) {
      EXPECT_EQ(seen.uris[0], "http://a/");
    }
    EXPECT_EQ(seen.faults.empty(), cut == one.size()) << cut;
  }
}

long PeakKilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(WarcReaderTest, ARecordOfAGigabyteNeedsNoGigabyte) {
  const std::string head =
      Record("http://a/", "", "", 1 << 30).substr(0, Record("http://a/", "", "", 1 << 30).size() - 4);
  const uint64_t size = head.size() + (1 << 30);
  const long before = PeakKilobytes();
  WarcReader reader(
      [&](uint64_t offset, char* to, size_t count) -> Result<size_t> {
        if (offset < head.size()) return head.copy(to, count, offset);
        const size_t take = static_cast<size_t>(std::min<uint64_t>(count, size - std::min(size, offset)));
        std::fill_n(to, take, 'z');
        return take;
      },
      {});
  ASSERT_TRUE(reader.Next().value());
  ASSERT_TRUE(reader.Finish().has_value());
  EXPECT_EQ(reader.record().block_read, uint64_t{1} << 30);
  EXPECT_LT(PeakKilobytes() - before, 16 * 1024);
}

}  // namespace
}  // namespace portolan
