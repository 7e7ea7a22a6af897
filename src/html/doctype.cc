#include "html/doctype.h"

#include <algorithm>

#include "base/ascii.h"
#include "html/scan.h"

namespace portolan {
namespace {

// Appends with CR LF and CR as LF and NUL as U+FFFD.
void AppendClean(std::string& out, std::string_view raw) {
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '\0') {
      out += "\xef\xbf\xbd";
    } else if (raw[i] == '\r') {
      out += '\n';
      if (i + 1 < raw.size() && raw[i + 1] == '\n') ++i;
    } else {
      out += raw[i];
    }
  }
}

class Reader {
 public:
  Reader(std::string_view inside, bool at_eof) : rest_(inside), at_eof_(at_eof) {}

  Doctype Read() {
    SkipSpace();
    if (rest_.empty()) {  // '>' or the end where the name should be
      doctype_.force_quirks = true;
      return doctype_;
    }
    const size_t length = NameLength();
    std::string name;
    AppendClean(name, rest_.substr(0, length));
    std::ranges::transform(name, name.begin(), AsciiLower);
    doctype_.name = std::move(name);
    rest_.remove_prefix(length);
    AfterName();
    return doctype_;
  }

 private:
  size_t NameLength() const { return static_cast<size_t>(std::ranges::find_if(rest_, IsHtmlSpace) - rest_.begin()); }

  void SkipSpace() {
    while (!rest_.empty() && IsHtmlSpace(rest_.front())) rest_.remove_prefix(1);
  }

  // The end of the tag is right here, the end of the file is not.
  void End() { doctype_.force_quirks |= at_eof_; }
  // What follows is a bogus doctype: skipped, and the flag is set.
  void Bogus() { doctype_.force_quirks = true; }

  void AfterName() {
    SkipSpace();
    if (rest_.empty()) return End();
    const auto keyword = [&](std::string_view word) {
      return rest_.size() >= word.size() && std::ranges::equal(rest_.substr(0, word.size()), word, {}, AsciiLower);
    };
    const bool is_public = keyword("public");
    if (!is_public && !keyword("system")) return Bogus();
    rest_.remove_prefix(6);
    SkipSpace();
    if (!is_public) return SystemId();
    if (!Quoted(doctype_.public_id)) return;
    SkipSpace();
    if (rest_.empty()) return End();
    SystemId();
  }

  // The rest may only be blanks after it; anything else is bogus but sets no flag (13.2.5.67).
  void SystemId() {
    if (!Quoted(doctype_.system_id)) return;
    SkipSpace();
    if (rest_.empty()) End();
  }

  // A quoted identifier into `id`. False when the doctype ended with it, flag and all.
  bool Quoted(std::optional<std::string>& id) {
    if (rest_.empty() || (rest_.front() != '"' && rest_.front() != '\'')) {
      Bogus();
      return false;
    }
    const char quote = rest_.front();
    rest_.remove_prefix(1);
    const size_t close = rest_.find(quote);
    id.emplace();
    AppendClean(*id, rest_.substr(0, close));
    if (close == std::string_view::npos) {  // '>' or the end inside the quotes
      Bogus();
      return false;
    }
    rest_.remove_prefix(close + 1);
    return true;
  }

  std::string_view rest_;
  bool at_eof_;
  Doctype doctype_;
};

}  // namespace

Doctype ParseDoctype(std::string_view inside, bool at_eof) { return Reader(inside, at_eof).Read(); }

}  // namespace portolan
