#include "warc/writer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/rng.h"
#include "warc/reader.h"

namespace portolan {
namespace {

constexpr WarcId kId{0x0123456789abcdef, 0xfedcba9876543210};
constexpr WarcId kOther{1, 2};
constexpr WarcTime kTime{1769862601, 250'000'000, 3};  // 2026-01-31T12:30:01.250Z

WarcWriter Plain() { return WarcWriter::Create({.gzip = false}).value(); }

Sha1 Sha1Of(std::string_view bytes) {
  Digester digester;
  digester.Update(bytes);
  Sha1 out;
  digester.Finish().copy(out.data(), out.size());
  return out;
}

TEST(WarcWriterTest, WarcinfoBytesAreFixed) {
  std::string block;
  AppendWarcField(block, "software", "portolan");
  AppendWarcField(block, "format", "WARC File Format 1.1");
  std::string out;
  WarcRecordSpec spec;
  spec.type = WarcType::kWarcinfo;
  spec.id = kId;
  spec.date = {1769862601};
  spec.filename = "x.warc.gz";
  spec.payload = block;
  Plain().Append(spec, out);
  EXPECT_EQ(out,
            "WARC/1.1\r\n"
            "WARC-Type: warcinfo\r\n"
            "WARC-Record-ID: <urn:uuid:01234567-89ab-4def-bedc-ba9876543210>\r\n"
            "WARC-Date: 2026-01-31T12:30:01Z\r\n"
            "WARC-Filename: x.warc.gz\r\n"
            "WARC-Block-Digest: sha1:VFBVOKBO2OE3HWWIXIA7GZ6MPC26RHTJ\r\n"
            "Content-Type: application/warc-fields\r\n"
            "Content-Length: 50\r\n"
            "\r\n"
            "software: portolan\r\n"
            "format: WARC File Format 1.1\r\n"
            "\r\n\r\n");
}

TEST(WarcWriterTest, ResponseBytesAreFixed) {
  const std::vector<std::string_view> protocols = {"h2", "tls/1.3"};
  const std::vector<WarcId> concurrent = {kOther};
  WarcRecordSpec spec;
  spec.id = kId;
  spec.date = kTime;
  spec.warcinfo_id = kOther;
  spec.target_uri = "https://example.org/a b";
  spec.concurrent_to = concurrent;
  spec.ip_address = "2001:db8::1";
  spec.protocols = protocols;
  spec.cipher_suite = "TLS_AES_128_GCM_SHA256";
  spec.truncated = "length";
  spec.identified_payload_type = "text/html";
  spec.http_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
  spec.payload = "hello";
  std::string out = "before";
  const WrittenRecord facts = Plain().Append(spec, out);
  EXPECT_EQ(out,
            "beforeWARC/1.1\r\n"
            "WARC-Type: response\r\n"
            "WARC-Record-ID: <urn:uuid:01234567-89ab-4def-bedc-ba9876543210>\r\n"
            "WARC-Warcinfo-ID: <urn:uuid:00000000-0000-4001-8000-000000000002>\r\n"
            "WARC-Date: 2026-01-31T12:30:01.250Z\r\n"
            "WARC-Target-URI: https://example.org/a%20b\r\n"
            "WARC-Concurrent-To: <urn:uuid:00000000-0000-4001-8000-000000000002>\r\n"
            "WARC-IP-Address: 2001:db8::1\r\n"
            "WARC-Protocol: h2\r\n"
            "WARC-Protocol: tls/1.3\r\n"
            "WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256\r\n"
            "WARC-Truncated: length\r\n"
            "WARC-Identified-Payload-Type: text/html\r\n"
            "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
            "WARC-Block-Digest: sha1:4ENXDWJ5NSHRUTU6IOG7NJ4VCLA6W6MP\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            "Content-Length: 49\r\n"
            "\r\n"
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\nhello\r\n\r\n");
  EXPECT_EQ(facts.length, out.size() - 6);
  EXPECT_EQ(facts.payload_sha1, Sha1Of("hello"));
}

TEST(WarcWriterTest, RevisitBytesAreFixed) {
  WarcRecordSpec spec;
  spec.type = WarcType::kRevisit;
  spec.id = kId;
  spec.date = kTime;
  spec.target_uri = "https://example.org/";
  spec.refers_to = kOther;
  spec.refers_to_target_uri = "https://example.org/first";
  spec.refers_to_date = WarcTime{1769862600};
  spec.payload_sha1 = Sha1Of("hello");
  spec.http_head = "HTTP/1.1 200 OK\r\n\r\n";
  std::string out;
  Plain().Append(spec, out);
  EXPECT_EQ(out,
            "WARC/1.1\r\n"
            "WARC-Type: revisit\r\n"
            "WARC-Record-ID: <urn:uuid:01234567-89ab-4def-bedc-ba9876543210>\r\n"
            "WARC-Date: 2026-01-31T12:30:01.250Z\r\n"
            "WARC-Target-URI: https://example.org/\r\n"
            "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest\r\n"
            "WARC-Refers-To: <urn:uuid:00000000-0000-4001-8000-000000000002>\r\n"
            "WARC-Refers-To-Target-URI: https://example.org/first\r\n"
            "WARC-Refers-To-Date: 2026-01-31T12:30:00Z\r\n"
            "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
            "WARC-Block-Digest: sha1:OP3ZUEAEIGC5QPO47I7DR5X4KB6IV5TP\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            "Content-Length: 19\r\n"
            "\r\n"
            "HTTP/1.1 200 OK\r\n\r\n\r\n\r\n");
}

TEST(WarcWriterTest, NotModifiedBytesAreFixed) {
  WarcRecordSpec spec;
  spec.type = WarcType::kRevisit;
  spec.profile = kNotModifiedProfile;
  spec.id = kId;
  spec.date = kTime;
  spec.target_uri = "https://example.org/";
  spec.refers_to_target_uri = "https://example.org/";
  spec.refers_to_date = WarcTime{1769862600};
  spec.payload_sha1 = Sha1Of("hello");
  spec.http_head = "HTTP/1.1 304 Not Modified\r\n\r\n";
  std::string out;
  Plain().Append(spec, out);
  EXPECT_EQ(out,
            "WARC/1.1\r\n"
            "WARC-Type: revisit\r\n"
            "WARC-Record-ID: <urn:uuid:01234567-89ab-4def-bedc-ba9876543210>\r\n"
            "WARC-Date: 2026-01-31T12:30:01.250Z\r\n"
            "WARC-Target-URI: https://example.org/\r\n"
            "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n"
            "WARC-Refers-To-Target-URI: https://example.org/\r\n"
            "WARC-Refers-To-Date: 2026-01-31T12:30:00Z\r\n"
            "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"
            "WARC-Block-Digest: sha1:7BHPGNOCWY7BDNRRIRFD3BSMBHT3WHDJ\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            "Content-Length: 29\r\n"
            "\r\n"
            "HTTP/1.1 304 Not Modified\r\n\r\n\r\n\r\n");
}

TEST(WarcWriterTest, NothingFromTheWebBreaksTheHeader) {
  WarcRecordSpec spec;
  spec.id = kId;
  spec.date = kTime;
  spec.target_uri = "http://a/\r\nWARC-Type: evil\r\n\r\n";
  spec.ip_address = "1.2.3.4\r\nX: y";
  spec.http_head = "HTTP/1.1 200 OK\r\n\r\n";
  std::string out;
  Plain().Append(spec, out);
  WarcReader reader(MemorySource(out), {});
  ASSERT_TRUE(reader.Next().value());
  EXPECT_EQ(reader.record().uri(), "http://a/%0D%0AWARC-Type:%20evil%0D%0A%0D%0A");
  EXPECT_EQ(reader.record().fields.Count("X"), 0U);
  EXPECT_EQ(reader.record().fields.Count("WARC-Type"), 1U);
}

TEST(WarcWriterTest, ALevelThatDoesNotExistIsRefused) {
  EXPECT_FALSE(WarcWriter::Create({.level = 0}).has_value());
  EXPECT_FALSE(WarcWriter::Create({.level = 13}).has_value());
}

TEST(WarcWriterTest, FileNamesHaveTheirFiveParts) {
  EXPECT_EQ(WarcFileName("CRAWL", kTime, 7, "host.example"), "CRAWL-20260131123001250-00007-host.example.warc.gz");
  EXPECT_EQ(WarcFileName("a/b c", {0}, 123456, "", false), "a_b_c-19700101000000000-123456-.warc");
}

// Random records of every type at every level: strict reading finds no fault and gives back what went in.
TEST(WarcWriterTest, WhatIsWrittenIsReadBack) {
  Rng rng(7);
  const auto text = [&](size_t limit) {
    std::string out(rng.Below(limit), '\0');
    for (char& c : out) c = static_cast<char>(rng.Next());
    return out;
  };
  for (int round = 0; round < 60; ++round) {
    const WarcWriterOptions options{.gzip = rng.Below(4) != 0, .level = static_cast<int>(1 + rng.Below(12))};
    auto writer = WarcWriter::Create(options).value();
    std::string file;
    struct Wrote {
      WarcRecordSpec spec;
      std::string uri, head, payload;
      uint64_t offset;
      WrittenRecord facts;
    };
    std::vector<Wrote> wrote(1 + rng.Below(6));
    for (Wrote& w : wrote) {
      constexpr std::array kTypes = {WarcType::kResponse, WarcType::kRequest, WarcType::kMetadata, WarcType::kResource,
                                     WarcType::kRevisit};
      w.spec.type = kTypes[rng.Below(kTypes.size())];
      w.spec.id = {rng.Next(), rng.Next()};
      w.spec.date = {static_cast<int64_t>(rng.Below(4'000'000'000)), static_cast<uint32_t>(rng.Below(1'000'000'000)),
                     static_cast<int>(rng.Below(10))};
      w.uri = "http://host" + std::to_string(rng.Below(9)) + "/" + std::to_string(rng.Next());
      w.payload = w.spec.type == WarcType::kRevisit ? "" : text(rng.Below(8) == 0 ? 300'000 : 3000);
      if (w.spec.type == WarcType::kRequest) w.head = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
      if (w.spec.type == WarcType::kResponse || w.spec.type == WarcType::kRevisit) w.head = "HTTP/1.1 404 Not\r\n\r\n";
      w.spec.target_uri = w.uri;
      w.spec.http_head = w.head;
      w.spec.payload = w.payload;
      if (w.spec.type == WarcType::kRevisit) w.spec.payload_sha1 = Sha1Of("elsewhere");
      w.offset = file.size();
      w.facts = writer.Append(w.spec, file);
    }
    size_t faults = 0;
    std::string first;
    WarcReaderOptions strict;
    strict.strict = true;
    strict.faults = [&](const Fault& fault) {
      ++faults;
      first = std::string(FaultName(fault.kind)) + " " + fault.detail;
    };
    WarcReader reader(MemorySource(file), strict);
    for (const Wrote& w : wrote) {
      ASSERT_TRUE(reader.Next().value());
      const WarcRecord& record = reader.record();
      EXPECT_EQ(record.type, w.spec.type);
      EXPECT_EQ(record.uri(), w.uri);
      EXPECT_EQ(record.version, "1.1");
      EXPECT_EQ(record.offset, w.offset);
      EXPECT_EQ(FormatWarcDate(*record.time()), FormatWarcDate(w.spec.date));
      std::string payload;
      for (;;) {
        const std::string_view piece = reader.ReadPayload().value();
        if (piece.empty()) break;
        payload.append(piece);
      }
      EXPECT_EQ(payload, w.payload);
      EXPECT_EQ(record.http.length, w.head.size());
      ASSERT_TRUE(reader.Finish().has_value());
      EXPECT_EQ(record.length, w.facts.length - (options.gzip ? 0 : 4));
    }
    EXPECT_FALSE(reader.Next().value());
    EXPECT_EQ(faults, 0U) << first;
  }
}

}  // namespace
}  // namespace portolan
