// Runs a fuzz target over its corpus folder and over seeded mutations of each file: the fuzzers' memory as a test.
// Input is copied to a heap buffer of exactly its size, so that a sanitizer sees an over-read of one byte.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "io/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void RunOne(const std::string& bytes) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  LLVMFuzzerTestOneInput(exact.get(), bytes.size());
}

std::string Mutated(std::string bytes, const std::vector<std::string>& corpus, portolan::Rng& rng) {
  for (uint64_t edits = 1 + rng.Below(4); edits > 0; --edits) {
    const size_t at = rng.Below(bytes.size() + 1);
    switch (rng.Below(5)) {
      case 0:  // another byte
        if (at < bytes.size()) bytes[at] = static_cast<char>(rng.Next());
        break;
      case 1:  // one more
        bytes.insert(at, 1, static_cast<char>(rng.Next()));
        break;
      case 2:  // a hole
        bytes.erase(at, rng.Below(16));
        break;
      case 3:  // cut short
        if (rng.Below(4) == 0) bytes.resize(at);
        break;
      default: {  // a piece of another file
        const std::string& other = corpus[rng.Below(corpus.size())];
        const size_t from = rng.Below(other.size() + 1);
        bytes.insert(at, other, from, rng.Below(64));
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIR\n", argv[0]);
    return 2;
  }
  std::vector<std::string> corpus = {""};
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (corpus.size() == 1) {
    std::fprintf(stderr, "%s: no corpus\n", argv[1]);
    return 1;
  }
  constexpr int kMutations = 200;  // of each file: a second or so in all
  portolan::Rng rng(20'26);
  size_t runs = 0;
  for (const std::string& bytes : corpus) {
    RunOne(bytes);
    for (int i = 0; i < kMutations; ++i) RunOne(Mutated(bytes, corpus, rng));
    runs += 1 + kMutations;
  }
  std::printf("%zu inputs from %zu files\n", runs, corpus.size() - 1);
  return 0;
}
