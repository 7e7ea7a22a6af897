// Writes a WARC file with every kind of record that the crawler makes, for other programs to read.
//
// usage: warc_write_sample OUT.warc.gz       (a name without .gz gives a plain file)

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

#include "io/rng.h"
#include "warc/writer.h"

namespace portolan {
namespace {

int Run(const std::string& path) {
  auto writer = WarcWriter::Create({.gzip = path.ends_with(".gz")});
  if (!writer) return 1;
  Rng rng(20'26);
  const auto id = [&] { return WarcId{rng.Next(), rng.Next()}; };
  std::string file;
  const WarcId info = id();
  WarcTime time{1769862601, 250'000'000, 3};

  std::string block;
  AppendWarcField(block, "software", "portolan");
  AppendWarcField(block, "format", "WARC File Format 1.1");
  const std::string filename = path.substr(path.rfind('/') + 1);
  WarcRecordSpec warcinfo;
  warcinfo.type = WarcType::kWarcinfo;
  warcinfo.id = info;
  warcinfo.date = time;
  warcinfo.filename = filename;
  warcinfo.payload = block;
  writer->Append(warcinfo, file);

  std::optional<Sha1> first_payload;
  WarcTime first_date;
  WarcId first_id;
  for (int page = 0; page < 12; ++page) {
    time.seconds += 7;
    const std::string url =
        "https://site" + std::to_string(page % 3) + ".example.org/page?z=1&a=" + std::to_string(page);
    std::string body = "<title>Page " + std::to_string(page) + "</title>\n";
    // From nothing to some hundred kilobytes, text and noise.
    for (int i = 0; i < page * page * 60; ++i) {
      body +=
          page % 2 == 0 ? "word" + std::to_string(rng.Below(500)) + " " : std::string(1, static_cast<char>(rng.Next()));
    }
    if (page == 0) body.clear();
    const std::string head =
        "HTTP/1.1 " + std::string(page == 5 ? "404 Not Found" : "200 OK") +
        "\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    const std::array<std::string_view, 2> protocols = {"http/1.1", "tls/1.3"};
    WarcRecordSpec response;
    response.id = id();
    response.date = time;
    response.warcinfo_id = info;
    response.target_uri = url;
    response.ip_address = page % 2 == 0 ? "192.0.2.7" : "2001:db8::7";
    response.protocols = protocols;
    response.cipher_suite = "TLS_AES_128_GCM_SHA256";
    if (page == 7) response.truncated = "length";
    response.http_head = head;
    response.payload = body;
    const WrittenRecord facts = writer->Append(response, file);
    if (page == 1) {
      first_payload = facts.payload_sha1;
      first_id = response.id;
      first_date = time;
    }

    const std::string request_head =
        "GET /page?z=1&a=" + std::to_string(page) + " HTTP/1.1\r\nHost: example.org\r\n\r\n";
    WarcRecordSpec request;
    request.type = WarcType::kRequest;
    request.id = id();
    request.date = time;
    request.target_uri = url;
    request.concurrent_to = std::span(&response.id, 1);
    request.http_head = request_head;
    writer->Append(request, file);

    std::string about;
    AppendWarcField(about, "fetchTimeMs", std::to_string(page * 13));
    WarcRecordSpec metadata;
    metadata.type = WarcType::kMetadata;
    metadata.id = id();
    metadata.date = time;
    metadata.target_uri = url;
    metadata.concurrent_to = std::span(&response.id, 1);
    metadata.payload = about;
    writer->Append(metadata, file);
  }

  WarcRecordSpec revisit;
  revisit.type = WarcType::kRevisit;
  revisit.id = id();
  revisit.date = time;
  revisit.target_uri = "https://site1.example.org/again";
  revisit.payload_sha1 = first_payload;
  revisit.refers_to = first_id;
  revisit.refers_to_target_uri = "https://site1.example.org/page?z=1&a=1";
  revisit.refers_to_date = first_date;
  revisit.http_head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";
  writer->Append(revisit, file);

  WarcRecordSpec unchanged;
  unchanged.type = WarcType::kRevisit;
  unchanged.profile = kNotModifiedProfile;
  unchanged.id = id();
  unchanged.date = time;
  unchanged.target_uri = revisit.refers_to_target_uri;
  unchanged.payload_sha1 = first_payload;
  unchanged.refers_to_target_uri = revisit.refers_to_target_uri;
  unchanged.refers_to_date = revisit.refers_to_date;
  unchanged.http_head = "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n";
  writer->Append(unchanged, file);

  std::ofstream out(path, std::ios::binary);
  out.write(file.data(), static_cast<std::streamsize>(file.size()));
  return out.good() ? 0 : 1;
}

}  // namespace
}  // namespace portolan

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s OUT.warc.gz\n", argv[0]);
    return 2;
  }
  return portolan::Run(argv[1]);
}
