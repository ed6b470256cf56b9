#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace postino::base {

namespace {

spdlog::logger& logger() {
  // Never destroyed: threads may still log while the process ends.
  static auto* const instance = [] {
    auto* made = new spdlog::logger("postino", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

void log(spdlog::level::level_enum level, std::string_view component, std::string_view message) {
  logger().log(level, "{}: {}", component, message);
}

}  // namespace

void log_info(std::string_view component, std::string_view message) { log(spdlog::level::info, component, message); }

void log_warning(std::string_view component, std::string_view message) { log(spdlog::level::warn, component, message); }

void log_error(std::string_view component, std::string_view message) { log(spdlog::level::err, component, message); }

}  // namespace postino::base
