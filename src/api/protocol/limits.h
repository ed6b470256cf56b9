// What the REST API holds requests to. The handlers check these, and the OpenAPI document states them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "json/document.h"

namespace postino::api {

struct Limits {
  static constexpr std::size_t body_bytes = 48 << 20;                 // of a request: e-mails carry their attachments
  static constexpr std::size_t values_in_a_body = json::most_values;  // each takes memory beside the body itself
  static constexpr std::size_t emails_in_a_request = 100;
  static constexpr int page_size = 100;
  static constexpr int usual_page_size = 50;
  static constexpr std::size_t reason_bytes = 1'000;

  static constexpr std::int64_t least_key_life_seconds = 1;
  static constexpr std::int64_t most_key_life_seconds = 30 * 24 * 3600;
};

}  // namespace postino::api
