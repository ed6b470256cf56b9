// Members of JSON objects in answers that are left out when they say nothing.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/timestamp.h"
#include "json/writer.h"

namespace postino::api {

inline void text_member(json::Writer& json, std::string_view name, std::string_view text) {
  if (!text.empty()) json.key(name).string(text);
}

inline void time_member(json::Writer& json, std::string_view name, base::TimePoint time) {
  json.key(name).string(base::format_timestamp(time));
}

inline void time_member(json::Writer& json, std::string_view name, const std::optional<base::TimePoint>& time) {
  if (time) time_member(json, name, *time);
}

}  // namespace postino::api
