// portolan-pdf: the text and links of one PDF document, in a process of its own.
//
//   portolan-pdf CPU_SECONDS MEMORY_BYTES < document > frames
//
// Poppler is large and reads hostile bytes, so it is never linked into the crawler. This program limits itself before
// it reads a byte: processor time, address space, no files to write, no network where the system allows it without
// privileges, and it ends with its parent. Whatever it does, its parent only sees frames, or that they end early:
//
//   tag (1 byte)  size (4 bytes, little-endian)  bytes
//   S   "ok", "encrypted" or "broken"
//   T   title, UTF-8
//   X   text of a page, UTF-8
//   L   a URL as the document has it
//   E   the end: everything was written
//
// Poppler's C++ interface gives no links. Here they are found in two ways: the /URI actions in the document's own
// objects, also in compressed object streams; and URLs that stand in the text.

#include <poppler-document.h>
#include <poppler-global.h>
#include <poppler-page.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr size_t kMaxText = size_t{1} << 20;  // of all pages; the text log keeps no more
constexpr size_t kMaxLinks = 5'000;
constexpr size_t kMaxLink = 2'000;                 // bytes
constexpr size_t kMaxInflated = size_t{32} << 20;  // of all object streams together
constexpr int kMaxPages = 5'000;
constexpr int kExitNoMemory = 3;

void Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(1, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) std::_Exit(1);
    if (written > 0) bytes.remove_prefix(static_cast<size_t>(written));
  }
}

void Frame(char tag, std::string_view bytes) {
  std::string frame(1, tag);
  for (int shift = 0; shift < 32; shift += 8) frame += static_cast<char>(bytes.size() >> shift & 0xff);
  frame += bytes;
  Write(frame);
}

void Limit(int resource, rlim_t value) {
  const rlimit limit{value, value};
  ::setrlimit(resource, &limit);
}

void LimitMyself(rlim_t seconds, rlim_t bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::unshare(CLONE_NEWUSER | CLONE_NEWNET);  // refused in some containers: the other limits stand
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_FSIZE, 0);
  Limit(RLIMIT_NOFILE, 64);
  Limit(RLIMIT_CPU, seconds);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  Limit(RLIMIT_AS, bytes);  // the sanitizers reserve terabytes
#else
  (void)bytes;
#endif
}

std::vector<char> ReadAll() {
  std::vector<char> bytes;
  size_t used = 0;
  for (;;) {
    bytes.resize(std::max<size_t>(2 * used, 1 << 16));
    const ssize_t got = ::read(0, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += static_cast<size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

std::string Utf8Of(const poppler::ustring& text) {
  const poppler::byte_array bytes = text.to_utf8();
  return {bytes.begin(), bytes.end()};
}

// What was found already, in order.
class Links {
 public:
  void Add(std::string_view url) {
    if (url.empty() || url.size() > kMaxLink || links_.size() >= kMaxLinks) return;
    links_.emplace_back(url);
  }
  void WriteAll() {
    std::vector<std::string> sorted = links_;
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    for (const std::string& link : sorted) Frame('L', link);
  }

 private:
  std::vector<std::string> links_;
};

// "/URI (…)": a literal string of PDF, with its escapes.
void AddActions(std::string_view objects, Links& links) {
  constexpr std::string_view kKey = "/URI";
  for (size_t at = objects.find(kKey); at != std::string_view::npos; at = objects.find(kKey, at)) {
    at += kKey.size();
    size_t i = at;
    while (i < objects.size() && (objects[i] == ' ' || objects[i] == '\r' || objects[i] == '\n' || objects[i] == '\t'))
      ++i;
    if (i >= objects.size() || objects[i] != '(') continue;
    std::string url;
    int depth = 1;
    for (++i; i < objects.size() && url.size() <= kMaxLink; ++i) {
      char c = objects[i];
      if (c == '(') ++depth;
      if (c == ')' && --depth == 0) break;
      if (c == '\\' && i + 1 < objects.size()) {
        c = objects[++i];
        if (c >= '0' && c <= '7') {
          int octal = 0;
          size_t digits = 0;
          for (; digits < 3 && i + digits < objects.size() && objects[i + digits] >= '0' && objects[i + digits] <= '7';
               ++digits) {
            octal = octal * 8 + (objects[i + digits] - '0');
          }
          i += digits - 1;
          c = static_cast<char>(octal);
        } else if (c == '\n' || c == '\r') {
          continue;
        }
      }
      url += c;
    }
    if (depth == 0) links.Add(url);
    at = std::max(at, std::min(i, objects.size()));
  }
}

// Inflates the stream at the beginning of `bytes`, as far as it goes.
std::string Inflate(std::string_view bytes, size_t most) {
  std::string out;
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return out;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(std::min<size_t>(bytes.size(), UINT32_MAX));
  std::vector<char> buffer(1 << 16);
  int state = Z_OK;
  while (state == Z_OK && out.size() < most) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer.data(), buffer.size() - stream.avail_out);
    if (stream.avail_in == 0 && stream.avail_out != 0) break;
  }
  inflateEnd(&stream);
  return out;
}

void AddAllActions(std::string_view document, Links& links) {
  AddActions(document, links);
  constexpr std::string_view kObjectStream = "/ObjStm";
  constexpr std::string_view kStream = "stream";
  size_t inflated = 0;
  for (size_t at = document.find(kObjectStream); at != std::string_view::npos && inflated < kMaxInflated;
       at = document.find(kObjectStream, at + 1)) {
    size_t begin = document.find(kStream, at);
    if (begin == std::string_view::npos) break;
    begin += kStream.size();
    if (begin < document.size() && document[begin] == '\r') ++begin;
    if (begin < document.size() && document[begin] == '\n') ++begin;
    const std::string objects = Inflate(document.substr(begin), kMaxInflated - inflated);
    inflated += objects.size() + 1;
    AddActions(objects, links);
  }
}

void AddUrlsOf(std::string_view text, Links& links) {
  for (const std::string_view scheme : {std::string_view("http://"), std::string_view("https://")}) {
    for (size_t at = text.find(scheme); at != std::string_view::npos; at = text.find(scheme, at + 1)) {
      size_t end = at;
      while (end < text.size() && static_cast<unsigned char>(text[end]) > ' ' && text[end] != '"' && text[end] != '<' &&
             text[end] != '>') {
        ++end;
      }
      while (end > at && std::string_view(".,;:!?)]}'").find(text[end - 1]) != std::string_view::npos) --end;
      if (end - at > scheme.size()) links.Add(text.substr(at, end - at));
    }
  }
}

void Quiet(const std::string& /*message*/, void* /*closure*/) {}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  LimitMyself(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
  std::set_new_handler([] { std::_Exit(kExitNoMemory); });
  poppler::set_debug_error_function(Quiet, nullptr);
  const std::vector<char> bytes = ReadAll();
  const std::unique_ptr<poppler::document> document(
      poppler::document::load_from_raw_data(bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), INT32_MAX))));
  if (!document || document->is_locked()) {
    Frame('S', document ? "encrypted" : "broken");
    Frame('E', {});
    return 0;
  }
  Frame('S', "ok");
  Frame('T', Utf8Of(document->get_title()));
  Links links;
  AddAllActions({bytes.data(), bytes.size()}, links);
  size_t text_bytes = 0;
  const int pages = std::min(document->pages(), kMaxPages);
  for (int i = 0; i < pages && text_bytes < kMaxText; ++i) {
    const std::unique_ptr<poppler::page> page(document->create_page(i));
    if (!page) continue;
    std::string text = Utf8Of(page->text(poppler::rectf(), poppler::page::non_raw_non_physical_layout));
    if (text.size() > kMaxText - text_bytes) text.resize(kMaxText - text_bytes);
    text_bytes += text.size();
    AddUrlsOf(text, links);
    Frame('X', text);
  }
  links.WriteAll();
  Frame('E', {});
  std::_Exit(0);  // nothing is left to do that could still go wrong
}
