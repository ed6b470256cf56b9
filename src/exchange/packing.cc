#include "exchange/packing.h"

#include <openssl/evp.h>
#include <zlib.h>
#include <zstd.h>

#include "base/check.h"

namespace postino::exchange {

namespace {

constexpr std::size_t part_bytes = 1 << 20;
constexpr int gzip_format = 15 + 16;  // the largest window, and the header of gzip

// zlib does not write where it reads.
Bytef* bytes_of_zlib(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // NOLINT
}

tl::unexpected<base::Error> not_packed(std::string_view packing) {
  return base::fail(base::ErrorCode::corrupt, "the object is no whole " + std::string(packing) + " data");
}

class PlainSource final : public ByteSource {
 public:
  explicit PlainSource(ByteSource& packed) : packed_(packed) {}
  base::Result<std::optional<std::string>> next() override { return packed_.next(); }

 private:
  ByteSource& packed_;
};

// Also of several members, one behind the other.
class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(ByteSource& packed) : packed_(packed) { CHECK(inflateInit2(&stream_, gzip_format) == Z_OK); }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  base::Result<std::optional<std::string>> next() override {
    std::string out(part_bytes, '\0');
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());  // NOLINT
    stream_.avail_out = static_cast<uInt>(out.size());
    while (stream_.avail_out > 0) {
      if (stream_.avail_in == 0 && !is_input_over_) TRY_VOID(read_more());
      if (is_input_over_ && stream_.avail_in == 0) {
        if (is_in_member_) return not_packed("gzip");
        break;
      }
      is_in_member_ = true;
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        is_in_member_ = false;
        inflateReset(&stream_);
      } else if (result != Z_OK) {
        return not_packed("gzip");
      }
    }
    out.resize(out.size() - stream_.avail_out);
    if (out.empty()) return std::optional<std::string>();
    return std::optional(std::move(out));
  }

 private:
  base::Result<void> read_more() {
    TRY(std::optional<std::string> more, packed_.next());
    is_input_over_ = !more;
    input_ = std::move(more).value_or("");
    stream_.next_in = bytes_of_zlib(input_);
    stream_.avail_in = static_cast<uInt>(input_.size());
    return {};
  }

  ByteSource& packed_;
  z_stream stream_{};
  std::string input_;
  bool is_input_over_ = false;
  bool is_in_member_ = false;
};

class ZstdSource final : public ByteSource {
 public:
  explicit ZstdSource(ByteSource& packed) : packed_(packed), stream_(ZSTD_createDCtx()) {
    constexpr int largest_window = 27;  // 128 MB: what the command zstd takes, too
    CHECK(stream_ != nullptr);
    ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, largest_window);
  }
  ~ZstdSource() override { ZSTD_freeDCtx(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

  base::Result<std::optional<std::string>> next() override {
    std::string out(part_bytes, '\0');
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    while (target.pos < target.size) {
      if (place_.pos == place_.size && !is_input_over_) TRY_VOID(read_more());
      if (is_input_over_ && place_.pos == place_.size && !has_more_inside_) break;
      const std::size_t before = target.pos;
      const std::size_t result = ZSTD_decompressStream(stream_, &target, &place_);
      if (ZSTD_isError(result) != 0) return not_packed("zstd");
      is_in_frame_ = result != 0;
      has_more_inside_ = target.pos == target.size;
      if (is_input_over_ && place_.pos == place_.size && target.pos == before) break;
    }
    out.resize(target.pos);
    if (!out.empty()) return std::optional(std::move(out));
    if (is_in_frame_) return not_packed("zstd");
    return std::optional<std::string>();
  }

 private:
  base::Result<void> read_more() {
    TRY(std::optional<std::string> more, packed_.next());
    is_input_over_ = !more;
    input_ = std::move(more).value_or("");
    place_ = {input_.data(), input_.size(), 0};
    return {};
  }

  ByteSource& packed_;
  ZSTD_DCtx* const stream_;
  std::string input_;
  ZSTD_inBuffer place_{nullptr, 0, 0};
  bool is_input_over_ = false;
  bool is_in_frame_ = false;
  bool has_more_inside_ = false;
};

}  // namespace

std::string gzip(std::string_view bytes) {
  constexpr int usual_memory = 8;
  z_stream stream{};
  CHECK(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_format, usual_memory, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = bytes_of_zlib(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());  // NOLINT
  stream.avail_out = static_cast<uInt>(out.size());
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::unique_ptr<ByteSource> unpacked(ByteSource& packed, Packing packing) {
  switch (packing) {
    case Packing::gzip:
      return std::make_unique<GzipSource>(packed);
    case Packing::zstd:
      return std::make_unique<ZstdSource>(packed);
    case Packing::none:
      break;
  }
  return std::make_unique<PlainSource>(packed);
}

std::string md5(std::string_view bytes) {
  std::string digest(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(digest.data()), &size, EVP_md5(),
                   nullptr) == 1);
  digest.resize(size);
  return digest;
}

}  // namespace postino::exchange
