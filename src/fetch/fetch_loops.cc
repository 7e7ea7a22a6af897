#include "fetch/fetch_loops.h"

#include <curl/curl.h>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"

namespace portolan {
namespace {

bool StartCurl() {
  static const bool good = curl_global_init(CURL_GLOBAL_ALL) == CURLE_OK;
  return good;
}

Status CheckOptions(const FetchOptions& options) {
  const auto wrong = [](std::string_view what) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("fetch: {}", what));
  };
  if (options.loops == 0) return wrong("no loops");
  if (options.max_in_flight == 0) return wrong("max_in_flight is 0");
  const FetchLimits& limits = options.limits;
  if (limits.connect_ns <= 0 || limits.first_byte_ns <= 0 || limits.total_ns <= 0) return wrong("a time limit of 0");
  if (limits.lowest_speed > 0 && limits.speed_window_ns <= 0) return wrong("speed_window is 0");
  constexpr std::array<std::string_view, 6> kProxies = {"http", "https", "socks4", "socks4a", "socks5", "socks5h"};
  const size_t colon = options.proxy.find("://");  // without a scheme it is http
  if (colon != std::string::npos &&
      std::ranges::find(kProxies, LowerCase(options.proxy.substr(0, colon))) == kProxies.end()) {
    return wrong(fmt::format("proxy {}: use one of {}", options.proxy, fmt::join(kProxies, ", ")));
  }
  if (!options.ca_file.empty() && access(options.ca_file.c_str(), R_OK) != 0) {
    return wrong(fmt::format("ca_file {} cannot be read", options.ca_file));
  }
  return {};
}

}  // namespace

bool ProxyResolvesNames(std::string_view proxy) {
  return !proxy.empty() && !StartsWithIgnoringCase(proxy, "socks4://") && !StartsWithIgnoringCase(proxy, "socks5://");
}

Result<std::unique_ptr<FetchLoops>> FetchLoops::Create(const FetchOptions& options, FetchHandler& handler) {
  RETURN_IF_ERROR(CheckOptions(options));
  if (!StartCurl()) return Fail(ErrorCode::kUnsupported, "libcurl does not start");
  std::unique_ptr<FetchLoops> made(new FetchLoops(options));
  for (size_t i = 0; i < options.loops; ++i) {
    ASSIGN_OR_RETURN(auto loop, FetchLoop::Create(made->options_, i, handler));
    made->loops_.push_back(std::move(loop));
  }
  ResolverOptions dns = options.dns;
  dns.names_by_proxy = ProxyResolvesNames(options.proxy);
  ASSIGN_OR_RETURN(made->resolver_, Resolver::Create(dns, [&handler](Resolution&& resolution) {
                     handler.OnResolved(std::move(resolution));
                   }));
  return made;
}

FetchLoops::~FetchLoops() { Stop(); }

void FetchLoops::Fetch(FetchTask&& task) {
  FetchLoop& loop = *loops_[task.host % loops_.size()];
  loop.Fetch(std::move(task));
}

void FetchLoops::Resolve(ResolveTask&& task) { resolver_->Resolve(std::move(task)); }

void FetchLoops::Stop() {
  if (resolver_) resolver_->Stop();
  for (const auto& loop : loops_) loop->Stop();
}

}  // namespace portolan
