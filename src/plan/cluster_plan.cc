#include "plan/cluster_plan.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

namespace portolan {
namespace {

Status CheckInput(const ClusterInput& input) {
  const auto fail = [](const std::string& what) { return Fail(ErrorCode::kInvalidArgument, what); };
  if (!(input.nodes >= 1 && input.nodes <= ClusterInput::kMaxNodes && std::floor(input.nodes) == input.nodes)) {
    return fail(fmt::format("--nodes must be a whole number from 1 to {}", ClusterInput::kMaxNodes));
  }
  if (!(input.external >= 0 && input.external <= 1)) return fail("--external must be between 0 and 1");
  if (!(input.link_bytes > 0)) return fail("--link-bytes must be more than zero");
  if (!(input.replicas >= 1 && input.replicas <= input.nodes && std::floor(input.replicas) == input.replicas)) {
    return fail("--replicas must be a whole number from 1 to that of the nodes");
  }
  if (!(input.stream_bytes > 0)) return fail("--stream-bytes must be more than zero");
  return {};
}

// The least power of two of RAM with which URL checks keep up with the rate.
double LeastRam(PlanInput node, double pages_per_s) {
  constexpr double kMost = 0x1p44;
  for (node.ram = 0x1p18; node.ram <= kMost; node.ram *= 2) {
    const auto plan = MakePlan(node);
    if (plan && plan->methods.front().cache.pages_per_s >= pages_per_s * (1 - 1e-9)) return node.ram;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

Result<ClusterPlan> MakeClusterPlan(const ClusterInput& input) {
  RETURN_IF_ERROR(CheckInput(input));
  ClusterPlan plan;
  plan.crossing = input.external * (input.nodes - 1) / input.nodes;
  const double exchanged_per_page = plan.crossing * input.crawl.links_per_page;
  const double exchange_cpu_s = exchanged_per_page * (1 / input.sent_per_cpu_s + 1 / input.taken_per_cpu_s);
  plan.efficiency = 1 / (1 + exchange_cpu_s * input.crawl.cpu_pages_per_s);

  PlanInput node = input.crawl;
  node.pages /= input.nodes;
  node.seen /= input.nodes;
  node.rate /= input.nodes;
  node.cpu_pages_per_s *= plan.efficiency;
  ASSIGN_OR_RETURN(plan.node, MakePlan(node));

  plan.pages_per_s = plan.node.rate * input.nodes;
  plan.exchanged_links = input.crawl.pages * exchanged_per_page;
  plan.exchanged_links_per_s = plan.pages_per_s * exchanged_per_page;
  plan.nats_in_bytes_per_s = plan.exchanged_links_per_s * input.link_bytes;
  plan.nats_out_bytes_per_s = plan.nats_in_bytes_per_s * input.replicas;  // one delivery, and replicas - 1 copies
  plan.node_out_bytes_per_s = plan.nats_in_bytes_per_s / input.nodes;
  plan.stream_full_s = plan.node_out_bytes_per_s > 0 ? input.stream_bytes / plan.node_out_bytes_per_s
                                                     : std::numeric_limits<double>::infinity();
  plan.stream_disk_bytes = input.nodes > 1 ? input.stream_bytes * input.replicas : 0;
  plan.disks = std::ceil((plan.node.disk_bytes + plan.stream_disk_bytes) / input.crawl.disk);
  plan.least_ram = LeastRam(node, plan.node.rate);
  return plan;
}

}  // namespace portolan
