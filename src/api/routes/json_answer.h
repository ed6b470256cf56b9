// Answers in JSON: of one thing, of several, and of a page. For each kind of thing there is a write_json() in this
// namespace.
#pragma once

#include <string>
#include <vector>

#include "json/writer.h"
#include "store/list_cursor.h"

namespace postino::api {

// As a class of this namespace it lets the templates below find each write_json(), also one that is declared behind
// them.
class AnswerWriter : public json::Writer {
 public:
  using json::Writer::Writer;
};

// `more` is what the answer depends on besides, such as the time.
template <class T, class... More>
std::string thing_json(const T& thing, const More&... more) {
  std::string text;
  AnswerWriter json(text);
  write_json(json, thing, more...);
  return text;
}

// "data":[...]
template <class T, class... More>
void write_entries(AnswerWriter& json, const std::vector<T>& entries, const More&... more) {
  json.key("data").begin_array();
  for (const T& entry : entries) write_json(json, entry, more...);
  json.end_array();
}

// {"data":[...]}
template <class T>
std::string list_json(const std::vector<T>& entries) {
  std::string text;
  AnswerWriter json(text);
  json.begin_object();
  write_entries(json, entries);
  json.end_object();
  return text;
}

// "data":[...],"cursor":"...", with null at the end, and perhaps "unreadable"
template <class T, class... More>
void write_page(AnswerWriter& json, const store::Page<T>& page, const More&... more) {
  write_entries(json, page.entries, more...);
  json.key("cursor");
  page.cursor.empty() ? json.null() : json.string(page.cursor);
  if (page.unreadable > 0) json.key("unreadable").integer(page.unreadable);
}

// {"data":[...],"cursor":...}
template <class T, class... More>
std::string page_json(const store::Page<T>& page, const More&... more) {
  std::string text;
  AnswerWriter json(text);
  json.begin_object();
  write_page(json, page, more...);
  json.end_object();
  return text;
}

}  // namespace postino::api
