// The log of the process: one line per event, on standard error. What customers store does not belong into it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace postino::base {

enum class LogLevel { info, warning, error };
enum class LogFormat {
  text,  // 2026-01-02T03:04:05.678Z info serve: listening address=127.0.0.1:8000
  json,  // {"time":"2026-01-02T03:04:05.678Z","level":"info","component":"serve","message":"listening","address":...}
};

// Events below `least` are dropped. Call it before other threads log.
void configure_log(LogLevel least, LogFormat format);

// A detail of an event. Values that are not plain words are quoted.
using LogField = std::pair<std::string_view, std::string>;

// Safe to call from any thread. The component says who speaks, for example "maintenance".
void log_event(LogLevel level, std::string_view component, std::string_view message,
               std::initializer_list<LogField> fields = {});

inline void log_info(std::string_view component, std::string_view message,
                     std::initializer_list<LogField> fields = {}) {
  log_event(LogLevel::info, component, message, fields);
}
inline void log_warning(std::string_view component, std::string_view message,
                        std::initializer_list<LogField> fields = {}) {
  log_event(LogLevel::warning, component, message, fields);
}
inline void log_error(std::string_view component, std::string_view message,
                      std::initializer_list<LogField> fields = {}) {
  log_event(LogLevel::error, component, message, fields);
}

// The line of an event, without its time: for tests.
std::string format_event(LogFormat format, LogLevel level, std::string_view component, std::string_view message,
                         std::initializer_list<LogField> fields);

}  // namespace postino::base
