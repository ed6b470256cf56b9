#include "remote/protocol/answer_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "item/json_decode.h"

namespace postino::remote {

bool AnswerReader::text(Json json, std::string& out) {
  std::string_view text;
  if (!reader_.text(json, text)) return false;
  out.assign(text);
  return true;
}

bool AnswerReader::integer(Json json, int& out) {
  std::int64_t number = 0;
  if (!reader_.integer(json, number, "Integer")) return false;
  using Limits = std::numeric_limits<int>;
  out = static_cast<int>(std::clamp<std::int64_t>(number, Limits::min(), Limits::max()));
  return true;
}

bool AnswerReader::time(Json json, base::TimePoint& out) {
  constexpr double latest = 1e12;  // seconds: beyond it milliseconds do not fit
  double seconds = 0;
  if (!number(json, seconds)) return false;
  if (!(std::abs(seconds) < latest)) return reader_.fail("a time is out of range");
  out = base::from_epoch_milliseconds(std::llround(seconds * 1'000));
  return true;
}

bool AnswerReader::item(Json json, item::Map& out) {
  simdjson::ondemand::object object;
  if (!reader_.map(json, object)) return false;
  auto map = item::map_from_json(object);
  if (!map) return reader_.fail(std::move(map).error().message);
  out = *std::move(map);
  return true;
}

bool AnswerReader::items(Json json, std::vector<item::Map>& out) {
  return elements(json, [&](Json each) { return item(each, out.emplace_back()); });
}

AnswerDocument::AnswerDocument(std::string body) : body_(std::move(body)), size_(body_.size()) {
  body_.append(simdjson::SIMDJSON_PADDING, '\0');
}

base::Result<simdjson::ondemand::object> AnswerDocument::open() {
  const simdjson::padded_string_view view(body_.data(), size_, body_.size());
  simdjson::ondemand::json_type type;
  simdjson::ondemand::object object;
  if (parser_.iterate(view).get(document_) || document_.type().get(type) ||
      type != simdjson::ondemand::json_type::object || document_.get_object().get(object))
    return base::fail(base::ErrorCode::malformed, "it is no JSON object");
  return object;
}

bool AnswerDocument::is_at_end() {
  // Only at the end of the text is there no location.
  return document_.current_location().error() != simdjson::SUCCESS;
}

}  // namespace postino::remote
