#include "bench/index/text_crawl.h"

#include <fmt/core.h>

#include <fstream>

#include "base/hash.h"
#include "bench/graphbuild/link_crawl.h"
#include "bench/text/article_set.h"
#include "disk/manifest.h"
#include "flow/output_records.h"
#include "io/clock.h"
#include "outputs/outputs.h"
#include "parse/page_maker.h"
#include "sim/world/world.h"

namespace portolan::bench {
namespace {

constexpr int64_t kCrawlNs = 1'780'000'000'000'000'000;
constexpr uint64_t kPagesPerHost = 20;
constexpr uint64_t kStride = 1'000'003;  // a prime: all pages come, neighbours far apart
constexpr uint64_t kCommitPages = 1 << 12;

PageMakerOptions MakerOptions() {
  PageMakerOptions options;
  options.archive = false;
  options.link_log = true;
  options.text_log = true;
  options.seed = 1;
  return options;
}

// What parsing adds to the logs for a page.
struct ParsedPage {
  std::string text;  // packed; empty: nothing
  std::string links;
};

ParsedPage ParsePage(PageMaker& maker, const std::string& url, std::string head, std::string body) {
  FetchResponse response;
  response.task.url = url;
  response.response_head = std::move(head);
  response.body = std::move(body);
  response.times.begin_unix_ns = kCrawlNs;
  PageResult result = maker.Make(std::move(response));
  ParsedPage page;
  for (OutputItem& item : result.outputs) {
    if (item.output == OutputId::kText) page.text = std::move(item.records);
    if (item.output == OutputId::kLinks) page.links = std::move(item.records);
  }
  return page;
}

std::string CopyUrl(uint64_t number) {
  return fmt::format("https://www.site-{}.test/pages/{}.html", number / kPagesPerHost, number);
}

// The original's record as that of copy `number`.
void AppendCopy(const TextRecord& original, uint64_t number, uint64_t copy, std::string& out) {
  TextRecord page = original;
  const std::string url = CopyUrl(number);
  page.url = url;
  page.unix_ms = kCrawlNs / 1'000'000 + static_cast<int64_t>(number);
  const std::string whole = MainTextOf(original).empty() ? std::string(original.text) : MainTextOf(original);
  std::string text;
  for (std::string_view rest = whole; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (copy > 0 && (Hash64(line) + copy) % 3 == 0) continue;
    text.append(line) += '\n';
  }
  text += fmt::format("copy{} of{:x} number{}", copy, Mix64(number) & 0xfffff, number);
  page.text = CutUtf8(text, kMaxPageText);
  std::string main;
  AppendPackedRange(main, 0, 0, page.text.size());
  page.main = main;
  page.similarity = Mix64(original.similarity + copy);
  AppendTextRecord(out, page);
}

}  // namespace

Result<TextCrawl> TextCrawl::OfRealPages(const std::string& pages, const std::string& articles) {
  ASSIGN_OR_RETURN(PageMaker maker, PageMaker::Create(MakerOptions()));
  auto originals = std::make_shared<std::vector<ParsedPage>>();
  const auto add = [&](std::string body) {
    ParsedPage page = ParsePage(maker, "https://www.example.org/page.html",
                                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", std::move(body));
    if (!page.text.empty()) originals->push_back(std::move(page));
  };
  if (std::ifstream index(pages + "/index.tsv"); index) {
    std::string row;
    std::getline(index, row);
    while (std::getline(index, row)) {
      std::ifstream file(pages + "/" + row.substr(0, row.find('\t')), std::ios::binary);
      add({std::istreambuf_iterator<char>(file), {}});
    }
  }
  if (const auto set = LoadArticles(articles)) {
    for (const Article& article : *set) add(article.html);
  }
  if (originals->empty()) {
    return Fail(ErrorCode::kNotFound, fmt::format("there are no pages in {} and {}: see --pages", pages, articles));
  }
  const size_t count = originals->size();
  uint64_t number = 0;
  return TextCrawl(
      [originals, number](Page& page) mutable -> Result<bool> {
        const uint64_t pick = number % originals->size();
        const ParsedPage& original = (*originals)[pick];
        PackedRecords records(original.text);
        const auto parsed = records.Next() ? ParseTextRecord(records.record()) : std::nullopt;
        if (!parsed) return Fail(ErrorCode::kCorrupt, "a record that was just made does not parse");
        page.url = CopyUrl(number);
        page.text.clear();
        AppendCopy(*parsed, number, number / originals->size(), page.text);
        page.links.clear();
        AppendLinkPage(page.links, page.url, kCrawlNs / 1'000'000);
        PackedRecords links(original.links);
        while (links.Next()) {
          const auto link = ParseLinkRecord(links.record(), links.tag());
          if (link && !link->is_page()) AppendLink(page.links, link->url, link->tag, link->anchor);
        }
        for (uint64_t i = 1; i <= 8; ++i) {
          // Low numbers have most links.
          const uint64_t target = Mix64(number * 8 + i) % (Mix64(number + i) % (number + 1) + 1);
          PackedRecords target_records((*originals)[target % originals->size()].text);
          const auto other = target_records.Next() ? ParseTextRecord(target_records.record()) : std::nullopt;
          AppendLink(page.links, CopyUrl(target), 0, other ? CutUtf8(other->title, kMaxAnchor) : std::string_view());
        }
        ++number;
        return true;
      },
      count);
}

Result<TextCrawl> TextCrawl::OfSimulatedWeb(uint64_t pages) {
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile("million"));
  params.pages = std::max<uint64_t>(pages * 2, 2000);
  params.domains = std::max<uint64_t>(params.pages / 50, 10);
  ASSIGN_OR_RETURN(auto made, sim::World::Create(params, 18));
  std::shared_ptr<sim::World> world = std::move(made);
  ASSIGN_OR_RETURN(PageMaker maker, PageMaker::Create(MakerOptions()));
  auto shared_maker = std::make_shared<PageMaker>(std::move(maker));
  uint64_t number = 0;
  return TextCrawl(
      [world, shared_maker, number](Page& page) mutable -> Result<bool> {
        for (; number < world->TotalPages(); ++number) {
          // Neighbours in the web's numbering are pages of one host: a crawl does not fetch these in a row.
          const sim::Place place = world->FromDense(number * kStride % world->TotalPages());
          page.url = world->UrlOf(place);
          const size_t host = page.url.find("://") + 3;
          const size_t path = std::min(page.url.find('/', host), page.url.size());
          sim::Request request;
          request.host = std::string_view(page.url).substr(host, path - host);
          request.host = request.host.substr(0, request.host.find(':'));
          request.path_and_query = std::string_view(page.url).substr(path);
          request.unix_ns = kCrawlNs;
          sim::Answer answer = world->Respond(request);
          if (answer.status != 200 || answer.fault != sim::WireFault::kNone) continue;
          std::string head = "HTTP/1.1 200 OK\r\n";
          for (const auto& [name, value] : answer.headers) head += fmt::format("{}: {}\r\n", name, value);
          ParsedPage parsed = ParsePage(*shared_maker, page.url, head + "\r\n", std::move(answer.body));
          if (parsed.text.empty()) continue;
          page.text = std::move(parsed.text);
          page.links = std::move(parsed.links);
          ++number;
          return true;
        }
        return false;
      },
      0);
}

IndexSources TextCrawl::SourcesIn(const std::string& dir) {
  const std::string state = JoinPath(dir, "state");
  return {.text = TextLogSource(state, JoinPath(dir, "text")),
          .log = CrawlLogSource(state, JoinPath(dir, "log")),
          .links = LinkLogSource(state, JoinPath(dir, "links"))};
}

Status TextCrawl::Write(Env& env, const std::string& dir, uint64_t pages) {
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, JoinPath(dir, "state")));
  OutputsOptions options;
  options.log.files.dir = JoinPath(dir, "log");
  options.links.files.dir = JoinPath(dir, "links");
  options.text.files.dir = JoinPath(dir, "text");
  options.links.enabled = options.text.enabled = true;
  options.threads = false;
  ASSIGN_OR_RETURN(const auto outputs, Outputs::Open(env, Clock::Real(), manifest, options));
  RETURN_IF_ERROR(manifest.Commit(outputs->Checkpointables()));
  Page page;
  for (uint64_t done = 0; done < pages; ++done) {
    ASSIGN_OR_RETURN(const bool more, next_(page));
    if (!more) return Fail(ErrorCode::kInvalidArgument, fmt::format("this web has only {} pages", done));
    PageResult result;
    result.status = 200;
    result.times.begin_unix_ns = kCrawlNs;
    result.outputs.push_back({.output = OutputId::kText, .records = page.text});
    if (!page.links.empty()) result.outputs.push_back({.output = OutputId::kLinks, .records = page.links});
    outputs->Write(result, {.url = page.url});
    if (outputs->stalled()) return Fail(ErrorCode::kIo, "the logs cannot be written");
    if (done % kCommitPages == 0) RETURN_IF_ERROR(manifest.Commit(outputs->Checkpointables()));
  }
  return manifest.Commit(outputs->Checkpointables());
}

}  // namespace portolan::bench
