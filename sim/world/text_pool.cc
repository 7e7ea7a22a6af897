#include "sim/world/text_pool.h"

#include <fmt/core.h>
#include <unicode/ucnv.h>

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "io/rng.h"
#include "sim/world/words.h"

namespace portolan::sim {
namespace {

// Labels mean what the WHATWG Encoding Standard says, not what their names say.
std::string_view ConverterOf(std::string_view charset) {
  if (charset == "iso-8859-1") return "windows-1252";
  if (charset == "gb2312") return "GBK";
  if (charset == "shift_jis") return "windows-31j";
  return charset;
}

std::string Encode(const std::string& utf8, std::string_view charset) {
  if (charset == "utf-8") return utf8;
  std::string out(utf8.size() * 4 + 16, '\0');
  UErrorCode status = U_ZERO_ERROR;
  const std::string converter(ConverterOf(charset));
  const int32_t size = ucnv_convert(converter.c_str(), "UTF-8", out.data(), static_cast<int32_t>(out.size()),
                                    utf8.data(), static_cast<int32_t>(utf8.size()), &status);
  CHECK(U_SUCCESS(status), "no converter for {}: {}", charset, u_errorName(status));
  out.resize(static_cast<size_t>(size));
  return out;
}

class PieceWriter {
 public:
  PieceWriter(const Language& language, uint64_t seed) : language_(language), rng_(seed) {}

  std::string Words(size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text += language_.blank;
      text += Word();
    }
    return text;
  }

  std::string Sentence() {
    std::string text;
    const size_t count = 5 + rng_.Below(12);
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) text += language_.blank;
      const std::string_view word = Word();
      switch (rng_.Below(150)) {
        case 0:
          text += fmt::format("<b>{}</b>", word);
          break;
        case 1:
          text += fmt::format("<em class=\"x{}\">{}</em>", rng_.Below(90), word);
          break;
        case 2:
          text += fmt::format("<span style=\"color:#{:06x}\">{}</span>", rng_.Below(1 << 24), word);
          break;
        case 3:
          text += fmt::format("{}&nbsp;&amp; {}", word, rng_.Below(2000));
          break;
        case 4:
          text += fmt::format("&quot;{}&#8221; &mdash;", word);
          break;
        case 5:
          text += fmt::format("{}<!-- {} --><br>", word, rng_.Below(100000));
          break;
        default:
          text += word;
          break;
      }
    }
    text += language_.stop;
    return text;
  }

  std::string Sentences(size_t count) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += Sentence();
    return text;
  }

  // What a template repeats around a few words: long attributes, style, indentation.
  std::string Rows() {
    std::string text;
    const size_t rows = 2 + rng_.Below(5);
    switch (rng_.Below(4)) {
      case 0:
        text = "        <ul class=\"menu-list menu-list-small\">\n";
        for (size_t i = 0; i < rows; ++i) {
          text += fmt::format("            <li class=\"menu-item menu-item-type-page menu-item-level-two\">{}</li>\n",
                              Words(2 + rng_.Below(6)));
        }
        return text + "        </ul>\n";
      case 1:
        text = "<table class=\"data\" style=\"border: 0; width: 100%; margin: 0 auto;\">\n";
        for (size_t i = 0; i < rows; ++i) {
          text +=
              fmt::format("                <tr><td style=\"text-align: left; vertical-align: top;\">{}, {}</td></tr>\n",
                          Words(4), rng_.Below(100));
        }
        return text + "</table>\n";
      case 2:
        text = "    <div class=\"teasers teasers-of-the-day\">\n";
        for (size_t i = 0; i < rows; ++i) {
          text += fmt::format(
              "        <p class=\"teaser teaser-text teaser-text-small\">\n                {}\n        </p>\n",
              Sentence());
        }
        return text + "    </div>\n";
      default:
        text = "    <form action=\"javascript:void(0)\" class=\"search-form search-form-small\">\n";
        for (size_t i = 0; i < rows; ++i) {
          text +=
              fmt::format("        <input type=\"hidden\" name=\"option-{}\" class=\"search-field\" value=\"{}\" />\n",
                          i + 1, Words(3));
        }
        return text + "    </form>\n";
    }
  }

  std::string Paragraph() {
    if (rng_.Below(2) == 0) return Rows();
    const size_t sentences = 1 + rng_.Below(8);
    switch (rng_.Below(16)) {
      case 0:
        return fmt::format("<h{0} id=\"s{1}\">{2}</h{0}>\n<p>{3}</p>\n", 2 + rng_.Below(3), rng_.Below(1000), Words(4),
                           Sentences(sentences));
      case 1:
        return fmt::format("<blockquote><p>{}</p></blockquote>\n", Sentences(sentences));
      case 2:
        return fmt::format("<table border=0 cellpadding=2><tr><td>{}</td><td>{}</td></tr></table>\n", Sentences(2),
                           Sentences(sentences));
      case 3:
        return fmt::format("<ul class='plain'><li>{}</li>\n<li>{}</li></ul>\n", Sentence(), Sentence());
      case 4:
        return fmt::format("<p><img alt=\"{}\" src=\"data:image/gif;base64,R0lGODlhAQABAAAAACw=\" width={}>{}</p>\n",
                           Words(2), rng_.Below(600), Sentences(sentences));
      case 5:
        return fmt::format("<!-- <a href=\"/old-{}.html\">{}</a> -->\n<p>{}</p>\n", Words(1).size(), rng_.Below(99),
                           Sentences(sentences));
      case 6:
        return fmt::format("<p>{} <a href=\"mailto:info@mail.test\">{}</a></p>\n", Sentences(sentences), Words(2));
      case 7:
        return fmt::format("<div onclick=\"go('/nowhere')\"><a href=\"javascript:void({})\">{}</a>{}</div>\n",
                           rng_.Below(9), Words(2), Sentences(sentences));
      default:
        return fmt::format("<p>{}</p>\n", Sentences(sentences));
    }
  }

  std::string OddPiece() {
    switch (rng_.Below(16)) {
      case 0:
        return fmt::format("<p>{}<b><i>{}</b>{}</i>\n", Sentence(), Words(2), Sentence());
      case 1:
        return fmt::format("<P ALIGN=center>{} < {} <> {}\n", Words(3), Words(2), Words(3));
      case 2:
        return fmt::format("</><!DOCTYP>< /p>{}<?php echo 1 ?></ p>\n", Sentence());
      case 3:
        return fmt::format("<font color=red size=+1 color=\"blue\">{}<font>\n", Sentence());
      case 4:
        return fmt::format("<table><tr><td>{}<td>{}<tr><td bgcolor=#ffffff>{}\n", Words(2), Words(3), Sentence());
      case 5:
        return fmt::format("<textarea rows=2><a href=\"/in-textarea.html\">{}</a></textarea>\n", Words(2));
      case 6:
        return fmt::format("<p class=\"a\"class=b id=>{} &foo; &#xZZ; &amp &lt;a href=x&gt;\n", Sentence());
      case 7:
        return fmt::format("<p title='{}>'>{}\n", Words(1), Sentence());
      case 8:
        return fmt::format("<script>document.write('<a href=\"/by-script.html\">x</a>');</script>{}\n", Sentence());
      case 9:
        return fmt::format("<template><a href=\"/in-template.html\">{}</a></template>{}\n", Words(1), Sentence());
      case 10:
        return fmt::format("<style>a:before{{content:'<a href=/in-style>'}}</style>{}\n", Sentence());
      case 11:
        return std::string("<p>\0\x01 ", 6) + Sentence() + "\r\n";
      case 12:
        return fmt::format("<!-- {} -- > <a href='/in-comment'> --!>{}\n", Words(2), Sentence());
      case 13:
        return fmt::format("<div<br>{}</div>\n", Sentence());
      case 14:
        return fmt::format("<img alt={} height>{}<br/ >\n", rng_.Below(99), Sentence());
      default:
        return fmt::format("<li>{}<li>{}</ul></ol>\n", Words(4), Sentence());
    }
  }

  std::string Script() {
    std::string text;
    switch (rng_.Below(3)) {
      case 0:
        text = "<style type=\"text/css\">\n";
        for (size_t i = 0, n = 10 + rng_.Below(60); i < n; ++i) {
          text += fmt::format(".c{:x} > .d{}{{margin:{}px {}px;color:#{:06x}}}\n", rng_.Below(1 << 20), rng_.Below(99),
                              rng_.Below(40), rng_.Below(40), rng_.Below(1 << 24));
        }
        return text + "</style>\n";
      case 1:
        text = "<script type=\"application/json\">{\"state\":[";
        for (size_t i = 0, n = 10 + rng_.Below(80); i < n; ++i) {
          text += fmt::format("{{\"id\":{},\"k\":\"{:x}\",\"u\":\"/api/v{}?x={}\"}},", rng_.Below(1'000'000),
                              rng_.Next(), rng_.Below(9), rng_.Below(999));
        }
        return text + "null]}</script>\n";
      default:
        text = "<script>\n(function(w,d){";
        for (size_t i = 0, n = 10 + rng_.Below(60); i < n; ++i) {
          text += fmt::format("var a{}=d.q('#n{}');if(a{}<w.x[{}]&&!{})w.p('<a href=\"/s{}\">');\n", i, rng_.Below(999),
                              i, rng_.Below(99), rng_.Below(2), rng_.Below(999));
        }
        return text + "})(window,document);</script>\n";
    }
  }

  Rng& rng() { return rng_; }

 private:
  // The first words of a language are its common ones.
  std::string_view Word() {
    const uint64_t most = language_.words.size();
    return language_.words[std::min({rng_.Below(most), rng_.Below(most), rng_.Below(most)})];
  }

  const Language& language_;
  Rng rng_;
};

}  // namespace

TextPools::TextPools(uint64_t seed) {
  for (size_t l = 0; l < Languages().size(); ++l) {
    const Language& language = Languages()[l];
    // The same text in all charsets of a language: drawn once, encoded often.
    std::vector<std::string> paragraphs;
    std::vector<std::string> odd;
    std::vector<std::string> anchors;
    PieceWriter writer(language, Mix64(seed + l + 1));
    for (size_t i = 0; i < kParagraphs; ++i) paragraphs.push_back(writer.Paragraph());
    for (size_t i = 0; i < kOddPieces; ++i) odd.push_back(writer.OddPiece());
    for (size_t i = 0; i < kAnchors; ++i) anchors.push_back(writer.Words(1 + writer.rng().Below(4)));
    auto& pools = pools_.emplace_back(language.charsets.size());
    for (size_t c = 0; c < language.charsets.size(); ++c) {
      const std::string_view charset = language.charsets[c];
      for (const std::string& piece : paragraphs) pools[c].paragraphs.Add(Encode(piece, charset));
      for (const std::string& piece : odd)
        pools[c].odd.Add(Encode(piece, charset) + (piece.size() % 3 == 0 ? "\xff " : ""));
      for (const std::string& piece : anchors) pools[c].anchors.Add(Encode(piece, charset));
    }
  }
  PieceWriter writer(Languages()[0], Mix64(seed));
  for (size_t i = 0; i < kScripts; ++i) scripts_.Add(writer.Script());
}

}  // namespace portolan::sim
