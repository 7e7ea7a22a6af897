// Where a tag lands: in HTML, SVG or MathML, by what three probes behind it give. The expectations are those of the
// standard's tree.

#include "html/foreign_content.h"

#include <gtest/gtest.h>

#include <string>

#include "html/page_reader.h"

namespace portolan {
namespace {

// "html" where a form is one, "svg" where an <a> has its address in xlink:href, otherwise "math".
std::string After(const std::string& html) {
  PageReader reader;
  const auto found = [&](const char* probe) {
    for (const PageLink& link : reader.Read(html + probe).links) {
      if (reader.Read(html + probe).View(link.url) == "probe") return true;
    }
    return false;
  };
  if (found("<form action=probe>")) return "html";
  return found("<a xlink:href=probe>") ? "svg" : "math";
}

TEST(ForeignContentTest, EndTagsOfHtmlAroundADrawing) {
  EXPECT_EQ(After("<div><svg></div>"), "html");
  EXPECT_EQ(After("<div><svg><path></div>"), "html");
  EXPECT_EQ(After("<div><svg><path></svg><path>"), "html");
  EXPECT_EQ(After("<div><svg><path><foreignObject><math></div>"), "math");
  EXPECT_EQ(After("<div><svg><path><foreignObject><p></div></p></foreignObject>"), "svg");
  EXPECT_EQ(After("<table><caption><svg><g>foo</g><g>bar</g>baz</table>"), "html");
  EXPECT_EQ(After("<table><tr><td><svg><desc><b></td>"), "html");
  EXPECT_EQ(After("<svg></path></g></custom-element>"), "svg");
  EXPECT_EQ(After("<svg><g></svg></g>"), "html");
  EXPECT_EQ(After("<svg></body></html>"), "svg");
}

TEST(ForeignContentTest, HtmlInsideIntegrationPoints) {
  EXPECT_EQ(After("<svg><desc><div><svg><ul></ul></div></desc>"), "svg");
  EXPECT_EQ(After("<svg><desc><svg><ul></ul></desc>"), "svg");
  EXPECT_EQ(After("<p><svg><desc><p></p></desc>"), "svg");
  EXPECT_EQ(After("<div><svg><foreignObject><p></foreignObject>"), "html");  // the p keeps it open
  EXPECT_EQ(After("<div><svg><foreignObject><p></p></foreignObject>"), "svg");
  EXPECT_EQ(After("<math><mi><div><object><div><span></span></div></object></div></mi>"), "math");
  EXPECT_EQ(After("<math><mi><svg><foreignObject><div><div></div></div></foreignObject></svg></mi>"), "math");
  EXPECT_EQ(After("<math><annotation-xml><svg></svg></annotation-xml>"), "math");
  EXPECT_EQ(After("<math><annotation-xml><svg><foreignObject><div><math><mi></mi></math><span></span></div>"
                  "</foreignObject><path></path></svg></annotation-xml>"),
            "math");
  EXPECT_EQ(After("<math><annotation-xml></svg>"), "math");
  EXPECT_EQ(After("<math><annotation-xml><div>"), "html");
  EXPECT_EQ(After("<math><annotation-xml encoding='text/html'><div></div></annotation-xml>"), "math");
}

// What closes what in HTML matters where an end tag of SVG comes behind it.
TEST(ForeignContentTest, ElementsOfHtmlCloseOneAnother) {
  const auto inside = [](const std::string& html) { return After("<svg><desc>" + html + "</desc>"); };
  EXPECT_EQ(inside("<ul><li><p>a<li>b</ul>"), "svg");
  EXPECT_EQ(inside("<dl><dt>a<dd>b<dt>c</dl>"), "svg");
  EXPECT_EQ(inside("<p>a<div>b</div>"), "svg");      // the div closes the p
  EXPECT_EQ(inside("<p>a<b>b<div>c</div>"), "svg");  // and the b in it
  EXPECT_EQ(inside("<h1>a<h2>b</h3>"), "svg");       // a heading closes a heading, any end tag of one does
  EXPECT_EQ(inside("<b><i>a</b>b"), "svg");          // the i goes with the b
  EXPECT_EQ(inside("<b><div>a</b>b</div>"), "svg");  // the div stays when the b goes
  EXPECT_EQ(inside("<a>a<a>b</a>"), "svg");
  EXPECT_EQ(inside("<button>a<button>b</button>"), "svg");
  EXPECT_EQ(inside("<br><img><input><wbr><hr><image>"), "svg");
  EXPECT_EQ(inside("<select><option>a<option>b</select>"), "svg");
  EXPECT_EQ(inside("<table><tr><td>a<td>b<tr><th>c<tbody><tr><td>d</table>"), "svg");
  EXPECT_EQ(inside("<td></tbody>"), "html");  // an end of a table: that around the drawing, they say
  EXPECT_EQ(inside("<span></b></span>"), "svg");
  EXPECT_EQ(inside("<x-a><x-b></x-a>"), "svg");
  EXPECT_EQ(inside("<div><x-a></div>"), "svg");
  EXPECT_EQ(inside("<x-a><div></x-a>"), "html");  // not past the div
  EXPECT_EQ(inside("<template><div></template>"), "svg");
  EXPECT_EQ(inside("<script></desc></script><textarea></desc></textarea><title></desc></title>"), "svg");
}

TEST(ForeignContentTest, DepthIsBounded) {
  ForeignContent content;
  for (size_t i = 0; i < 10 * ForeignContent::kMaxDepth; ++i) content.Start({.tag = Tag::kSvg, .name = "svg"});
  for (size_t i = 0; i < ForeignContent::kMaxDepth; ++i) {
    EXPECT_FALSE(content.empty());
    content.End(Tag::kSvg, "svg", false);
  }
  EXPECT_TRUE(content.empty());
}

}  // namespace
}  // namespace portolan
