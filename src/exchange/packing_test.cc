#include "exchange/packing.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include "base/hash.h"

namespace postino::exchange {
namespace {

// Gives its bytes in parts of a size.
class Parts final : public ByteSource {
 public:
  Parts(std::string bytes, std::size_t part) : bytes_(std::move(bytes)), part_(part) {}
  base::Result<std::optional<std::string>> next() override {
    if (begin_ >= bytes_.size()) return std::optional<std::string>();
    std::string part = bytes_.substr(begin_, part_);
    begin_ += part.size();
    return std::optional(std::move(part));
  }

 private:
  const std::string bytes_;
  const std::size_t part_;
  std::size_t begin_ = 0;
};

std::string read_all(const std::string& packed, Packing packing, std::size_t part = 1'000) {
  Parts parts(packed, part);
  const auto source = unpacked(parts, packing);
  std::string all;
  while (true) {
    const auto bytes = source->next();
    if (!bytes) return "refused: " + bytes.error().message;
    if (!*bytes) return all;
    EXPECT_FALSE((*bytes)->empty());
    EXPECT_LE((*bytes)->size(), std::size_t{1} << 20);
    all += **bytes;
  }
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 400'000; ++i) text += "line " + std::to_string(i * 7'919LL % 10'007) + "\n";
  return text;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

TEST(Packing, WhatIsPackedIsUnpackedAgain) {
  const std::string text = long_text();
  EXPECT_EQ(read_all(text, Packing::none), text);
  for (const std::size_t part : {std::size_t{1'000}, std::size_t{1} << 22}) {
    EXPECT_EQ(read_all(gzip(text), Packing::gzip, part), text);
    EXPECT_EQ(read_all(zstd(text), Packing::zstd, part), text);
  }
  EXPECT_EQ(read_all(gzip("one ") + gzip("two"), Packing::gzip, 1), "one two");
  EXPECT_EQ(read_all(zstd("one ") + zstd("two"), Packing::zstd, 1), "one two");
  EXPECT_EQ(read_all(gzip(""), Packing::gzip), "");
  EXPECT_EQ(read_all("", Packing::gzip), "");
}

TEST(Packing, DamageIsFound) {
  const std::string text = long_text();
  for (const Packing packing : {Packing::gzip, Packing::zstd}) {
    const std::string packed = packing == Packing::gzip ? gzip(text) : zstd(text);
    EXPECT_EQ(read_all(packed.substr(0, packed.size() / 2), packing).substr(0, 8), "refused:");
    EXPECT_EQ(read_all("no such thing", packing).substr(0, 8), "refused:");
  }
}

// Of "abc", as RFC 1321 has it.
TEST(Packing, Md5) { EXPECT_EQ(base::to_hex(md5("abc")), "900150983cd24fb0d6963f7d28e17f72"); }

}  // namespace
}  // namespace postino::exchange
