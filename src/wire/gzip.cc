#include "wire/gzip.h"

#include <zlib.h>

#include <algorithm>

namespace postino::wire {

namespace {

constexpr int gzip_format = 15 + 16;  // the largest window, and a gzip header

struct Inflater {
  Inflater() { ready = inflateInit2(&stream, gzip_format) == Z_OK; }
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
  bool ready = false;
};

}  // namespace

base::Result<std::string> gunzip(std::string_view compressed, std::size_t limit) {
  constexpr std::size_t first_size = 16 << 10;
  Inflater inflater;
  if (!inflater.ready) return base::fail(base::ErrorCode::exhausted, "no memory to decompress");
  z_stream& stream = inflater.stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));  // NOLINT: zlib does not write there
  stream.avail_in = static_cast<uInt>(compressed.size());
  std::string out;
  int status = Z_OK;
  while (status == Z_OK) {
    // One byte more than allowed shows that there is too much.
    if (out.size() == stream.total_out) out.resize(std::min(limit + 1, std::max(first_size, 2 * out.size())));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + stream.total_out);
    stream.avail_out = static_cast<uInt>(out.size() - stream.total_out);
    status = inflate(&stream, Z_NO_FLUSH);
    if (stream.total_out > limit) return base::fail(base::ErrorCode::exhausted, "too large");
  }
  if (status != Z_STREAM_END || stream.avail_in != 0) return base::fail(base::ErrorCode::malformed, "no gzip");
  out.resize(stream.total_out);
  return out;
}

}  // namespace postino::wire
