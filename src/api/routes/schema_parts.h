// What schemas are made of: the shapes that many of them share.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "api/protocol/schema.h"

namespace postino::api {

inline Schema time(std::string description = "") {
  return {.type = "string", .description = std::move(description), .format = "date-time"};
}

inline Schema text(std::string description = "") { return {.type = "string", .description = std::move(description)}; }

inline Schema count(std::string description = "") {
  return {.type = "integer", .description = std::move(description), .least = 0};
}

inline Schema flag(std::string description = "") { return {.type = "boolean", .description = std::move(description)}; }

inline Schema like(std::string_view reference, std::string description = "") {
  return {.reference = reference, .description = std::move(description)};
}

inline Schema list_of(Schema element, std::string description = "") {
  return {.type = "array", .description = std::move(description), .elements = {std::move(element)}};
}

// A page of elements of another schema.
inline Schema page_of(std::string_view element) {
  return {.type = "object",
          .properties = {
              {"data", list_of(like(element)), Presence::required},
              {"cursor",
               {.type = "string", .nullable = true, .description = "Cursor of the next page; null on the last page."},
               Presence::required}}};
}

// The same of records that other programs may have written, too.
inline Schema page_of_records(std::string_view element) {
  Schema page = page_of(element);
  page.properties.push_back(
      {"unreadable", count("How many records cannot be read, and are left out here; the log of the server "
                           "names them. Absent: none.")});
  return page;
}

}  // namespace postino::api
