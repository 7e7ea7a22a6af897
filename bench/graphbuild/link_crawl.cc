#include "bench/graphbuild/link_crawl.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "disk/manifest.h"
#include "flow/output_records.h"
#include "io/clock.h"
#include "outputs/outputs.h"
#include "sim/world/web.h"

namespace portolan::bench {
namespace {

constexpr size_t kWindow = 4096;       // hosts that are crawled at a time
constexpr uint64_t kShareFetched = 6;  // one page in so many
constexpr int64_t kFetchedNs = 1'780'000'000'000'000'000;
constexpr uint64_t kCommitEvery = 1 << 20;  // pages

}  // namespace

Result<LinkCrawl> LinkCrawl::Create(uint64_t links) {
  ASSIGN_OR_RETURN(sim::WorldParams params, sim::LoadProfile("million"));
  // Some 40 different ones per page, of 59 links in the mean; and room to spare.
  params.pages = std::max<uint64_t>(links / 32 * kShareFetched, 2000);
  params.domains = std::max<uint64_t>(params.pages / 50, 10);
  ASSIGN_OR_RETURN(auto world, sim::World::Create(params, 18));
  return LinkCrawl(std::move(world));
}

OutputSource LinkCrawl::LogIn(const std::string& dir) {
  return LinkLogSource(JoinPath(dir, "state"), JoinPath(dir, "links"));
}

bool LinkCrawl::AddHost() {
  while (next_host_.domain < world_->Domains() && next_host_.host == world_->Hosts(next_host_.domain)) {
    next_host_ = {next_host_.domain + 1, 0};
  }
  if (next_host_.domain == world_->Domains()) return false;
  const uint64_t pages = world_->Pages(next_host_);
  window_.push_back({next_host_, 0, (pages + kShareFetched - 1) / kShareFetched});
  ++next_host_.host;
  return true;
}

bool LinkCrawl::Next(Page& page) {
  while (window_.size() < kWindow && AddHost()) {
  }
  if (window_.empty()) return false;
  if (at_ >= window_.size()) at_ = 0;
  Host& host = window_[at_];
  const sim::Place place{host.id, sim::PlaceClass::kPage, host.next};
  page.url = world_->UrlOf(place);
  page.packed.clear();
  AppendLinks(place, page);
  if (++host.next < host.end) {
    ++at_;
  } else {
    host = window_.back();
    window_.pop_back();
  }
  return true;
}

void LinkCrawl::AppendLinks(const sim::Place& place, Page& page) {
  const sim::Web& web = world_->web();
  const auto& facts = web.atlas.facts(web.atlas.Hid(place.host));
  const sim::Pieces& anchors = web.texts.Of(facts.language, 0).anchors;
  const uint64_t source = Hash64(page.url);
  sums_.AddFetched(source);
  AppendLinkPage(page.packed, page.url, kFetchedNs / 1'000'000);
  std::ranges::fill(shown_, 0);
  size_t shown = 0;
  const auto is_new = [&](uint64_t hash) {
    if (2 * (shown + 1) > shown_.size()) {
      std::vector<uint64_t> larger(std::max<size_t>(2 * shown_.size(), 256));
      for (const uint64_t kept : shown_) {
        size_t at = kept % larger.size();
        while (kept != 0 && larger[at] != 0) at = (at + 1) % larger.size();
        if (kept != 0) larger[at] = kept;
      }
      shown_ = std::move(larger);
    }
    size_t at = hash % shown_.size();
    for (; shown_[at] != 0; at = (at + 1) % shown_.size()) {
      if (shown_[at] == hash) return false;
    }
    shown_[at] = hash;
    ++shown;
    return true;
  };
  std::string text;
  const auto add = [&](std::string_view url, uint8_t flags, std::string_view anchor) {
    const uint64_t target = Hash64(url);
    if (!is_new(target)) return;
    AppendLink(page.packed, url, flags, anchor);
    sums_.AddLink(source, target);
    if (flags == 0 && anchor.empty()) return;
    text.assign(1, static_cast<char>(flags));
    text += anchor;
    sums_.AddText(source, target, text);
  };
  if (world_->KindOf(place) == sim::PageKind::kRedirect) {
    add(world_->UrlOf(world_->RedirectTarget(place)), kLinkRedirect, {});
    return;
  }
  world_->Links(place, kFetchedNs, [&](const sim::OutLink& link) {
    // A link has the same text on all pages of a host, as those of a menu have; one in sixteen is a picture without.
    const uint64_t draw = Mix64(link.target.number + uint64_t{link.target.host.domain} * 0x9e3779b97f4a7c15);
    const std::string_view anchor = draw % 16 == 0 ? std::string_view() : anchors[(draw >> 8) % sim::kAnchors];
    add(link.url, link.nofollow ? kLinkNofollow : 0, anchor);
  });
}

Status LinkCrawl::WriteLog(Env& env, const std::string& dir, uint64_t links) {
  ASSIGN_OR_RETURN(Manifest manifest, Manifest::Open(env, JoinPath(dir, "state")));
  OutputsOptions options;
  options.links.files.dir = JoinPath(dir, "links");
  options.links.enabled = true;
  options.threads = false;
  ASSIGN_OR_RETURN(const auto outputs, Outputs::Open(env, Clock::Real(), manifest, options));
  RETURN_IF_ERROR(manifest.Commit(outputs->Checkpointables()));
  Page page;
  while (sums_.links < links) {
    if (!Next(page)) return Fail(ErrorCode::kInvalidArgument, fmt::format("this web has only {} links", sums_.links));
    PageResult result;
    result.outputs.push_back({.output = OutputId::kLinks, .records = page.packed});
    outputs->Write(result, {.url = page.url});
    if (outputs->stalled()) return Fail(ErrorCode::kIo, "the link log cannot be written");
    if (sums_.fetched % kCommitEvery == 0) RETURN_IF_ERROR(manifest.Commit(outputs->Checkpointables()));
  }
  return manifest.Commit(outputs->Checkpointables());
}

}  // namespace portolan::bench
