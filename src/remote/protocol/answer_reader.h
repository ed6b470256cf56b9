// Reads the answers of DynamoDB's protocol. Members that are unknown or null are passed over: a newer service may have
// more of them.
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "item/json_reader.h"
#include "item/value.h"
#include "store/stream.h"
#include "store/words.h"

namespace postino::remote {

// Every function returns false when the JSON is of another type than it must be; error() then says why, and nothing
// more can be read. A value must be read only once.
class AnswerReader {
 public:
  using Json = item::JsonReader::Json;

  bool text(Json json, std::string& out);
  bool boolean(Json json, bool& out) { return reader_.boolean(json, out); }
  bool number(Json json, double& out) { return !json.get_double().get(out) || reader_.broken(); }
  bool integer(Json json, std::int64_t& out) { return reader_.integer(json, out, "Long"); }
  bool integer(Json json, int& out);
  // Seconds since the epoch, with a fraction.
  bool time(Json json, base::TimePoint& out);
  bool item(Json json, item::Map& out);
  bool items(Json json, std::vector<item::Map>& out);
  // A word that is not known leaves `out` as it was.
  template <class Enum>
  bool word(Json json, Enum& out) {
    std::string_view text;
    if (!reader_.text(json, text)) return false;
    if (const auto value = store::value_of<Enum>(text)) out = *value;
    return true;
  }

  // Members that may be absent.
  bool text(Json json, std::optional<std::string>& out) { return text(json, out.emplace()); }
  bool boolean(Json json, std::optional<bool>& out) { return boolean(json, out.emplace()); }
  bool integer(Json json, std::optional<std::int64_t>& out) { return integer(json, out.emplace()); }
  bool time(Json json, std::optional<base::TimePoint>& out) { return time(json, out.emplace()); }
  bool item(Json json, std::optional<item::Map>& out) { return item(json, out.emplace()); }

  // Calls read(name, value) for each member of an object, in its order, as long as it returns true.
  template <class Read>
  bool members(Json json, const Read& read) {
    simdjson::ondemand::object object;
    return reader_.map(json, object) && members(object, read);
  }
  template <class Read>
  bool members(simdjson::ondemand::object object, const Read& read) {
    for (auto field : object) {
      std::string_view name;
      Json value;
      bool is_null = false;
      if (!reader_.field(field, name, value)) return false;
      if (value.is_null().get(is_null)) return reader_.broken();
      if (!is_null && !read(name, value)) return false;
    }
    return true;
  }
  // Calls read(value) for each element of an array.
  template <class Read>
  bool elements(Json json, const Read& read) {
    simdjson::ondemand::array array;
    if (!reader_.array(json, array)) return false;
    for (auto element : array) {
      Json value;
      if (!reader_.element(element, value) || !read(value)) return false;
    }
    return true;
  }

  // Always false.
  bool fail(std::string message) { return reader_.fail(std::move(message)); }
  base::Error error() && { return std::move(reader_).error(); }

 private:
  item::JsonReader reader_;
};

// One answer as JSON. Its values are views into it.
class AnswerDocument {
 public:
  explicit AnswerDocument(std::string body);

  // The members of the answer; malformed when it is no object.
  base::Result<simdjson::ondemand::object> open();
  // Nothing but white space may follow.
  bool is_at_end();

 private:
  std::string body_;  // with as many bytes behind it as the parser may look at
  std::size_t size_;
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
};

// Fills a T with read(reader, name, value, T&) of each member; malformed when the body is not as it must be.
template <class T, class Read>
base::Result<T> read_answer(std::string body, const Read& read, T out = {}) {
  AnswerDocument document(std::move(body));
  TRY(auto object, document.open());
  AnswerReader reader;
  const bool is_read = reader.members(
      object, [&](std::string_view name, AnswerReader::Json value) { return read(reader, name, value, out); });
  if (!is_read) return base::propagate(std::move(reader).error());
  if (!document.is_at_end()) return base::fail(base::ErrorCode::malformed, "");
  return out;
}

// The same of an answer that says that all went well. Something between may say so of what is none: what tells of an
// error is malformed, and so is what lacks the member that each such answer has.
template <class T, class Read>
base::Result<T> read_success(std::string body, std::string_view needed, const Read& read, T out = {}) {
  bool has_needed = needed.empty();
  auto answer = read_answer<T>(
      std::move(body),
      [&](AnswerReader& reader, std::string_view name, AnswerReader::Json value, T& into) {
        if (name == "__type") return reader.fail("it tells of an error and of success");
        has_needed = has_needed || name == needed;
        return read(reader, name, value, into);
      },
      std::move(out));
  if (answer && !has_needed) return base::fail(base::ErrorCode::malformed, "it has no " + std::string(needed));
  return answer;
}

}  // namespace postino::remote
