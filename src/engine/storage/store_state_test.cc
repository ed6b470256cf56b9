#include "engine/storage/store_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/storage/crc32c.h"

namespace rocksdb::crc32c {
std::uint32_t Extend(std::uint32_t before, const char* bytes, std::size_t size);
}  // namespace rocksdb::crc32c

namespace postino::engine {
namespace {

TEST(Crc32c, HasItsCheckValue) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
  EXPECT_EQ(crc32c("56789", crc32c("1234")), 0xE3069283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(""), 0U);
}

// Of every length up to several words, from every place in a word.
TEST(Crc32c, IsTheSameWithAndWithoutTheInstruction) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<char>(i * 37 + 11));
  for (std::size_t begin = 0; begin < 8; ++begin)
    for (std::size_t size = 0; begin + size <= bytes.size(); ++size) {
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      ASSERT_EQ(crc32c(part, 0x12345678), portable_crc32c(part, 0x12345678)) << begin << " " << size;
    }
  EXPECT_EQ(portable_crc32c("123456789"), 0xE3069283U);
}

// Where RocksDB is linked statically, this is ours: what it writes must be what others read.
TEST(Crc32c, IsThatOfRocksDb) {
  EXPECT_EQ(rocksdb::crc32c::Extend(0, "123456789", 9), 0xE3069283U);
  EXPECT_EQ(rocksdb::crc32c::Extend(crc32c("1234"), "56789", 5), 0xE3069283U);
}

// These bytes are on disks.
TEST(StoreState, HasItsStoredForm) {
  StoreState open;
  open.files = {{"000012.log", 4096, std::nullopt}, {"000015.log", std::nullopt, std::nullopt}};
  const std::string text = "postino store state 1\nopen synced\n000012.log 4096 -\n000015.log - -\nend 83ecdf2d\n";
  EXPECT_EQ(encode_state(open), text);
  StoreState closed;
  closed.open = false;
  closed.durability = Durability::relaxed;
  closed.files = {{"CURRENT", 16, 0x1A2B3C4D}, {"000007.sst", 123, std::nullopt}};
  EXPECT_THAT(encode_state(closed), testing::StartsWith("postino store state 1\nclosed relaxed\nCURRENT 16 1a2b3c4d\n"
                                                        "000007.sst 123 -\nend "));
}

TEST(StoreState, IsReadAgain) {
  StoreState closed;
  closed.open = false;
  closed.durability = Durability::relaxed;
  closed.files = {{"CURRENT", 16, 0x1A2B3C4D}, {"000007.sst", 123, std::nullopt}};
  const auto read = decode_state(encode_state(closed));
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->open);
  EXPECT_EQ(read->durability, Durability::relaxed);
  EXPECT_EQ(read->files, closed.files);
}

TEST(StoreState, WithAnyDamageIsRefused) {
  StoreState state;
  state.files = {{"000012.log", 4096, std::nullopt}};
  const std::string text = encode_state(state);
  for (std::size_t place = 0; place < text.size(); ++place) {
    std::string flipped = text;
    flipped[place] = static_cast<char>(flipped[place] ^ 1);
    EXPECT_FALSE(decode_state(flipped)) << place;
    EXPECT_FALSE(decode_state(text.substr(0, place))) << place;
  }
}

}  // namespace
}  // namespace postino::engine
