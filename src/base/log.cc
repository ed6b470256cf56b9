#include "base/log.h"

#include <fcntl.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>

#include "base/descriptor.h"
#include "base/log_file.h"

namespace postino::base {

namespace {

std::atomic<LogLevel> least_level = LogLevel::info;
std::atomic<LogFormat> chosen_format = LogFormat::text;

constexpr const char* time_pattern = "%Y-%m-%dT%H:%M:%S.%eZ";

std::string pattern(LogFormat format) {
  const std::string time = time_pattern;
  return format == LogFormat::text ? time + " %v" : R"({"time":")" + time + R"(",%v})";
}

// Writes each line at once.
class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  // nullopt: standard error.
  void write_to(std::optional<Descriptor> file) {
    const std::lock_guard lock(mutex_);
    file_ = std::move(file);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    const char* next = line.data();
    std::size_t left = line.size();
    while (left > 0) {
      const ssize_t written = ::write(file_ ? file_->number() : STDERR_FILENO, next, left);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return;  // there is no place to report it
      next += written;
      left -= static_cast<std::size_t>(written);
    }
  }
  void flush_() override {}

 private:
  std::optional<Descriptor> file_;
};

// Neither it nor the logger is ever destroyed: threads may still log while the process ends.
const std::shared_ptr<LogSink>& log_sink() {
  static const auto* const instance = new std::shared_ptr<LogSink>(std::make_shared<LogSink>());
  return *instance;
}

spdlog::logger& logger() {
  static auto* const instance = [] {
    auto* made = new spdlog::logger("postino", log_sink());
    made->set_pattern(pattern(chosen_format), spdlog::pattern_time_type::utc);
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

std::string_view name_of(LogLevel level) {
  constexpr std::array<std::string_view, 3> names = {"info", "warning", "error"};
  return names.at(static_cast<std::size_t>(level));
}

// A string literal of JSON; what is no printable ASCII stays what it is, but control characters are escaped.
void append_quoted(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      out.append(1, '\\').append(1, character);
    } else if (code < 0x20 || code == 0x7f) {
      out.append("\\u00").append(1, digits[code >> 4]).append(1, digits[code & 15]);
    } else {
      out += character;
    }
  }
  out += '"';
}

// A line must not be mistaken for two, or a value for a field.
bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char code) {
    return code > ' ' && code < 0x7f && code != '"' && code != '=' && code != '\\';
  });
}

std::string text_event(LogLevel level, std::string_view component, std::string_view message,
                       std::initializer_list<LogField> fields) {
  std::string line(name_of(level));
  line.append(" ").append(component).append(": ");
  for (const char character : message) line += static_cast<unsigned char>(character) < ' ' ? ' ' : character;
  for (const auto& [name, value] : fields) {
    line.append(" ").append(name).append("=");
    if (is_plain(value))
      line += value;
    else
      append_quoted(line, value);
  }
  return line;
}

std::string json_event(LogLevel level, std::string_view component, std::string_view message,
                       std::initializer_list<LogField> fields) {
  std::string line = R"("level":")";
  line.append(name_of(level)).append(R"(","component":)");
  append_quoted(line, component);
  line += R"(,"message":)";
  append_quoted(line, message);
  for (const auto& [name, value] : fields) {
    line += ',';
    append_quoted(line, name);
    line += ':';
    append_quoted(line, value);
  }
  return line;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
  if (level == LogLevel::error) return spdlog::level::err;
  return level == LogLevel::warning ? spdlog::level::warn : spdlog::level::info;
}

}  // namespace

void configure_log(LogLevel least, LogFormat format) {
  least_level = least;
  chosen_format = format;
  logger().set_pattern(pattern(format), spdlog::pattern_time_type::utc);
}

void set_log_level(LogLevel least) { least_level = least; }

Result<void> open_log(const std::string& file) {
  if (file.empty()) {
    log_sink()->write_to(std::nullopt);
    return {};
  }
  constexpr mode_t mode = S_IRUSR | S_IWUSR | S_IRGRP;
  Descriptor opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, mode));
  if (!opened)
    return fail(ErrorCode::io, "cannot write the log " + file + ": " + std::generic_category().message(errno));
  log_sink()->write_to(std::move(opened));
  return {};
}

std::string format_event(LogFormat format, LogLevel level, std::string_view component, std::string_view message,
                         std::initializer_list<LogField> fields) {
  return format == LogFormat::text ? text_event(level, component, message, fields)
                                   : json_event(level, component, message, fields);
}

void log_event(LogLevel level, std::string_view component, std::string_view message,
               std::initializer_list<LogField> fields) {
  if (level < least_level) return;
  logger().log(spdlog_level(level), "{}", format_event(chosen_format, level, component, message, fields));
}

}  // namespace postino::base
