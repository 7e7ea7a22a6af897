// The graph cnr-2000 of the Laboratory for Web Algorithmics, with its adjacency as text, if it is there.
//
// It is read from ../shared/data seen from the project's root; nothing of it is in the project.

#pragma once

#include <zlib.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/adjacency.h"
#include "graph/properties.h"

namespace portolan::graph {

struct Cnr2000 {
  std::string graph;
  std::string offsets;
  std::string properties;
  Adjacency truth;

  static std::string Base() { return "../shared/data/webgraph/webgraph-big/cnr-2000"; }
  static bool Available() { return ReadWhole(".properties").has_value(); }

  // The first line of the text is the number of nodes, then a line per node.
  static Result<Cnr2000> Read() {
    Cnr2000 cnr;
    ASSIGN_OR_RETURN(cnr.graph, ReadWhole(".graph"));
    ASSIGN_OR_RETURN(cnr.offsets, ReadWhole(".offsets"));
    ASSIGN_OR_RETURN(cnr.properties, ReadWhole(".properties"));
    ASSIGN_OR_RETURN(const std::string text, ReadWhole(".graph-txt.gz"));
    std::vector<NodeId> list;
    uint64_t number = 0;
    bool digits = false;
    for (size_t at = text.find('\n') + 1; at < text.size(); ++at) {
      if (text[at] >= '0' && text[at] <= '9') {
        number = number * 10 + static_cast<uint64_t>(text[at] - '0');
        digits = true;
        continue;
      }
      if (digits) list.push_back(static_cast<NodeId>(number));
      digits = false;
      number = 0;
      if (text[at] != '\n') continue;
      cnr.truth.Add(list);
      list.clear();
    }
    return cnr;
  }

 private:
  // zlib reads files that are not packed as they are.
  static Result<std::string> ReadWhole(const char* suffix) {
    const std::string path = Base() + suffix;
    const gzFile file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return Fail(ErrorCode::kNotFound, path + " is not there");
    std::string bytes;
    std::vector<char> block(1 << 18);
    for (int got = 0; (got = gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0;) {
      bytes.append(block.data(), static_cast<size_t>(got));
    }
    gzclose(file);
    return bytes;
  }
};

}  // namespace portolan::graph
