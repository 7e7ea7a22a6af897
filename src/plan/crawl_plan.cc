#include "plan/crawl_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "base/units.h"
#include "plan/url_check_models.h"

namespace portolan {
namespace {

// Cache sizes that are tried: enough that the best of them is within a percent of the best of all.
constexpr double kCacheSteps = 400;

Status CheckInput(const PlanInput& input) {
  const auto fail = [](const std::string& what) { return Fail(ErrorCode::kInvalidArgument, what); };
  struct Positive {
    std::string_view name;
    double value;
  };
  for (const auto& [name, value] :
       {Positive{"pages", input.pages}, Positive{"links", input.links_per_page}, Positive{"url-bytes", input.url_bytes},
        Positive{"disk", input.disk}, Positive{"disk-speed", input.disk_bytes_per_s},
        Positive{"page-bytes", input.page_bytes}, Positive{"cpu-rate", input.cpu_pages_per_s},
        Positive{"host-delay", input.host_delay_s}}) {
    if (!(value > 0) || !std::isfinite(value)) return fail(fmt::format("--{} must be more than zero", name));
  }
  if (!(input.unique > 0 && input.unique <= 1)) return fail("--unique must be more than 0 and at most 1");
  if (!(input.check_share > 0 && input.check_share < 1)) return fail("--check-share must be between 0 and 1");
  if (!(input.archive_compression >= 1)) return fail("--archive-ratio must be at least 1");
  if (!(input.drum.text_compression >= 1)) return fail("--text-ratio must be at least 1");
  if (input.rate < 0 || input.seen < 0) return fail("--rate and --seen cannot be negative");
  if (input.links_per_page * input.pages < 1) return fail("--pages and --links give no link at all");
  const double minimum = PortolanDrumMinimumRam();
  if (!(input.ram >= minimum)) {
    return fail(fmt::format("--ram {} is too little: URL checks need at least {}",
                            FormatBytes(static_cast<uint64_t>(input.ram)),
                            FormatBytes(static_cast<uint64_t>(minimum))));
  }
  return {};
}

using Alpha = std::function<double(double links, double ram)>;

// A cache holds back only links that are known, so that of those it lets through more are new. (The thesis keeps p as
// it is behind a cache, which loses the new links that the cache is said to hold.)
template <typename Params>
Params BehindCache(Params params, double links, double reaching) {
  params.unique = std::min(1.0, params.unique * links / reaching);
  return params;
}

// Rates of one method, once its α is known. `minimum_ram` must be left to the check whatever the cache takes.
void Rate(const PlanInput& input, double links, double minimum_ram, const Alpha& alpha, MethodPlan& method) {
  const double speed = input.disk_bytes_per_s * input.check_share;
  method.alpha = alpha(links, input.ram);
  method.disk_pages_per_s = DiskRate(speed, method.alpha, input.url_bytes, input.links_per_page);

  HybridModel model;
  model.disk_bytes_per_s = speed;
  model.url_bytes = input.url_bytes;
  model.links_per_page = input.links_per_page;
  model.links = links;
  model.ram = input.ram;
  model.alpha = alpha;
  model.miss = CacheMissSteps{.host_delay_s = input.host_delay_s, .links_per_page = input.links_per_page};
  const auto cache_rate = [&](double cache_bytes) {
    return CacheRate(cache_bytes > 0 ? input.cache_links_per_s : std::numeric_limits<double>::infinity(),
                     input.links_per_page, input.cpu_pages_per_s);
  };
  method.cache = OptimalCache(model, cache_rate, input.ram - minimum_ram, input.ram / kCacheSteps);
  method.miss = model.miss(method.cache.cache_bytes, method.cache.pages_per_s);
  method.cached_alpha = alpha(method.miss * links, input.ram - method.cache.cache_bytes);
}

MethodPlan PlanPortolan(const PlanInput& input, double links, double bucket_disk) {
  MethodPlan method;
  method.name = "Portolan";
  PortolanDrumParams params = input.drum;
  params.unique = input.unique;
  params.seen = input.seen;
  params.url_bytes = input.url_bytes;
  const PortolanDrumCost cost = PortolanDrumModel(params, links, input.ram, bucket_disk);
  method.buckets = params.buckets;
  method.bucket_bytes = cost.bucket_bytes;
  method.round_links = cost.round_links;
  method.rounds = cost.rounds;
  method.seen_bytes = cost.seen_bytes;
  method.round_disk_bytes = cost.round_disk_bytes;
  Rate(
      input, links, PortolanDrumMinimumRam(),
      [=](double reaching, double ram) {
        return PortolanDrumAlpha(BehindCache(params, links, reaching), reaching, ram, bucket_disk);
      },
      method);
  return method;
}

MethodPlan PlanDrum(const PlanInput& input, const UrlCheckParams& params, double links, double bucket_disk) {
  MethodPlan method;
  method.name = "DRUM (2008)";
  const double minimum = DrumMinimumRam(params);
  if (input.ram < minimum) {
    method.feasible = false;
    method.why_not = fmt::format("needs {} of RAM", FormatBytes(static_cast<uint64_t>(minimum)));
    return method;
  }
  const DrumShape shape = DrumShapeFor(params, input.ram, bucket_disk);
  method.buckets = std::ceil(shape.buckets);
  method.bucket_bytes = shape.bucket_bytes;
  method.round_links = shape.round_links;
  method.rounds = std::max(links / shape.round_links, 1.0);
  method.seen_bytes = params.hash_bytes * (params.seen + params.unique * links);
  method.round_disk_bytes = shape.disk_bytes;
  Rate(
      input, links, minimum,
      [=](double reaching, double ram) {
        return DrumAlpha(BehindCache(params, links, reaching), reaching, ram, bucket_disk);
      },
      method);
  return method;
}

MethodPlan PlanMercatorB(const PlanInput& input, const UrlCheckParams& params, double links) {
  MethodPlan method;
  method.name = "Mercator-B";
  method.round_links = MercatorBBatch(params, input.ram);
  method.bucket_bytes = method.round_links * params.hash_bytes;
  method.rounds = std::max(links / method.round_links, 1.0);
  method.seen_bytes = params.hash_bytes * (params.seen + params.unique * links);
  method.round_disk_bytes = method.round_links * params.url_bytes;
  Rate(
      input, links, input.ram / kCacheSteps,
      [=](double reaching, double ram) { return MercatorBAlpha(BehindCache(params, links, reaching), reaching, ram); },
      method);
  return method;
}

MethodPlan PlanPolybot(const PlanInput& input, const UrlCheckParams& params, double links) {
  MethodPlan method;
  method.name = "Polybot";
  method.round_links = PolybotBatch(params, input.ram);
  method.bucket_bytes = method.round_links * params.url_bytes;
  method.rounds = std::max(links / method.round_links, 1.0);
  method.seen_bytes = params.url_bytes * params.url_compression * (params.seen + params.unique * links);
  Rate(
      input, links, input.ram / kCacheSteps,
      [=](double reaching, double ram) { return PolybotAlpha(BehindCache(params, links, reaching), reaching, ram); },
      method);
  return method;
}

}  // namespace

Result<CrawlPlan> MakePlan(const PlanInput& input) {
  RETURN_IF_ERROR(CheckInput(input));
  CrawlPlan plan;
  plan.links = input.links_per_page * input.pages;
  plan.unique_links = input.seen + input.unique * plan.links;
  const double bucket_disk = input.disk * input.bucket_disk_share;
  UrlCheckParams params;
  params.unique = input.unique;
  params.seen = input.seen;
  params.url_bytes = input.url_bytes;
  plan.methods.push_back(PlanPortolan(input, plan.links, bucket_disk));
  plan.methods.push_back(PlanDrum(input, params, plan.links, bucket_disk));
  plan.methods.push_back(PlanMercatorB(input, params, plan.links));
  plan.methods.push_back(PlanPolybot(input, params, plan.links));

  const MethodPlan& ours = plan.methods.front();
  const double archived = input.page_bytes / input.archive_compression;
  plan.archive_pages_per_s = input.disk_bytes_per_s * (1 - input.check_share) / archived;
  plan.sustainable_pages_per_s = std::min({ours.cache.pages_per_s, plan.archive_pages_per_s, input.cpu_pages_per_s});
  plan.queue_bytes = std::max(plan.unique_links - input.pages, 0.0) * input.url_bytes / input.drum.text_compression;
  plan.archive_bytes = input.pages * archived;
  plan.disk_bytes = ours.seen_bytes + ours.round_disk_bytes + plan.queue_bytes + plan.archive_bytes;
  plan.fits = plan.disk_bytes <= input.disk;
  plan.rate = input.rate > 0 ? input.rate : plan.sustainable_pages_per_s;
  plan.duration_s = input.pages / plan.rate;
  return plan;
}

}  // namespace portolan
