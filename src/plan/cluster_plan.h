// A forecast for a crawl on several machines: what each of them needs, and what they exchange.
//
// Nodes are alike, and own domains by hash, so each has 1/n of the pages, the links and the rate: CrawlPlan says what
// that takes. Links to other domains lead to another node with probability (n - 1)/n; each such link travels once
// through NATS and costs processor time where it is sent and where it is taken. Pure functions; docs/models.md has the
// measurements.

#pragma once

#include "base/result.h"
#include "plan/crawl_plan.h"

namespace portolan {

struct ClusterInput {
  PlanInput crawl;                 // pages, seen and rate of all nodes together; the machine is each node's
  double nodes = 1;                // whole, at most kMaxNodes
  double external = 0.25;          // share of links that lead to another domain
  double link_bytes = 33.3;        // of such a link on the wire, compressed: `bench cluster`
  double sent_per_cpu_s = 2.5e6;   // links that a processor can send in a second, until they are stored, likewise
  double taken_per_cpu_s = 8.5e6;  // and take
  double replicas = 1;             // of each node's stream
  double stream_bytes = 0x1p30;    // at most, of each node's stream: after that the others wait

  static constexpr double kMaxNodes = 256;
};

struct ClusterPlan {
  CrawlPlan node;                    // of each node
  double pages_per_s = 0;            // of all
  double crossing = 0;               // share of all links that lead to another node
  double exchanged_links = 0;        // in the whole crawl
  double exchanged_links_per_s = 0;  // by all nodes
  double nats_in_bytes_per_s = 0;    // what all nodes publish
  double nats_out_bytes_per_s = 0;   // what is delivered, and what servers copy to each other
  double node_out_bytes_per_s = 0;   // of one node's links: as much comes in
  double efficiency = 1;             // pages per processor second over those without an exchange
  double stream_full_s = 0;          // how long a stream takes what comes for a node that is down
  double stream_disk_bytes = 0;      // per node, if each has a server and all streams are full
  double disks = 0;                  // per node, of the disk's size
  double least_ram = 0;              // for URL checks at that rate, a power of two; infinite: none is enough
};

// kInvalidArgument as MakePlan.
Result<ClusterPlan> MakeClusterPlan(const ClusterInput& input);

}  // namespace portolan
