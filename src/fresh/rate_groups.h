// RateGroups: what the rate of change of a page is before the page has been visited twice.
//
// Pages of one directory change alike, and those of one host do to a lesser degree. The logarithm of a page's rate is
// taken as normal around its directory's, that around its host's, that around the crawl's. Means are kept per group;
// the three variances are the crawl's own, learnt with it (one step of expectation maximisation per visit: each page
// counts with the mean and variance that it is believed to have). A group of which little is known is shrunk to the
// wider one; so a new page on a known host is no stranger, and one on a new host is like the rest of the web.
//
// A page counts with weight 1/k at its k-th visit, so that pages that are visited often do not decide for all.
//
// Thread: one owner. Deterministic. Memory bound: Options::memory (8 bytes per group); a group that was dropped begins
// again from the wider one.
// Durability: the table is a Checkpointable; levels() belong into the owner's section.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "disk/group_cache.h"
#include "fresh/gamma.h"

namespace portolan {

struct RateKeys {
  uint64_t host = 0;
  uint64_t directory = 0;
};

class RateGroups {
 public:
  // Logarithms of changes per day. Before anything is known: once in 20 days, one page in six more often than once in
  // four days (Cho and Garcia-Molina measured some months on average in 1999; what people crawl again is livelier).
  struct Levels {
    double mean = -3.0;
    double page_var = 1.0;       // of pages within a directory
    double directory_var = 0.5;  // of directories within a host
    double host_var = 1.0;
    double weight = 0;  // of all visits so far
    bool operator==(const Levels&) const = default;
  };
  struct Options {
    std::string name = "rates";
    uint64_t memory = uint64_t{4} << 20;
  };
  static Result<std::unique_ptr<RateGroups>> Open(Env& env, const Manifest& manifest, const Options& options);

  Gamma Prior(const RateKeys& keys) const;
  // After the `visit`-th visit (from 1) that said whether the page had changed.
  void Learn(const RateKeys& keys, const Gamma& belief, uint32_t visit);

  const Levels& levels() const { return levels_; }
  void set_levels(const Levels& levels) { levels_ = levels; }
  Checkpointable* checkpointable() { return cache_.get(); }

 private:
  struct Mean {
    double mean = 0;
    double weight = 0;
  };
  struct Belief {  // about a group's mean
    double mean = 0;
    double variance = 0;
  };
  struct Shape {  // of the gamma whose logarithm has a variance
    double shape = 1;
    double digamma = 0;
  };
  explicit RateGroups(std::unique_ptr<GroupCache> cache);
  Mean MeanOf(uint64_t key) const;
  void Count(uint64_t key, double value, double weight);
  Belief HostOf(const RateKeys& keys) const;
  Belief DirectoryOf(const RateKeys& keys, const Belief& host) const;

  std::unique_ptr<GroupCache> cache_;  // first: the mean, second: the weight
  std::vector<Shape> shapes_;          // by the logarithm of the variance, constant
  Levels levels_;
};

}  // namespace portolan
