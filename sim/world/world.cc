#include "sim/world/world.h"

namespace portolan::sim {

struct World::Impl {
  WorldParams params;
  uint64_t seed = 0;
};

World::World(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
World::~World() = default;

Result<std::unique_ptr<World>> World::Create(const WorldParams& params, uint64_t seed) {
  auto impl = std::make_unique<Impl>();
  impl->params = params;
  impl->seed = seed;
  return std::unique_ptr<World>(new World(std::move(impl)));
}

const WorldParams& World::params() const { return impl_->params; }
uint64_t World::seed() const { return impl_->seed; }

}  // namespace portolan::sim
