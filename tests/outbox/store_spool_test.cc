// The spool inside the store: parts, and contents that are packed.
#include "outbox/store_ledger/store_spool.h"

#include <gmock/gmock.h>

#include "base/random.h"
#include "outbox_store.h"

namespace postino::outbox {
namespace {

using base::ErrorCode;
using std::chrono::hours;
using testing::IsEmpty;

class StoreSpoolTest : public testing::Test {
 protected:
  static SpoolObject object(std::string bytes, SpoolKind kind = SpoolKind::message) {
    return {kind, "e1", test_start, std::move(bytes), test_start + hours(1)};
  }
  // Letters without any order.
  static std::string letters(std::size_t size) {
    base::SeededRandom random(5);
    std::string text;
    while (text.size() < size) text.push_back(static_cast<char>('a' + random.next() % 26));
    return text;
  }
  item::Item stored(const std::string& path) {
    for (const item::Item& item : store_.scan(store_.tables().spool()))
      if (*item.find("SpoolPath") == item::AttributeValue(path)) return item;
    return {};
  }
  void put(const item::Item& item) {
    store::PutItemRequest request;
    request.table_name = store_.tables().spool();
    request.item = item;
    ASSERT_TRUE(store_.engine().put_item(request));
  }
  std::string read(const std::string& path) { return ledger_->spool().read(path).value_or("-"); }
  ErrorCode fault(const std::string& path) {
    const auto contents = ledger_->spool().read(path);
    EXPECT_FALSE(contents) << path;
    return contents ? ErrorCode::io : contents.error().code;
  }
  // A payload, and a message that was built from it.
  void write_both(const std::string& payload, const std::string& message) {
    payload_path_ = ledger_->spool().write(object(payload, SpoolKind::payload)).value_or("");
    SpoolObject second = object(message);
    second.similar = SimilarObject{payload_path_, payload};
    message_path_ = ledger_->spool().write(second).value_or("");
  }

  const std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(test_start);
  OutboxStore store_{SpoolChoice::store, clock_};
  std::unique_ptr<StoreLedger> ledger_ = store_.make_ledger();
  base::SeededRandom random_{4};
  const StoreSpool own_spool_{store_.engine(), store_.tables().spool(), random_, store_.retry()};
  std::string payload_path_;
  std::string message_path_;
};

TEST_F(StoreSpoolTest, KeepsObjectsOfAnySize) {
  for (const std::size_t size : {0UL, 1UL, 307'199UL, 307'200UL, 307'201UL, 614'400UL, 2'000'000UL}) {
    std::string bytes(size, 'x');
    for (std::size_t i = 0; i < size; i += 1'000) bytes[i] = static_cast<char>(i / 1'000);
    const auto path = ledger_->spool().write(object(bytes));
    ASSERT_TRUE(path) << path.error().message;
    const auto read = ledger_->spool().read(*path);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(*read == bytes) << size;
    EXPECT_EQ(own_spool_.place(object(bytes)).has_value(), size <= 307'200) << size;
    EXPECT_TRUE(ledger_->spool().remove(*path));
    EXPECT_EQ(ledger_->spool().read(*path).error().code, base::ErrorCode::not_found);
  }
  EXPECT_THAT(store_.scan(store_.tables().spool()), IsEmpty()) << "no part stays";
}

TEST_F(StoreSpoolTest, AMissingPartIsNoticed) {
  const auto path = ledger_->spool().write(object(std::string(700'000, 'x')));
  ASSERT_TRUE(path);
  store::DeleteItemRequest request;
  request.table_name = store_.tables().spool();
  request.key = {{"SpoolPath", *path}, {"Part", 1}};
  ASSERT_TRUE(store_.engine().delete_item(request));
  EXPECT_EQ(ledger_->spool().read(*path).error().code, base::ErrorCode::corrupt);
  std::size_t asked = 0;
  const auto refused = ledger_->spool().read_if(*path, [&](std::size_t bytes) {
    asked = bytes;
    return false;
  });
  EXPECT_EQ(refused.error().code, base::ErrorCode::exhausted) << "it is asked for before the other parts are read";
  EXPECT_GE(asked, 700'000U);
}

TEST_F(StoreSpoolTest, AMessageTakesHardlyAnyRoomBesideItsPayload) {
  const std::string text = letters(4'000);
  const std::string payload = R"({"body_text":")" + text + "\"}";
  const std::string message = "Subject: x\r\n\r\n" + text + "\r\n";
  write_both(payload, message);
  EXPECT_EQ(read(payload_path_), payload);
  EXPECT_EQ(read(message_path_), message);
  const item::Item item = stored(message_path_);
  EXPECT_LT(item.find("Packed")->as<item::Binary>().bytes.size(), 100U);
  EXPECT_EQ(*item.find("Size"), item::AttributeValue(static_cast<std::int64_t>(message.size())));
  EXPECT_EQ(*item.find("SimilarTo"), item::AttributeValue(payload_path_));
  EXPECT_FALSE(item.contains("Content")) << "earlier versions must not take it for the message";
  EXPECT_LT(stored(payload_path_).find("Packed")->as<item::Binary>().bytes.size(), payload.size() * 3 / 4);

  std::size_t asked = 0;
  const auto refused = ledger_->spool().read_if(message_path_, [&](std::size_t bytes) {
    asked = bytes;
    return false;
  });
  EXPECT_EQ(refused.error().code, ErrorCode::exhausted);
  EXPECT_EQ(asked, message.size()) << "as much as it is when it is unpacked";
}

TEST_F(StoreSpoolTest, AMessageWhosePayloadIsLargeOrHardlySimilarIsKeptAllTheSame) {
  write_both(std::string(400'000, 'x'), letters(1'000));
  EXPECT_EQ(read(message_path_), letters(1'000));
  EXPECT_FALSE(stored(message_path_).contains("SimilarTo")) << "it would have to be read in parts";
  write_both(std::string(1'000, 'x'), letters(350'000));
  EXPECT_EQ(read(message_path_), letters(350'000));
  write_both("{}", "short");
  EXPECT_EQ(read(message_path_), "short");
  EXPECT_TRUE(stored(message_path_).contains("Content"));
}

TEST_F(StoreSpoolTest, AMessageThatDoesNotFitItsPayloadIsNotGivenOut) {
  const std::string payload = letters(4'000);
  write_both(payload, payload + "!");
  const item::Item sound = stored(payload_path_);
  item::Item other = sound;
  other.erase("Packed");
  other.erase("Size");
  std::string bytes = payload;
  bytes[2'000] = '?';
  other.set("Content", item::Binary{bytes});
  put(other);
  EXPECT_EQ(fault(message_path_), ErrorCode::corrupt);
  put(sound);
  EXPECT_EQ(read(message_path_), payload + "!");
  ASSERT_TRUE(ledger_->spool().remove(payload_path_));
  EXPECT_EQ(fault(message_path_), ErrorCode::not_found);
}

TEST_F(StoreSpoolTest, WhatIsNotPackedAsItSaysIsMalformed) {
  const std::string payload = letters(4'000);
  write_both(payload, payload + "!");
  const item::Item sound = stored(message_path_);
  const auto with = [&](const std::string& name, const std::optional<item::AttributeValue>& value) {
    item::Item item = sound;
    if (value)
      item.set(name, *value);
    else
      item.erase(name);
    put(item);
    return fault(message_path_);
  };
  using item::AttributeValue;
  for (const std::int64_t size : {0, 1, 4'000, 4'002, 307'201})
    EXPECT_EQ(with("Size", AttributeValue(size)), ErrorCode::corrupt) << size;
  EXPECT_EQ(with("Size", std::nullopt), ErrorCode::corrupt);
  EXPECT_EQ(with("Size", AttributeValue("4001")), ErrorCode::corrupt);
  EXPECT_EQ(with("Parts", AttributeValue(2)), ErrorCode::corrupt);
  EXPECT_EQ(with("Packed", AttributeValue("text")), ErrorCode::corrupt);
  EXPECT_EQ(with("Content", AttributeValue(item::Binary{"both"})), ErrorCode::corrupt);
  EXPECT_EQ(with("SimilarTo", std::nullopt), ErrorCode::corrupt);
  EXPECT_EQ(with("SimilarTo", AttributeValue(message_path_)), ErrorCode::corrupt) << "packed by itself";
  put(sound);
  EXPECT_EQ(read(message_path_), payload + "!");
}

TEST_F(StoreSpoolTest, ContentsOfEarlierVersionsAreRead) {
  put({{"SpoolPath", "2026/11/e1.eml"}, {"Part", 0}, {"Parts", 1}, {"Content", item::Binary{"from before"}}});
  EXPECT_EQ(read("2026/11/e1.eml"), "from before");
}

}  // namespace
}  // namespace postino::outbox
