#include "engine/catalog/undo_record.h"

#include <gtest/gtest.h>

#include "engine/storage/keys.h"

namespace postino::engine {
namespace {

using namespace std::string_literals;

const std::string stored_key = "\x01\x02\x03\x04item"s;

// These bytes are on disk: docs/formats.md.
TEST(UndoRecord, HasTheKeyAndWhatWasThere) {
  const StoredItemPointer before = store_item({{"a", "b"}});
  const std::string bytes = encode_undo_record(stored_key, before);
  EXPECT_EQ(bytes, "\x01\x01\x04item"s + before->bytes);
  const UndoRecord record = read_undo_record(bytes).value();
  EXPECT_EQ(record.key_rest, "item");
  EXPECT_EQ(record.image, before->bytes);
}

TEST(UndoRecord, OfANewItemHasNothingBehindTheKey) {
  const std::string bytes = encode_undo_record(stored_key, nullptr);
  EXPECT_EQ(bytes, "\x01\x00\x04item"s);
  const UndoRecord record = read_undo_record(bytes).value();
  EXPECT_EQ(record.key_rest, "item");
  EXPECT_FALSE(record.image);
}

TEST(UndoRecord, DamageIsFound) {
  for (const std::string& bytes : {""s, "\x02\x00\x04item"s, "\x01\x02\x04item"s, "\x01\x00\x05item"s,
                                   "\x01\x00\x04item more"s, "\x01\x01\x04item"s})
    EXPECT_FALSE(read_undo_record(bytes)) << bytes;
}

}  // namespace
}  // namespace postino::engine
