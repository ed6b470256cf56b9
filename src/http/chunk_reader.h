// Undoes the chunked transfer coding. Stricter than the standard asks where leniency would let two readers of the same
// bytes disagree on where a body ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace postino::http {

class ChunkReader {
 public:
  enum class Kind {
    need_more,  // call again with what is left of the bytes and more
    data,       // a part of the body; call again
    complete,   // the body has ended
    malformed,
    too_large,  // the body is about to exceed its limit
  };
  struct Part {
    Kind kind = Kind::need_more;
    std::string_view data;  // of the bytes given, never empty
  };

  // What stands between two chunks, and what trails the last, may have `max_line_bytes` each.
  ChunkReader(std::size_t max_line_bytes, std::size_t max_body_bytes)
      : max_line_bytes_(max_line_bytes), max_body_bytes_(max_body_bytes) {}

  void reset();
  // Removes the next part from the front of `bytes`, which must not be empty.
  Part next(std::string_view& bytes);

 private:
  enum class Place { size, data, data_end, trailer };

  Part take_size(std::string_view& bytes);
  Part take_data(std::string_view& bytes);
  Part take_data_end(std::string_view& bytes);
  Part take_trailer(std::string_view& bytes);
  // One line without its end; complete when there was one.
  Kind take_line(std::string_view& bytes, std::string_view& line, std::size_t limit) const;

  const std::size_t max_line_bytes_;
  const std::size_t max_body_bytes_;
  Place place_ = Place::size;
  std::uint64_t chunk_left_ = 0;
  std::uint64_t body_bytes_ = 0;  // announced so far
  std::size_t trailer_bytes_ = 0;
};

}  // namespace postino::http
