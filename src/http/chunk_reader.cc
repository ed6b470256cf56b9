#include "http/chunk_reader.h"

#include <algorithm>
#include <charconv>

#include "http/message.h"

namespace postino::http {

namespace {

// Names and values of extensions are not looked at, but they end with the line.
bool is_extension(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return (text.empty() || text.front() == ';') && std::ranges::none_of(text, is_control);
}

}  // namespace

void ChunkReader::reset() {
  place_ = Place::size;
  chunk_left_ = 0;
  body_bytes_ = 0;
  trailer_bytes_ = 0;
}

ChunkReader::Part ChunkReader::next(std::string_view& bytes) {
  switch (place_) {
    case Place::size:
      return take_size(bytes);
    case Place::data:
      return take_data(bytes);
    case Place::data_end:
      return take_data_end(bytes);
    case Place::trailer:
      return take_trailer(bytes);
  }
  return {Kind::malformed};
}

ChunkReader::Kind ChunkReader::take_line(std::string_view& bytes, std::string_view& line, std::size_t limit) const {
  const std::size_t end = bytes.substr(0, limit).find("\r\n");
  if (end == bytes.npos) return bytes.size() < limit ? Kind::need_more : Kind::malformed;
  line = bytes.substr(0, end);
  bytes.remove_prefix(end + 2);
  return std::ranges::any_of(line, is_control) ? Kind::malformed : Kind::complete;
}

ChunkReader::Part ChunkReader::take_size(std::string_view& bytes) {
  std::string_view line;
  if (const Kind kind = take_line(bytes, line, max_line_bytes_); kind != Kind::complete) return {kind};
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), chunk_left_, 16);
  if (error == std::errc::result_out_of_range) return {Kind::too_large};
  if (error != std::errc() || !is_extension(line.substr(static_cast<std::size_t>(end - line.data()))))
    return {Kind::malformed};
  if (chunk_left_ > max_body_bytes_ - body_bytes_) return {Kind::too_large};
  body_bytes_ += chunk_left_;
  place_ = chunk_left_ > 0 ? Place::data : Place::trailer;
  return bytes.empty() ? Part{Kind::need_more} : next(bytes);
}

ChunkReader::Part ChunkReader::take_data(std::string_view& bytes) {
  const std::string_view data = bytes.substr(0, chunk_left_);
  bytes.remove_prefix(data.size());
  chunk_left_ -= data.size();
  if (chunk_left_ == 0) place_ = Place::data_end;
  return {Kind::data, data};
}

ChunkReader::Part ChunkReader::take_data_end(std::string_view& bytes) {
  constexpr std::string_view line_end = "\r\n";
  if (bytes.substr(0, 2) != line_end) return {bytes == "\r" ? Kind::need_more : Kind::malformed};
  bytes.remove_prefix(line_end.size());
  place_ = Place::size;
  return bytes.empty() ? Part{Kind::need_more} : next(bytes);
}

// Trailers are read and dropped: handlers do not use them, and they must not pass for headers.
ChunkReader::Part ChunkReader::take_trailer(std::string_view& bytes) {
  std::string_view line;
  do {
    const std::size_t before = bytes.size();
    const Kind kind = take_line(bytes, line, max_line_bytes_ - trailer_bytes_);
    if (kind != Kind::complete) return {kind};
    trailer_bytes_ += before - bytes.size();
  } while (!line.empty());
  return {Kind::complete};
}

}  // namespace postino::http
