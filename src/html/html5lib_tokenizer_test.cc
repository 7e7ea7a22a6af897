// The html5lib tokenizer suite: every test whole, byte by byte and in random pieces. Compared are the tokens, all of
// their fields; the parse errors that the suite also names are not, because the tokenizer reports none.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "html/token_recorder.h"
#include "io/rng.h"

namespace portolan {
namespace {

using nlohmann::json;

const std::filesystem::path kSuite = "../shared/data/html/html5lib-tests/tokenizer";

// UTF-8 in which a lone surrogate is its three-byte form, as the suite has some of them.
void AppendCodeUnitUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// \uHHHH once more, surrogate pairs joined.
std::string Unescape(const std::string& text) {
  std::string out;
  const auto unit_at = [&](size_t i) -> uint32_t {
    if (i + 6 > text.size() || text[i] != '\\' || text[i + 1] != 'u') return 0x110000;
    return static_cast<uint32_t>(std::stoul(text.substr(i + 2, 4), nullptr, 16));
  };
  for (size_t i = 0; i < text.size();) {
    uint32_t unit = unit_at(i);
    if (unit > 0xffff) {
      out += text[i++];
      continue;
    }
    i += 6;
    if (unit >= 0xd800 && unit < 0xdc00) {
      const uint32_t low = unit_at(i);
      if (low >= 0xdc00 && low < 0xe000) {
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        i += 6;
      }
    }
    AppendCodeUnitUtf8(out, unit);
  }
  return out;
}

struct Case {
  std::string name;
  std::string input;
  TextState state = TextState::kData;
  std::string last_start_tag;
  std::vector<std::string> expected;
  bool xml = false;  // expects the tokens as an XML tree could hold them
};

// "Coercing an HTML DOM into an infoset": what xmlViolation.test expects to be done to the tokens.
std::string CoercedToXml(std::string line) {
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (size_t at = 0; (at = line.find(from, at)) != std::string::npos; at += to.size()) {
      line.replace(at, from.size(), to);
    }
  };
  replace("\xef\xbf\xbf", "\xef\xbf\xbd");
  replace("\f", " ");
  if (line.starts_with("comment ")) replace("--", "- -");
  return line;
}

// The text of a token without its position, which the suite does not have.
std::string Comparable(RecordedToken token) {
  token.position = 0;
  std::ranges::sort(token.attributes);
  if (token.kind == RecordedToken::Kind::kEndTag) {  // the suite's end tags carry neither
    token.attributes.clear();
    token.self_closing = false;
  }
  return token.ToString();
}

std::vector<std::string> Expected(const json& output, const std::function<std::string(const json&)>& text) {
  std::vector<std::string> lines;
  std::string* run = nullptr;
  for (const json& row : output) {
    const std::string kind = row[0];
    RecordedToken token;
    if (kind == "Character") {
      if (run != nullptr) {
        *run += text(row[1]);
        continue;
      }
      token.text = text(row[1]);
    } else if (kind == "Comment") {
      token.kind = RecordedToken::Kind::kComment;
      token.text = text(row[1]);
    } else if (kind == "StartTag") {
      token.kind = RecordedToken::Kind::kStartTag;
      token.text = text(row[1]);
      for (const auto& [name, value] : row[2].items()) token.attributes.emplace_back(text(name), text(value));
      token.self_closing = row.size() > 3 && row[3] == true;
    } else if (kind == "EndTag") {
      token.kind = RecordedToken::Kind::kEndTag;
      token.text = text(row[1]);
    } else {
      const auto id = [&](const json& value) {
        return value.is_null() ? std::nullopt : std::optional<std::string>(text(value));
      };
      token.kind = RecordedToken::Kind::kDoctype;
      token.doctype = Doctype{id(row[1]), id(row[2]), id(row[3]), !row[4].get<bool>()};
    }
    lines.push_back(Comparable(std::move(token)));
    run = kind == "Character" ? &lines.back() : nullptr;
  }
  return lines;
}

TextState StateNamed(const std::string& name) {
  if (name == "Data state") return TextState::kData;
  if (name == "PLAINTEXT state") return TextState::kPlaintext;
  if (name == "RCDATA state") return TextState::kRcdata;
  if (name == "RAWTEXT state") return TextState::kRawtext;
  if (name == "Script data state") return TextState::kScriptData;
  if (name == "CDATA section state") return TextState::kCdata;
  ADD_FAILURE() << "unknown state " << name;
  return TextState::kData;
}

std::vector<Case> LoadCases() {
  std::vector<Case> cases;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kSuite)) {
    if (entry.path().extension() == ".test") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  for (const auto& path : files) {
    std::ifstream in(path);
    const json suite = json::parse(in);
    const bool xml = suite.contains("xmlViolationTests");
    for (const json& test : suite[xml ? "xmlViolationTests" : "tests"]) {
      const bool twice = test.value("doubleEscaped", false);
      const auto text = [twice](const json& value) {
        return twice ? Unescape(value.get<std::string>()) : value.get<std::string>();
      };
      Case one{path.filename().string() + ": " + test["description"].get<std::string>(),
               text(test["input"]),
               TextState::kData,
               test.value("lastStartTag", ""),
               Expected(test["output"], text),
               xml};
      const json states = test.value("initialStates", json::array({"Data state"}));
      for (const json& state : states) {
        one.state = StateNamed(state);
        cases.push_back(one);
      }
    }
  }
  return cases;
}

std::vector<std::string> Tokens(const Case& one, const std::vector<size_t>& cuts) {
  TokenRecorder recorder;
  Tokenizer tokenizer(recorder);
  tokenizer.StartIn(one.state, one.last_start_tag);
  size_t from = 0;
  for (const size_t cut : cuts) {
    // Each piece in a buffer of its own size: reading past it is seen by the address sanitizer.
    const std::vector<char> piece(one.input.begin() + static_cast<ptrdiff_t>(from),
                                  one.input.begin() + static_cast<ptrdiff_t>(cut));
    tokenizer.Feed({piece.data(), piece.size()});
    from = cut;
  }
  const std::vector<char> rest(one.input.begin() + static_cast<ptrdiff_t>(from), one.input.end());
  tokenizer.Feed({rest.data(), rest.size()});
  tokenizer.Finish();
  std::vector<std::string> lines;
  for (const RecordedToken& token : recorder.tokens()) {
    lines.push_back(one.xml ? CoercedToXml(Comparable(token)) : Comparable(token));
  }
  return lines;
}

class Html5libTokenizerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kSuite)) GTEST_SKIP() << kSuite << " is absent";
  }

  // `cuts` makes the places to cut an input at.
  void RunAll(const char* suite, const std::function<std::vector<size_t>(size_t)>& cuts) {
    const std::vector<Case> cases = LoadCases();
    size_t passed = 0;
    for (const Case& one : cases) {
      const auto tokens = Tokens(one, cuts(one.input.size()));
      if (tokens == one.expected) {
        ++passed;
      } else {
        EXPECT_EQ(tokens, one.expected) << one.name << "\ninput: " << one.input;
      }
    }
    std::printf("conformance %s %zu/%zu\n", suite, passed, cases.size());
    EXPECT_GE(cases.size(), 7036U);
    EXPECT_EQ(passed, cases.size());
  }
};

TEST_F(Html5libTokenizerTest, EveryTestWhole) {
  RunAll("html5lib_tokenizer", [](size_t) { return std::vector<size_t>(); });
}

TEST_F(Html5libTokenizerTest, EveryTestByteByByte) {
  RunAll("html5lib_tokenizer_bytewise", [](size_t size) {
    std::vector<size_t> cuts;
    for (size_t i = 1; i < size; ++i) cuts.push_back(i);
    return cuts;
  });
}

TEST_F(Html5libTokenizerTest, EveryTestInRandomPieces) {
  Rng rng(7);
  RunAll("html5lib_tokenizer_random", [&](size_t size) {
    std::vector<size_t> cuts;
    for (uint64_t n = rng.Below(5); n > 0; --n) cuts.push_back(rng.Below(size + 1));
    std::ranges::sort(cuts);
    return cuts;
  });
}

}  // namespace
}  // namespace portolan
