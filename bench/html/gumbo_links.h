// The same links out of a gumbo tree: what a crawler on libgumbo would do.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace portolan::bench {

struct GumboLink {
  std::string_view tag;
  std::string_view attribute;
  std::string_view value;  // blanks around it cut; of a buffer in GumboLinks
  bool copy = false;       // an element that the tree builder made of another (open <a> across blocks)
};

struct GumboLinks {
  std::string strings;
  std::vector<GumboLink> links;  // in document order, srcset split
  std::string_view base;
  bool has_base = false;

  // Parses `html` and collects; views die with the next call.
  void Read(std::string_view html);

 private:
  void Collect(const void* root);
  struct Found {
    std::string_view tag;
    std::string_view attribute;
    size_t begin;
    size_t size;
    bool copy;
  };
  std::vector<Found> found_;
};

}  // namespace portolan::bench
