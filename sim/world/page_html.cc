#include "sim/world/page_html.h"

#include <charconv>
#include <vector>

#include "sim/world/link_plan.h"
#include "sim/world/link_spelling.h"
#include "sim/world/words.h"

namespace portolan::sim {
namespace {

constexpr std::string_view kDoctypes[4] = {
    "<!DOCTYPE html>\n<html lang=\"",
    "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">\n<HTML LANG=\"",
    "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"DTD/xhtml1-strict.dtd\">\n<html lang=\"",
    "<html lang=\"",
};

// How many bytes a link of the template takes beside its URL; only used to plan sizes.
constexpr size_t kTail = 200;

// Everything that is the same for all links of one page.
class HtmlWriter {
 public:
  HtmlWriter(const Web& web, std::string& out, uint64_t row, uint64_t goal, bool odd)
      : web_(web), out_(out), row_(row), goal_(goal), odd_(odd) {
    out_.reserve(out_.size() + goal + 4096);
    begin_ = out_.size();
  }

  void SetPool(uint8_t language, uint8_t charset) {
    pool_ = &web_.texts.Of(language, charset);
    language_ = &Languages()[language];
    charset_ = language_->charsets[charset];
  }

  void OpenHead(unsigned style, uint64_t title, bool noindex, bool nofollow) {
    out_ += kDoctypes[style & 3];
    out_ += language_->tag;
    out_ += "\">\n<head>\n";
    if ((style & 4) != 0) {
      out_ += "<meta charset=\"";
      out_ += charset_;
      out_ += "\">\n";
    } else {
      out_ += "<META http-equiv=Content-Type content='text/html; charset=";
      out_ += charset_;
      out_ += "'>\n";
    }
    out_ += "<title>";
    Anchor(title);
    out_ += " - ";
    Anchor(title >> 8);
    out_ += "</title>\n";
    if (noindex || nofollow) {
      out_ += "<meta name=\"robots\" content=\"";
      out_ += noindex ? nofollow ? "noindex, nofollow" : "noindex" : "nofollow";
      out_ += "\">\n";
    }
    out_ += "<meta name=description content=\"";
    Anchor(title >> 16);
    out_ += "\">\n";
  }

  void Base(std::string_view path) {
    out_ += "<base href=\"";
    out_ += path;
    out_ += "\">\n";
  }

  void Canonical(const SpellingOptions& spelling) {
    out_ += "<link rel=\"canonical\" href=\"";
    AppendHref(out_, spelling);
    out_ += "\">\n";
  }

  void Anchor(uint64_t draw) { out_ += pool_->anchors[draw % kAnchors]; }

  // Filling until `share` of the page is there.
  void Fill(double share, double scripts) {
    const size_t until =
        begin_ + static_cast<size_t>(static_cast<double>(goal_ - std::min<uint64_t>(goal_, kTail)) * share);
    const uint64_t scripts_below = static_cast<uint64_t>(scripts * 0.4 * 65536);  // scripts are longer than paragraphs
    while (out_.size() < until) {
      const uint64_t draw = NextDraw(row_);
      if ((draw & 0xffff) < scripts_below) {
        out_ += web_.texts.scripts()[(draw >> 16) % kScripts];
      } else if (odd_ && ((draw >> 32) & 3) == 0) {
        out_ += pool_->odd[(draw >> 40) % kOddPieces];
      } else {
        out_ += pool_->paragraphs[(draw >> 16) % kParagraphs];
      }
    }
  }

  // One <a> or <area>. `draw` chooses its form; odd pages use the sloppy ones.
  void Link(SpellingOptions& spelling, bool nofollow, Region region) {
    const uint64_t draw = spelling.draw;
    const unsigned form = static_cast<unsigned>((draw >> 16) & 15);
    std::string_view open = region == Region::kNavigation ? "<li><a href=\""
                            : (form & 1) != 0             ? "<a href=\""
                                                          : "<p><a class=\"l\" href=\"";
    std::string_view shut = "\"";
    std::string_view tail = region == Region::kNavigation ? "</a></li>\n" : "</a>\n";
    bool empty = false;
    spelling.unquoted = false;
    if (odd_) {
      switch (form) {
        case 0:
          open = "<A HREF=";
          shut = " ";
          spelling.unquoted = true;
          break;
        case 1:
          open = "<a\n  target=_blank href='";
          shut = "'";
          break;
        case 2:
          open = "<a/href=\"";
          tail = "<br>\n";  // never closed
          break;
        case 3:
          open = "<a href =\t\"";
          shut = "\"title='a > b'";
          break;
        case 4:
          open = "<td><a href=\"";
          shut = "\" href=\"/second-href.html\"";
          break;
        case 5:
          open = "<map><area shape=rect href=\"";
          tail = "</map>\n";
          empty = true;
          break;
        case 6:
          open = "<a onclick=\"x='<a href=1>'\" href=\"";
          break;
        case 7:
          open = "<a href=";
          shut = "";
          spelling.unquoted = true;
          break;
        default:
          break;
      }
    }
    out_ += open;
    AppendHref(out_, spelling);
    out_ += shut;
    if (nofollow) out_ += (draw & 1024) != 0 ? " rel=\"nofollow\"" : " rel='noopener NoFollow'";
    out_ += '>';
    if (!empty) Anchor(draw >> 24);
    out_ += tail;
  }

  void Text(std::string_view text) { out_ += text; }

 private:
  const Web& web_;
  std::string& out_;
  size_t begin_ = 0;
  uint64_t row_;
  uint64_t goal_;
  bool odd_;
  const TextPool* pool_ = nullptr;
  const Language* language_ = nullptr;
  std::string_view charset_;
};

// The body's links with filling between them.
void WriteLinks(HtmlWriter& writer, const Web& web, SpellingOptions spelling, bool tls,
                const std::vector<PlannedLink>& links, std::string_view end_of_head) {
  std::string url;
  size_t index = 0;
  Region region = Region::kHead;
  const bool default_http = web.params.http_port == 0 || web.params.http_port == 80;
  const bool default_https = web.params.https_port == 0 || web.params.https_port == 443;
  const auto enter = [&](Region next) {
    if (region == next) return;
    if (region == Region::kHead) {
      writer.Text(end_of_head);
      writer.Text("</head>\n<body>\n");
    }
    if (region == Region::kNavigation) writer.Text("</ul></div>\n");
    if (next == Region::kNavigation) writer.Text("<div id=\"nav\"><ul>\n");
    region = next;
  };
  for (const PlannedLink& link : links) {
    url.clear();
    bool to_tls = false;
    if (link.target.place_class == PlaceClass::kSpam) {
      web.atlas.AppendSpamOrigin(url, link.target.host);
      spelling.origin_size = url.size();
      Paths::AppendSpam(url, link.target.host, link.target.number);
    } else {
      const HostFacts& facts = web.atlas.facts(link.hid);
      url += web.atlas.Origin(link.hid);
      to_tls = facts.tls;
      spelling.origin_size = url.size();
      if (link.target.place_class == PlaceClass::kPage) {
        web.paths.AppendPage(url, facts.content, link.target.number);
      } else {
        web.paths.AppendTrap(url, facts.content, link.target.place_class, link.target.number);
      }
    }
    spelling.url = url;
    spelling.local = link.local;
    spelling.same_scheme = to_tls == tls;
    spelling.default_port = to_tls ? default_https : default_http;
    spelling.draw = link.draw;
    if (link.region == Region::kHead) {
      spelling.draw = 0;  // plain
      spelling.local = false;
      writer.Canonical(spelling);
    } else {
      enter(link.region);
      if (region == Region::kBody) {
        writer.Fill(static_cast<double>(index) / static_cast<double>(links.size() + 1), web.params.script_share);
      }
      writer.Link(spelling, link.nofollow, region);
    }
    ++index;
  }
  enter(Region::kBody);
  writer.Fill(1, web.params.script_share);
  writer.Text("</body>\n</html>\n");
}

// Reused, so that a page costs no allocation for its plan.
std::vector<PlannedLink>& PlanBuffer() {
  thread_local std::vector<PlannedLink> plan;
  plan.clear();
  return plan;
}

}  // namespace

void RenderPage(const Web& web, const PageLook& look, std::string& out) {
  const HostFacts& facts = web.atlas.facts(look.content);
  const WorldParams& params = web.params;
  const uint64_t text = Draw(web.seed, Salt::kPageText, look.content, look.page);
  const double bytes =
      Lognormal(Draw(web.seed, Salt::kPageSize, look.content, look.page), params.page_bytes, params.page_sigma);
  const auto goal = static_cast<uint64_t>(std::min(bytes, static_cast<double>(params.page_bytes_max)));
  const bool odd = Unit(Mix64(text)) < params.malformed;
  // News: a quarter of the pages of a host rewrite everything when they change, the others only their beginning.
  const bool rewritten = (text & 3) == 0;
  HtmlWriter writer(web, out, text + (rewritten ? look.version * 0x9e3779b9 : 0), goal, odd);
  writer.SetPool(facts.language, facts.charset);
  writer.OpenHead(facts.style, text, look.noindex, look.nofollow);

  // The path is this page's, unless its body is made to be shown elsewhere.
  std::string base;
  web.paths.AppendPage(base, look.content, look.page);
  SpellingOptions spelling;
  spelling.mirrored = facts.mirrored || web.atlas.facts(look.served).mirrored;
  spelling.portable = web.fate.IsPortable(look.content, look.page);
  if ((text >> 8) % 16 == 0) {
    base = "/";
    if ((text >> 16) % 2 == 0) (base += PathWords()[(text >> 20) & 127]) += "/there/";
    writer.Base(base);
    spelling.portable = false;
  }
  spelling.base_path = base;

  std::vector<PlannedLink>& links = PlanBuffer();
  PlanPage(web, look.served, look.content, look.page, look.version, look.unix_ns,
           [&](const PlannedLink& link) { links.push_back(link); });
  // What marks a version, or a near duplicate.
  const uint64_t mark = Mix64(look.version + look.twist * 0x9e3779b97f4a7c15);
  char digits[24];
  const char* const end = std::to_chars(digits, digits + sizeof(digits), mark).ptr;
  std::string edition = "<meta name=\"edition\" content=\"";
  edition.append(digits, static_cast<size_t>(end - digits));
  edition += "\">\n";
  WriteLinks(writer, web, spelling, web.atlas.facts(look.served).tls, links, edition);
  if (look.boilerplate != 0) {
    out += "<div id=\"footer\" class=\"ads\"><p>";
    for (uint64_t i = 0; i < 3; ++i) {
      writer.Anchor(Mix64(look.boilerplate + i * 0x9e3779b97f4a7c15));
      out += ' ';
    }
    out += "</p></div>\n";
  }
  if (look.twist != 0) {
    out += "<p>";
    for (int i = 0; i < 4; ++i) {
      writer.Anchor(Mix64(look.twist + static_cast<uint64_t>(i)));
      out += ' ';
    }
    out += "</p>\n";
  }
}

void RenderTrap(const Web& web, uint32_t served, PlaceClass trap, uint64_t state, std::string& out) {
  const HostFacts& facts = web.atlas.facts(served);
  // A session shows the same item under ever new names; the other traps are at least new text.
  const uint64_t text = trap == PlaceClass::kSession
                            ? Draw(web.seed, Salt::kPageText, facts.content, state % kSessionItems)
                            : Draw(web.seed, Salt::kTrap, facts.content, state + static_cast<uint64_t>(trap));
  HtmlWriter writer(web, out, text, 3000 + text % 4000, false);
  writer.SetPool(facts.language, facts.charset);
  writer.OpenHead(facts.style, text, false, false);
  std::string base;
  web.paths.AppendTrap(base, facts.content, trap, state);
  SpellingOptions spelling;
  spelling.base_path = base;
  spelling.mirrored = facts.mirrored;
  std::vector<PlannedLink>& links = PlanBuffer();
  PlanTrap(web, served, trap, state, [&](const PlannedLink& link) { links.push_back(link); });
  WriteLinks(writer, web, spelling, facts.tls, links, {});
}

// A page of a session is the host's page; the others show the same text, but for a few words.
void RenderMaze(const Web& web, uint32_t served, uint64_t state, std::string& out) {
  const HostFacts& facts = web.atlas.facts(served);
  const MazeLook look = LookOfMaze(web, facts.content, state);
  HtmlWriter writer(web, out, look.text, 4000 + look.text % 4000, false);
  writer.SetPool(facts.language, facts.charset);
  writer.OpenHead(facts.style, look.text, false, false);
  std::string base;
  web.paths.AppendMaze(base, facts.content, state);
  SpellingOptions spelling;
  spelling.base_path = base;
  spelling.mirrored = facts.mirrored;
  std::vector<PlannedLink>& links = PlanBuffer();
  PlanMaze(web, served, state, [&](const PlannedLink& link) { links.push_back(link); });
  WriteLinks(writer, web, spelling, facts.tls, links, {});
  if (look.twist == 0) return;
  out += "<p>";
  writer.Anchor(look.twist);
  out += "</p>\n";
}

void RenderSpam(const Web& web, HostId host, uint64_t page, std::string& out) {
  const uint64_t text = Draw(web.seed, Salt::kSpam, host.domain, page);  // the same under all names of a farm
  HtmlWriter writer(web, out, text, 4000 + text % 8000, false);
  writer.SetPool(0, 0);
  writer.OpenHead(4, text, false, false);
  std::string base;
  Paths::AppendSpam(base, host, page);
  SpellingOptions spelling;
  spelling.base_path = base;
  std::vector<PlannedLink>& links = PlanBuffer();
  PlanSpam(web, host, page, [&](const PlannedLink& link) { links.push_back(link); });
  WriteLinks(writer, web, spelling, false, links, {});
}

void RenderNotice(std::string_view title, std::string& out) {
  out += "<!DOCTYPE html>\n<html><head><title>";
  out += title;
  out += "</title></head>\n<body><h1>";
  out += title;
  out +=
      "</h1>\n<p>The page that you asked for could not be shown. We are sorry. Perhaps it was moved, perhaps it never "
      "was here; please look at another one.</p>\n</body></html>\n";
}

}  // namespace portolan::sim
