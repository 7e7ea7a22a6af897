#include "bench/parse/samples.h"

#include <zlib.h>

#include <fstream>
#include <iterator>
#include <utility>

#include "sim/world/params.h"
#include "sim/world/world.h"

namespace portolan::bench {
namespace {

std::string GzipOf(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// What is the same of all responses.
FetchResponse& Prepare(Sample& sample) {
  FetchResponse& response = sample.response;
  response.task.url = sample.url.href();
  response.task.address = Address::V4(0x7f000001);
  response.status = 200;
  response.version = HttpVersion::k11;
  response.request_head =
      "GET / HTTP/1.1\r\nHost: www.pages.test\r\nUser-Agent: portolan/1.0 (+https://operator.test/crawler)\r\n"
      "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\nAccept-Encoding: gzip, br, zstd\r\n\r\n";
  response.times.begin_unix_ns = 1'769'862'601'250'000'000;
  return response;
}

}  // namespace

FetchResponse CopyOf(const FetchResponse& from) {
  FetchResponse copy;
  copy.task = from.task;
  copy.status = from.status;
  copy.version = from.version;
  copy.request_head = from.request_head;
  copy.response_head = from.response_head;
  copy.body = from.body;
  copy.wire_bytes = from.wire_bytes;
  copy.times = from.times;
  return copy;
}

Result<std::vector<Sample>> LoadSamples(const std::string& folder) {
  std::ifstream index(folder + "/index.tsv");
  if (!index) return Fail(ErrorCode::kNotFound, folder + "/index.tsv: real pages are needed, see --pages");
  std::vector<Sample> samples;
  std::string row;
  std::getline(index, row);
  while (std::getline(index, row)) {
    const std::string name = row.substr(0, row.find('\t'));
    std::ifstream in(folder + "/" + name, std::ios::binary);
    Sample& sample = samples.emplace_back();
    sample.html.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    sample.url.Assign("https://www.pages.test/" + name);
    FetchResponse& response = Prepare(sample);
    response.response_head =
        "HTTP/1.1 200 OK\r\nDate: Sat, 31 Jan 2026 12:30:01 GMT\r\nServer: nginx\r\n"
        "Content-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n"
        "Vary: Accept-Encoding\r\nCache-Control: max-age=600\r\nContent-Encoding: gzip\r\n\r\n";
    response.body = GzipOf(sample.html);
  }
  return samples;
}

Result<std::vector<Sample>> MakeSamples(std::string_view profile, uint64_t count) {
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile(profile));
  params.legacy_charset = 0;  // the bench compares with a reader of UTF-8
  ASSIGN_OR_RETURN(const auto world, sim::World::Create(params, /*seed=*/1));
  const bool gzips = profile != "web2007";
  std::vector<Sample> samples;
  const uint64_t all = world->TotalPages();
  for (uint64_t i = 0; i < 4 * count && samples.size() < count; ++i) {
    const sim::Place place = world->FromDense(i * (all / (4 * count)));
    if (world->KindOf(place) != sim::PageKind::kNormal) continue;
    Sample sample;
    if (sample.url.Assign(world->UrlOf(place)) != UrlStatus::kOk) continue;
    const std::string host(sample.url.hostname());
    const std::string path(sample.url.path_and_query());
    sim::Answer answer = world->Respond({.host = host, .path_and_query = path, .unix_ns = 1'769'862'601'250'000'000});
    if (answer.status != 200) continue;
    sample.html = std::move(answer.body);
    FetchResponse& response = Prepare(sample);
    response.response_head = "HTTP/1.1 200 OK\r\n";
    for (const auto& [name, value] : answer.headers) response.response_head += name + ": " + value + "\r\n";
    response.body = gzips ? GzipOf(sample.html) : sample.html;
    if (gzips) response.response_head += "Content-Encoding: gzip\r\n";
    response.response_head += "Content-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
    samples.push_back(std::move(sample));
  }
  if (samples.empty()) return Fail(ErrorCode::kNotFound, "no page of this world answers");
  return samples;
}

}  // namespace portolan::bench
