#include "wire/compression.h"

#include <gtest/gtest.h>

namespace postino::wire {
namespace {

constexpr auto gzip = Coding::gzip;
constexpr auto deflate = Coding::deflate;

TEST(Compression, TheHighestWeightWinsAndOfEqualOnesTheFirst) {
  EXPECT_EQ(accepted_coding("gzip"), gzip);
  EXPECT_EQ(accepted_coding("gzip, deflate"), gzip);
  EXPECT_EQ(accepted_coding("deflate, gzip"), deflate);
  EXPECT_EQ(accepted_coding("deflate;q=0.4,gzip;q=0.5"), gzip);
  EXPECT_EQ(accepted_coding("gzip;q=0.4 , DEFLATE ; Q = 0.5"), deflate);
  EXPECT_EQ(accepted_coding("br;q=1, deflate;q=0.1, zstd"), deflate);
}

TEST(Compression, AWeightOfNothingExcludes) {
  EXPECT_EQ(accepted_coding(""), std::nullopt);
  EXPECT_EQ(accepted_coding("identity, br"), std::nullopt);
  EXPECT_EQ(accepted_coding("gzip;q=0"), std::nullopt);
  EXPECT_EQ(accepted_coding("gzip;q=0.0, deflate;q=0.1"), deflate);
  EXPECT_EQ(accepted_coding("gzip;q=-1, deflate"), deflate);
}

TEST(Compression, OddWeightsCountAsOne) {
  for (const char* weight : {"2", "1.1", "much", "", "0x0", "nan"}) {
    EXPECT_EQ(accepted_coding("deflate;q=0.9,gzip;q=" + std::string(weight)), gzip) << weight;
  }
  EXPECT_EQ(accepted_coding("deflate;q=0.9,gzip;level=3"), gzip);
}

TEST(Compression, AStarIsGzipUnlessThatIsNamed) {
  EXPECT_EQ(accepted_coding("*"), gzip);
  EXPECT_EQ(accepted_coding("gzip;q=0, *"), deflate);
  EXPECT_EQ(accepted_coding("gzip;q=0.2, *;q=0.3"), deflate);
  EXPECT_EQ(accepted_coding("deflate, *;q=0.5"), deflate);
  EXPECT_EQ(accepted_coding("deflate;q=0.5, *"), gzip);
  EXPECT_EQ(accepted_coding("*;q=0"), std::nullopt);
  EXPECT_EQ(accepted_coding("gzip;q=0, deflate;q=0, *"), std::nullopt);
}

TEST(Compression, WhatIsCompressedComesBack) {
  const std::string text(100'000, 'a');
  for (const Coding coding : {gzip, deflate}) {
    const std::string packed = compress(text, coding);
    EXPECT_LT(packed.size(), text.size() / 10);
    EXPECT_EQ(*decompress(packed, coding, text.size()), text);
    EXPECT_EQ(decompress(packed, coding, text.size() - 1).error().code, base::ErrorCode::exhausted);
    EXPECT_EQ(decompress(packed.substr(0, packed.size() - 1), coding, text.size()).error().code,
              base::ErrorCode::malformed);
    EXPECT_EQ(decompress("", coding, 10).error().code, base::ErrorCode::malformed);
  }
}

}  // namespace
}  // namespace postino::wire
