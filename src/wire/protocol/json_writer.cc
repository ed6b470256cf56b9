#include "wire/protocol/json_writer.h"

#include <array>
#include <charconv>

namespace postino::wire {

JsonWriter& JsonWriter::units(double number) {
  separate();
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed).ptr;
  out_.append(text.data(), end);
  if (std::string_view(text.data(), end).find('.') == std::string_view::npos) out_ += ".0";
  return written();
}

JsonWriter& JsonWriter::time(base::TimePoint time) {
  separate();
  const std::int64_t milliseconds = base::epoch_milliseconds(time);
  const std::string fraction = std::to_string(1'000 + milliseconds % 1'000);
  out_.append(std::to_string(milliseconds / 1'000)).append(1, '.').append(fraction, 1);
  return written();
}

}  // namespace postino::wire
