#include "bench/html/gumbo_links.h"

#include <gumbo.h>

#include "base/ascii.h"
#include "html/link_values.h"

namespace portolan::bench {
namespace {

constexpr unsigned kCopied = GUMBO_INSERTION_ADOPTION_AGENCY_CLONED | GUMBO_INSERTION_RECONSTRUCTED_FORMATTING_ELEMENT;

struct Wanted {
  GumboTag tag;
  const char* attribute;
};
constexpr Wanted kWanted[] = {{GUMBO_TAG_A, "href"},     {GUMBO_TAG_AREA, "href"},    {GUMBO_TAG_LINK, "href"},
                              {GUMBO_TAG_IMG, "src"},    {GUMBO_TAG_IMG, "srcset"},   {GUMBO_TAG_FRAME, "src"},
                              {GUMBO_TAG_IFRAME, "src"}, {GUMBO_TAG_SOURCE, "src"},   {GUMBO_TAG_SOURCE, "srcset"},
                              {GUMBO_TAG_VIDEO, "src"},  {GUMBO_TAG_VIDEO, "poster"}, {GUMBO_TAG_AUDIO, "src"},
                              {GUMBO_TAG_TRACK, "src"},  {GUMBO_TAG_EMBED, "src"},    {GUMBO_TAG_OBJECT, "data"},
                              {GUMBO_TAG_SCRIPT, "src"}, {GUMBO_TAG_FORM, "action"},  {GUMBO_TAG_BODY, "background"}};

}  // namespace

void GumboLinks::Read(std::string_view html) {
  strings.clear();
  links.clear();
  found_.clear();
  has_base = false;
  base = {};
  GumboOptions options = kGumboDefaultOptions;
  GumboOutput* output = gumbo_parse_with_options(&options, html.data(), html.size());
  Collect(output->root);
  gumbo_destroy_output(&options, output);
  for (const Found& found : found_) {
    const std::string_view value = std::string_view(strings).substr(found.begin, found.size);
    if (found.tag == "base") {
      base = value;
      has_base = true;
    } else {
      links.push_back({found.tag, found.attribute, value, found.copy});
    }
  }
}

void GumboLinks::Collect(const void* root) {
  bool base_seen = false;
  const auto keep = [&](const GumboElement& element, const char* attribute, std::string_view value, bool copy) {
    value = TrimHtmlSpace(value);
    found_.push_back({gumbo_normalized_tagname(element.tag), attribute, strings.size(), value.size(), copy});
    strings.append(value);
  };
  std::vector<const GumboNode*> stack = {static_cast<const GumboNode*>(root)};
  while (!stack.empty()) {
    const GumboNode* node = stack.back();
    stack.pop_back();
    if (node->type != GUMBO_NODE_ELEMENT && node->type != GUMBO_NODE_TEMPLATE) continue;
    const GumboElement& element = node->v.element;
    const bool copy = (node->parse_flags & kCopied) != 0;
    const auto value_of = [&](const char* name) -> const char* {
      const GumboAttribute* attribute = gumbo_get_attribute(&element.attributes, name);
      return attribute == nullptr ? nullptr : attribute->value;
    };
    for (const Wanted& wanted : kWanted) {
      if (wanted.tag != element.tag) continue;
      const char* value = value_of(wanted.attribute);
      if (value == nullptr) continue;
      if (std::string_view(wanted.attribute) == "srcset") {
        SrcsetReader reader(value);
        while (const auto url = reader.Next()) keep(element, wanted.attribute, *url, copy);
      } else {
        keep(element, wanted.attribute, value, copy);
      }
    }
    if (element.tag == GUMBO_TAG_INPUT) {
      const char* type = value_of("type");
      const char* src = value_of("src");
      if (type != nullptr && src != nullptr && EqualsIgnoringCase(TrimHtmlSpace(type), "image")) {
        keep(element, "src", src, copy);
      }
    } else if (element.tag == GUMBO_TAG_META) {
      const char* header = value_of("http-equiv");
      const char* content = value_of("content");
      if (header != nullptr && content != nullptr && EqualsIgnoringCase(TrimHtmlSpace(header), "refresh")) {
        if (const auto url = RefreshUrl(content)) keep(element, "content", *url, copy);
      }
    } else if (element.tag == GUMBO_TAG_BASE && !base_seen) {
      if (const char* href = value_of("href")) {
        keep(element, "href", href, copy);
        base_seen = true;
      }
    }
    for (unsigned i = element.children.length; i > 0; --i) {
      stack.push_back(static_cast<const GumboNode*>(element.children.data[i - 1]));
    }
  }
}

}  // namespace portolan::bench
