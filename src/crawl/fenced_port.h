// FencedPort: a FetchPort for a shard that may be taken from this process: before each fetch it asks whether the shard
// is still ours. If not, nothing is passed on any more, and `lost` is called once.
//
// Thread: that of the shard, which is the only one that fetches through it.

#pragma once

#include <functional>
#include <utility>

#include "flow/fetch.h"

namespace portolan {

class FencedPort : public FetchPort {
 public:
  // REQUIRES: `port` outlives this.
  FencedPort(FetchPort& port, std::function<bool()> may_act, std::function<void()> lost)
      : port_(port), may_act_(std::move(may_act)), lost_(std::move(lost)) {}

  void Fetch(FetchTask&& task) override {
    if (MayAct()) port_.Fetch(std::move(task));
  }
  void Resolve(ResolveTask&& task) override {
    if (MayAct()) port_.Resolve(std::move(task));
  }

 private:
  bool MayAct() {
    if (over_) return false;
    if (may_act_()) return true;
    over_ = true;
    lost_();
    return false;
  }

  FetchPort& port_;
  const std::function<bool()> may_act_;
  const std::function<void()> lost_;
  bool over_ = false;
};

}  // namespace portolan
