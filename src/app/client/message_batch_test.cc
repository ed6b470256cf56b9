#include "app/client/message_batch.h"

#include <gtest/gtest.h>

#include "json/document.h"

namespace postino::app {
namespace {

// What the API would be asked for: how many messages, and which are written.
std::string summary_of(const MessageBatch& batch) {
  json::Document document;
  json::FieldErrors errors;
  EXPECT_TRUE(document.parse(batch.call.body_text(), errors)) << batch.call.body_text();
  const json::Element root = document.root();
  EXPECT_EQ(root.member("idempotencyKey")->text(), batch.key);
  std::string text = root.member("settings")->member("totalMessages")->compact() + " of";
  const json::Elements messages = root.member("messages")->elements();
  if (messages.size() > 5) return text + " " + std::to_string(messages.size());
  for (const json::Element message : messages) text.append(" ").append(*message.member("body")->text());
  return text;
}

MessageList numbered_messages(int count, std::size_t total) {
  MessageList list{.queue = "q"};
  for (int i = 0; i < count; ++i) list.messages.push_back(R"({"body":")" + std::to_string(i) + R"("})");
  list.total = total;
  return list;
}

TEST(MessageBatch, FewMessagesAreOneCallUnderTheKeyItself) {
  const MessageBatch batch = batch_at(numbered_messages(3, 3), 0, "key");
  EXPECT_EQ(batch.count, 3U);
  EXPECT_EQ(batch.key, "key");
  EXPECT_EQ(summary_of(batch), "3 of 0 1 2");
  EXPECT_EQ(summary_of(batch_at(numbered_messages(3, 2), 0, "key")), "2 of 0 1");
}

TEST(MessageBatch, RepeatedMessagesAreDividedWhereTheyBeginAnew) {
  const MessageList list = numbered_messages(3, 25'000);
  const MessageBatch first = batch_at(list, 0, "key");
  EXPECT_EQ(first.count, 9'999U);
  EXPECT_EQ(first.key, "key-0");
  EXPECT_EQ(summary_of(first), "9999 of 0 1 2");
  const MessageBatch second = batch_at(list, first.count, "key");
  EXPECT_EQ(second.key, "key-9999");
  const MessageBatch third = batch_at(list, first.count + second.count, "key");
  EXPECT_EQ(summary_of(third), "5002 of 0 1 2");
  EXPECT_EQ(batch_at(list, 0, "key").call.body_text(), first.call.body_text());
}

TEST(MessageBatch, ManyMessagesAreWrittenAThousandAtATime) {
  const MessageList list = numbered_messages(2'500, 2'501);
  EXPECT_EQ(summary_of(batch_at(list, 0, "key")), "1000 of 1000");
  EXPECT_EQ(summary_of(batch_at(list, 1'000, "key")), "1000 of 1000");
  EXPECT_EQ(summary_of(batch_at(list, 2'498, "key")), "3 of 2498 2499 0") << "the last is the first again";
}

TEST(MessageBatch, LargeMessagesMakeSmallerCalls) {
  MessageList list{.queue = "q"};
  for (int i = 0; i < 3; ++i) list.messages.push_back(R"({"body":")" + std::string(3 << 20, 'x') + R"("})");
  list.total = 3;
  EXPECT_EQ(batch_at(list, 0, "key").count, 2U);
  EXPECT_EQ(batch_at(list, 2, "key").count, 1U);
}

TEST(MessageBatch, SaysWhereAndHow) {
  MessageList list = numbered_messages(1, 1);
  list.connection = "main";
  list.reply_to = "answers";
  list.settings = {{"settings.batchSize", "7"}};
  EXPECT_EQ(batch_at(list, 0, "k\"").call.body_text(),
            R"({"idempotencyKey":"k\"","connection":"main","target":{"queueName":"q","replyToQueue":"answers"},)"
            R"("settings":{"totalMessages":1,"batchSize":7},"messages":[{"body":"0"}]})");
}

}  // namespace
}  // namespace postino::app
