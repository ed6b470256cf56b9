#include "engine/streams/stream_record.h"

#include <gtest/gtest.h>

namespace postino::engine {
namespace {

using store::ChangeType;
using store::StreamViewType;

constexpr base::TimePoint time_of_change = base::TimePoint(base::Milliseconds(1'000));

Table streamed_table() {
  Table result;
  result.id = 7;
  result.hash = {"pk", item::Type::string};
  return result;
}

const StoredItemPointer before = store_item({{"pk", "a"}, {"v", 1}});
const StoredItemPointer after = store_item({{"pk", "a"}, {"v", 2}});

std::string encode(StreamViewType view, const StoredItemPointer& old_item, const StoredItemPointer& new_item,
                   bool by_time_to_live = false) {
  return encode_stream_record(streamed_table(), view, old_item, new_item, time_of_change, by_time_to_live);
}

// These bytes are on disk: docs/formats.md.
TEST(StreamRecordTest, HasPinnedBytes) {
  using namespace std::string_literals;
  const std::string keys = "\x0D\x01\x02pk\x04\x01\x61"s;
  const std::string old_image = "\x01\x06\x0D\x02\x02pk\x04\x01\x61\x01v\x06\x02"s;
  const std::string new_image = "\x01\x06\x0D\x02\x02pk\x04\x01\x61\x01v\x06\x04"s;
  // Format, type, view, flags, milliseconds, size: 3 of the key, 6 of each image.
  EXPECT_EQ(encode(StreamViewType::new_and_old_images, before, after),
            "\x01\x01\x03\x06\xE8\x07\x0F"s + "\x08" + keys + "\x0E" + old_image + "\x0E" + new_image);
  EXPECT_EQ(encode(StreamViewType::keys_only, nullptr, after), "\x01\x00\x00\x00\xE8\x07\x03"s + "\x08" + keys);
  EXPECT_EQ(encode(StreamViewType::old_image, before, nullptr, true),
            "\x01\x02\x02\x03\xE8\x07\x09"s + "\x08" + keys + "\x0E" + old_image);
}

TEST(StreamRecordTest, KeepsTheImagesOfTheView) {
  const auto images = [](StreamViewType view, const StoredItemPointer& old_item, const StoredItemPointer& new_item) {
    const auto record = decode_stream_record(encode(view, old_item, new_item));
    return std::pair(record->old_image.has_value(), record->new_image.has_value());
  };
  EXPECT_EQ(images(StreamViewType::keys_only, before, after), std::pair(false, false));
  EXPECT_EQ(images(StreamViewType::old_image, before, after), std::pair(true, false));
  EXPECT_EQ(images(StreamViewType::new_image, before, after), std::pair(false, true));
  EXPECT_EQ(images(StreamViewType::new_and_old_images, before, after), std::pair(true, true));
  EXPECT_EQ(images(StreamViewType::new_and_old_images, nullptr, after), std::pair(false, true));
  EXPECT_EQ(images(StreamViewType::new_and_old_images, before, nullptr), std::pair(true, false));
}

TEST(StreamRecordTest, ReadsBackWhatItWrote) {
  const auto record = decode_stream_record(encode(StreamViewType::new_and_old_images, before, after, true));
  ASSERT_TRUE(record);
  EXPECT_EQ(record->type, ChangeType::modify);
  EXPECT_EQ(record->view_type, StreamViewType::new_and_old_images);
  EXPECT_EQ(record->time, time_of_change);
  EXPECT_EQ(record->keys, (item::Key{{"pk", "a"}}));
  EXPECT_EQ(record->old_image, before->item);
  EXPECT_EQ(record->new_image, after->item);
  EXPECT_EQ(record->size_bytes, 15);
  EXPECT_TRUE(record->by_time_to_live);
}

TEST(StreamRecordTest, DamagedBytesAreReported) {
  const std::string good = encode(StreamViewType::new_and_old_images, before, after);
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(decode_stream_record(good.substr(0, length))) << length;
  EXPECT_FALSE(decode_stream_record(good + "x"));
  EXPECT_FALSE(decode_stream_record("\x02" + good.substr(1)));
}

}  // namespace
}  // namespace postino::engine
