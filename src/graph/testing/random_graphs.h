// Graphs of many shapes for tests.

#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "graph/adjacency.h"

namespace portolan::graph {

enum class Shape { kEmpty, kSparse, kDense, kComplete, kIntervals, kCopies, kSkewed, kFar };
inline constexpr Shape kShapes[] = {Shape::kEmpty,     Shape::kSparse, Shape::kDense,  Shape::kComplete,
                                    Shape::kIntervals, Shape::kCopies, Shape::kSkewed, Shape::kFar};

inline Adjacency MakeGraph(Shape shape, NodeId nodes, uint64_t seed) {
  std::mt19937_64 random(seed);
  Adjacency made;
  std::vector<NodeId> list;
  const auto any = [&] { return static_cast<NodeId>(random() % nodes); };
  for (NodeId node = 0; node < nodes; ++node) {
    const std::vector<NodeId> before = list;
    list.clear();
    switch (shape) {
      case Shape::kEmpty:
        break;
      case Shape::kSparse:
        for (uint64_t i = random() % 4; i > 0; --i) list.push_back(any());
        break;
      case Shape::kDense:
        for (NodeId to = 0; to < nodes; ++to) {
          if (random() % 2 == 0) list.push_back(to);
        }
        break;
      case Shape::kComplete:
        for (NodeId to = 0; to < nodes; ++to) list.push_back(to);
        break;
      case Shape::kIntervals:
        for (uint64_t i = random() % 4; i > 0; --i) {
          NodeId to = any();
          for (uint64_t length = 1 + random() % 9; length > 0 && to < nodes; --length) list.push_back(to++);
        }
        break;
      case Shape::kCopies:
        for (const NodeId to : before) {
          if (random() % 8 != 0) list.push_back(to);
        }
        for (uint64_t i = random() % 4; i > 0; --i) list.push_back(any());
        break;
      case Shape::kSkewed:
        for (uint64_t i = random() % 5 == 0 ? random() % nodes : 1; i > 0; --i) list.push_back(any());
        break;
      case Shape::kFar:
        list = {0, nodes - 1};
        break;
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    made.Add(list);
  }
  return made;
}

}  // namespace portolan::graph
