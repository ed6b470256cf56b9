#include "engine/streams/stream_arn.h"

#include <optional>

namespace postino::engine {

namespace {

// The part before the separator, which is taken off the text with it.
std::optional<std::string_view> take_until(std::string_view& text, char separator) {
  const std::size_t place = text.find(separator);
  if (place == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, place);
  text.remove_prefix(place + 1);
  return part;
}

}  // namespace

bool is_stream_arn(std::string_view text) {
  if (take_until(text, ':') != "arn") return false;
  const auto partition = take_until(text, ':');
  if (!partition || partition->empty() || take_until(text, ':') != "dynamodb") return false;
  const auto region = take_until(text, ':');
  const auto account = take_until(text, ':');
  if (!account || region->empty() || account->empty() || take_until(text, '/') != "table") return false;
  const auto table = take_until(text, '/');
  return table && !table->empty() && take_until(text, '/') == "stream" && !text.empty() &&
         text.find('/') == std::string_view::npos;
}

}  // namespace postino::engine
