#include <expat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/check.h"
#include "http/date.h"
#include "robots/sitemap_reader.h"

namespace portolan {
namespace {

// The elements that mean something, by their name without prefix.
enum class Tag : uint8_t {
  kOther,
  kUrlSet,
  kSitemapIndex,
  kUrl,
  kSitemap,
  kLoc,
  kLastMod,
  kPriority,
  kChangeFreq,
  kRss,
  kRdf,
  kChannel,
  kItem,
  kLink,
  kGuid,
  kPubDate,
  kDate,
  kFeed,
  kEntry,
  kUpdated,
  kPublished,
};

constexpr std::array<std::pair<std::string_view, Tag>, 20> kTags = {{
    {"urlset", Tag::kUrlSet},     {"sitemapindex", Tag::kSitemapIndex},
    {"url", Tag::kUrl},           {"sitemap", Tag::kSitemap},
    {"loc", Tag::kLoc},           {"lastmod", Tag::kLastMod},
    {"priority", Tag::kPriority}, {"changefreq", Tag::kChangeFreq},
    {"rss", Tag::kRss},           {"rdf", Tag::kRdf},
    {"channel", Tag::kChannel},   {"item", Tag::kItem},
    {"link", Tag::kLink},         {"guid", Tag::kGuid},
    {"pubdate", Tag::kPubDate},   {"date", Tag::kDate},
    {"feed", Tag::kFeed},         {"entry", Tag::kEntry},
    {"updated", Tag::kUpdated},   {"published", Tag::kPublished},
}};

Tag TagOf(std::string_view name) {
  for (const auto& [known, tag] : kTags) {
    if (name.size() == known.size() && EqualsIgnoringCase(name, known)) return tag;
  }
  return Tag::kOther;
}

constexpr std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t from = text.find_first_not_of(kBlanks);
  return from == std::string_view::npos ? std::string_view()
                                        : text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

// "0.8", "1", ".5"; others, and what is outside of 0 to 1, give none.
std::optional<float> ParsePriority(std::string_view text) {
  text = Trim(text);
  float value = 0;
  float unit = 1;
  bool point = false;
  size_t digits = 0;
  for (const char c : text.substr(0, 16)) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!IsDigit(c)) return std::nullopt;
    ++digits;
    if (point) unit /= 10;
    value = point ? value + unit * static_cast<float>(c - '0') : value * 10 + static_cast<float>(c - '0');
  }
  if (digits == 0 || value > 1) return std::nullopt;
  return value;
}

ChangeFrequency ParseFrequency(std::string_view text) {
  constexpr std::array<std::string_view, 7> kNames = {"always",  "hourly", "daily", "weekly",
                                                      "monthly", "yearly", "never"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (EqualsIgnoringCase(Trim(text), kNames[i])) return static_cast<ChangeFrequency>(i + 1);
  }
  return ChangeFrequency::kNone;
}

// Entries have few links; an entry with thousands is not a real one.
constexpr size_t kMaxEntryLinks = 64;

}  // namespace

class SitemapParser::XmlReader final : public SitemapParser::Reader {
 public:
  XmlReader(const SitemapLimits& limits, const std::function<bool(SitemapEntry&)>& on_entry)
      : Reader(limits, on_entry), parser_(XML_ParserCreate(nullptr)) {
    CHECK(parser_ != nullptr, "expat has no memory");
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, &OnStart, &OnEnd);
    XML_SetCharacterDataHandler(parser_, &OnText);
    XML_SetEntityDeclHandler(parser_, &OnEntityDeclaration);
    XML_SetUnknownEncodingHandler(parser_, &OnUnknownEncoding, nullptr);
    // As if a DTD had been named that we do not read: an undeclared entity (&nbsp;) is then skipped instead of ending
    // the document.
    XML_SetParamEntityParsing(parser_, XML_PARAM_ENTITY_PARSING_UNLESS_STANDALONE);
    XML_SetExternalEntityRefHandler(parser_, &OnExternalEntity);
    XML_UseForeignDTD(parser_, XML_TRUE);
  }
  ~XmlReader() override { XML_ParserFree(parser_); }

  SitemapOutcome Feed(std::string_view bytes) override {
    // Large input by steps, so that a token without end is seen while it is small.
    constexpr size_t kStep = size_t{256} << 10;
    while (!bytes.empty() && outcome_ == SitemapOutcome::kGoing) {
      const std::string_view piece = bytes.substr(0, kStep);
      bytes.remove_prefix(piece.size());
      fed_ += piece.size();
      Parse(piece, false);
      const auto index = static_cast<uint64_t>(std::max<XML_Index>(XML_GetCurrentByteIndex(parser_), 0));
      if (outcome_ == SitemapOutcome::kGoing && fed_ - std::min(index, fed_) > kMaxToken) {
        outcome_ = SitemapOutcome::kHostile;
      }
    }
    return outcome_;
  }

  SitemapOutcome Finish() override {
    if (outcome_ == SitemapOutcome::kGoing) Parse({}, true);
    if (outcome_ == SitemapOutcome::kGoing) {
      outcome_ = kind_ == SitemapKind::kUnknown ? SitemapOutcome::kNoSitemap : SitemapOutcome::kWhole;
    }
    return outcome_;
  }

 private:
  static XmlReader& Self(void* self) { return *static_cast<XmlReader*>(self); }
  static void OnStart(void* self, const XML_Char* name, const XML_Char** attributes) {
    Self(self).Start(name, attributes);
  }
  static void OnEnd(void* self, const XML_Char*) { Self(self).End(); }
  static void OnText(void* self, const XML_Char* text, int size) {
    Self(self).Text(std::string_view(text, static_cast<size_t>(size)));
  }
  static void OnEntityDeclaration(void* self, const XML_Char*, int, const XML_Char*, int, const XML_Char*,
                                  const XML_Char*, const XML_Char*, const XML_Char*) {
    Self(self).Stop(SitemapOutcome::kHostile);
  }
  // Nothing is loaded: whatever a document type names is empty to us.
  static int OnExternalEntity(XML_Parser parser, const XML_Char* context, const XML_Char*, const XML_Char*,
                              const XML_Char*) {
    XML_Parser empty = XML_ExternalEntityParserCreate(parser, context, nullptr);
    if (empty == nullptr) return XML_STATUS_ERROR;
    const XML_Status status = XML_Parse(empty, "", 0, 1);
    XML_ParserFree(empty);
    return status;
  }
  // URLs are ASCII in every encoding that the web uses, and no second byte of a character is < or &: byte for byte.
  static int OnUnknownEncoding(void*, const XML_Char*, XML_Encoding* info) {
    for (int i = 0; i < 256; ++i) info->map[i] = i;
    for (int i = 0x80; i < 0xa0; ++i) info->map[i] = 0xfffd;
    info->data = nullptr;
    info->convert = nullptr;
    info->release = nullptr;
    return XML_STATUS_OK;
  }

  void Stop(SitemapOutcome why) {
    if (outcome_ == SitemapOutcome::kGoing) outcome_ = why;
    XML_StopParser(parser_, XML_FALSE);
  }

  void Parse(std::string_view piece, bool last) {
    const XML_Status status = XML_Parse(parser_, piece.data(), static_cast<int>(piece.size()), last ? 1 : 0);
    if (status == XML_STATUS_ERROR && outcome_ == SitemapOutcome::kGoing) {
      // If the document is of no known kind, that outcome comes first.
      const bool other = kind_ == SitemapKind::kUnknown && !path_.empty();
      outcome_ = other ? SitemapOutcome::kNoSitemap : SitemapOutcome::kMalformed;
    }
  }

  void Start(std::string_view qualified, const XML_Char** attributes) {
    const size_t colon = qualified.find(':');
    const bool prefixed = colon != std::string_view::npos;
    const Tag tag = TagOf(prefixed ? qualified.substr(colon + 1) : qualified);
    const Tag parent = path_.empty() ? Tag::kOther : path_.back();
    if (path_.empty() && !StartDocument(tag)) return;
    if (path_.size() >= limits_.max_depth) return Stop(SitemapOutcome::kTooDeep);
    path_.push_back(tag);
    text_.clear();
    wants_text_ = false;
    switch (kind_) {
      case SitemapKind::kUrlSet:
      case SitemapKind::kIndex:
        if (tag == Tag::kUrl || tag == Tag::kSitemap) {
          entry_ = SitemapEntry{};
          entry_.role = tag == Tag::kUrl ? SitemapEntry::Role::kPage : SitemapEntry::Role::kSitemap;
          loose_.clear();
        }
        wants_text_ = parent == Tag::kUrl || parent == Tag::kSitemap;
        break;
      case SitemapKind::kRss:
        if (tag == Tag::kItem) {
          entry_ = SitemapEntry{};
          guid_.clear();
        }
        // <atom:link> in a channel names the feed itself.
        wants_text_ = (parent == Tag::kItem || parent == Tag::kChannel) && (tag != Tag::kLink || !prefixed);
        if (tag == Tag::kGuid) {
          const std::string_view permanent = Attribute(attributes, "isPermaLink");
          wants_text_ = wants_text_ && !EqualsIgnoringCase(permanent, "false");
        }
        break;
      case SitemapKind::kAtom:
        if (tag == Tag::kEntry) {
          entry_ = SitemapEntry{};
          links_.clear();
        }
        if (tag == Tag::kLink) AtomLink(parent, attributes);
        wants_text_ = parent == Tag::kEntry && (tag == Tag::kUpdated || tag == Tag::kPublished);
        break;
      default:
        break;
    }
  }

  // False where the root is of no kind that we read.
  bool StartDocument(Tag root) {
    switch (root) {
      case Tag::kUrlSet:
        kind_ = SitemapKind::kUrlSet;
        return true;
      case Tag::kSitemapIndex:
        kind_ = SitemapKind::kIndex;
        return true;
      case Tag::kRss:
      case Tag::kRdf:
        kind_ = SitemapKind::kRss;
        return true;
      case Tag::kFeed:
        kind_ = SitemapKind::kAtom;
        return true;
      default:
        Stop(SitemapOutcome::kNoSitemap);
        return false;
    }
  }

  static std::string_view Attribute(const XML_Char** attributes, std::string_view name) {
    for (; *attributes != nullptr; attributes += 2) {
      if (name == attributes[0]) return attributes[1];
    }
    return {};
  }

  void AtomLink(Tag parent, const XML_Char** attributes) {
    if (parent != Tag::kEntry && parent != Tag::kFeed) return;
    const std::string_view relation = Trim(Attribute(attributes, "rel"));
    const bool alternate = relation.empty() || EqualsIgnoringCase(relation, "alternate");
    SitemapEntry link;
    link.url = Attribute(attributes, "href");
    link.role = !alternate              ? SitemapEntry::Role::kRelated
                : parent == Tag::kEntry ? SitemapEntry::Role::kPage
                                        : SitemapEntry::Role::kHome;
    if (parent == Tag::kFeed) {
      Give(link);
    } else if (links_.size() < kMaxEntryLinks && link.url.size() <= limits_.max_url) {
      links_.push_back(std::move(link));
    }
  }

  void Text(std::string_view text) {
    // More than the longest URL and the blanks around it: the rest is not needed.
    const size_t enough = limits_.max_url + 4096;
    if (wants_text_ && text_.size() <= enough) text_ += text;
    const bool in_entry = !path_.empty() && (path_.back() == Tag::kUrl || path_.back() == Tag::kSitemap);
    if (in_entry && loose_.size() <= enough) loose_ += text;
  }

  void End() {
    if (path_.empty()) return;
    const Tag tag = path_.back();
    path_.pop_back();
    const Tag parent = path_.empty() ? Tag::kOther : path_.back();
    if (kind_ == SitemapKind::kAtom) {
      EndAtom(tag);
    } else if (kind_ == SitemapKind::kRss) {
      EndRss(tag, parent);
    } else {
      EndSitemap(tag);
    }
    wants_text_ = false;
  }

  void EndSitemap(Tag tag) {
    if (tag == Tag::kUrl || tag == Tag::kSitemap) {
      // Some write the URL without <loc>.
      if (entry_.url.empty() && StartsWithIgnoringCase(Trim(loose_), "http")) entry_.url = loose_;
      Give(entry_);
      entry_ = SitemapEntry{};
    }
    if (!wants_text_) return;
    if (tag == Tag::kLoc) entry_.url = text_;
    if (tag == Tag::kLastMod) entry_.modified = ParseAnyDate(Trim(text_));
    if (tag == Tag::kPriority) entry_.priority = ParsePriority(text_);
    if (tag == Tag::kChangeFreq) entry_.change_frequency = ParseFrequency(text_);
  }

  void EndRss(Tag tag, Tag parent) {
    if (tag == Tag::kItem) {
      if (Trim(entry_.url).empty() && StartsWithIgnoringCase(Trim(guid_), "http")) entry_.url = guid_;
      Give(entry_);
      entry_ = SitemapEntry{};
      guid_.clear();
    }
    if (!wants_text_) return;
    if (tag == Tag::kLink && parent == Tag::kChannel) {
      SitemapEntry home;
      home.role = SitemapEntry::Role::kHome;
      home.url = text_;
      Give(home);
    } else if (tag == Tag::kLink) {
      entry_.url = text_;
    }
    if (parent != Tag::kItem) return;
    if (tag == Tag::kGuid) guid_ = text_;
    if (tag == Tag::kPubDate || tag == Tag::kDate) entry_.modified = ParseAnyDate(Trim(text_));
  }

  void EndAtom(Tag tag) {
    if (tag == Tag::kEntry) {
      for (SitemapEntry& link : links_) {
        link.modified = entry_.modified;
        if (!Give(link)) break;
      }
      links_.clear();
    }
    if (!wants_text_) return;
    if (tag == Tag::kUpdated || (tag == Tag::kPublished && !entry_.modified))
      entry_.modified = ParseAnyDate(Trim(text_));
  }

  bool Give(SitemapEntry& entry) {
    if (outcome_ != SitemapOutcome::kGoing) return false;
    if (Emit(entry)) return true;
    XML_StopParser(parser_, XML_FALSE);
    return false;
  }

  XML_Parser parser_;
  uint64_t fed_ = 0;
  std::vector<Tag> path_;
  bool wants_text_ = false;
  std::string text_;
  std::string loose_;  // text directly in <url> or <sitemap>
  std::string guid_;
  SitemapEntry entry_;
  std::vector<SitemapEntry> links_;  // of the Atom entry being read
};

std::unique_ptr<SitemapParser::Reader> SitemapParser::Reader::CreateXml(
    const SitemapLimits& limits, const std::function<bool(SitemapEntry&)>& on_entry) {
  return std::make_unique<XmlReader>(limits, on_entry);
}

}  // namespace portolan
