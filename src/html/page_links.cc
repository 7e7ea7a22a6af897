#include "html/page_links.h"

#include <algorithm>

#include "html/charset_encoder.h"

namespace portolan {

void PageLinks::Resolve(const Page& page, const Url& page_url, const PageLinksOptions& options) {
  urls.clear();
  links.clear();
  outcomes.fill(0);
  dropped = 0;
  const uint64_t most = std::min<uint64_t>(options.max_bytes, UINT32_MAX);
  CharsetEncoder encoder(options.encoding);
  LinkOptions link_options = options.link;
  auto* const query_encoder = encoder.encoding() == Encoding::kUtf8 ? nullptr : &encoder;
  const Url* from = &page_url;
  if (page.has_base && base.Assign(page.View(page.base), &page_url, query_encoder) == UrlStatus::kOk &&
      base.scheme() != "data" && base.scheme() != "javascript") {
    from = &base;
  } else {
    base = page_url;
  }
  for (size_t i = 0; i < page.links.size(); ++i) {
    const PageLink& link = page.links[i];
    const bool wanted = link.kind == LinkKind::kNavigation || link.kind == LinkKind::kFrame ? options.navigation
                        : link.kind == LinkKind::kEmbed                                     ? options.embeds
                                                                                            : options.resources;
    if (!wanted || (link.in_template && !options.in_templates)) continue;
    // What a style names is in UTF-8, whatever the document is in (CSS Values 4, "fetch a style resource").
    link_options.query_encoder = link.attribute == LinkAttribute::kStyle ? nullptr : query_encoder;
    const LinkOutcome outcome = ResolveLink(page.View(link.url), *from, link_options, scratch_);
    ++outcomes[static_cast<size_t>(outcome)];
    if (outcome != LinkOutcome::kCrawlable) continue;
    const std::string_view href = scratch_.url.href();
    if (urls.size() + href.size() > most) {
      ++dropped;
      continue;
    }
    links.push_back({.hash = scratch_.hash,
                     .host_hash = scratch_.host_hash,
                     .url_begin = static_cast<uint32_t>(urls.size()),
                     .url_size = static_cast<uint32_t>(href.size()),
                     .source = static_cast<uint32_t>(i)});
    urls.append(href);
  }
}

}  // namespace portolan
