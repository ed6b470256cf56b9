// Reads what the REST API answers. Nothing is required of it: what is missing or of another type is empty, so that a
// server of another version can be read as far as it goes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/fields.h"

namespace postino::app {

// Fails when it is no JSON object.
base::Result<void> parse_answer(json::Document& document, std::string_view body);

// Made printable.
std::string text_of(json::Element object, std::string_view name);
// As it is, to be sent back.
std::string raw_text_of(json::Element object, std::string_view name);
std::int64_t number_of(json::Element object, std::string_view name);
bool flag_of(json::Element object, std::string_view name);
std::vector<json::Element> list_of(json::Element object, std::string_view name);

// An element that is a string itself, made printable.
std::string text_of(json::Element element);

}  // namespace postino::app
