#include "app/store/engine_options.h"

namespace postino::app {

engine::Options engine_options(const Settings& settings) {
  engine::Options options;
  options.directory = settings.data;
  options.durability = settings.durability;
  options.region = settings.region;
  options.account = settings.account;
  options.block_cache_bytes = static_cast<std::size_t>(settings.cache_megabytes) << 20;
  options.min_free_bytes = static_cast<std::uint64_t>(settings.reserve_megabytes) << 20;
  options.deletion_delay = settings.deletion_delay;
  options.realistic_timing = settings.realistic_timing;
  options.enforce_throughput = settings.enforce_throughput;
  return options;
}

}  // namespace postino::app
