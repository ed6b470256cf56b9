#include "message_store.h"

#include "item/attribute_text.h"

namespace postino::messages {

using broker::Message;

std::unique_ptr<StoreQueue> MessageStore::make_queue(StoreQueueOptions options) {
  return std::make_unique<StoreQueue>(engine(), clock(), random(), retry(), std::move(options));
}

std::size_t MessageStore::count_messages() {
  std::size_t count = 0;
  for (const item::Item& item : scan("messages"))
    count += item::attribute_text(item, "Shelf").starts_with("counts/") ? 0 : 1;
  return count;
}

broker::Messages numbered(std::size_t count, const std::string& prefix) {
  return {count, [prefix](std::size_t position) {
            Message message;
            message.id = prefix + std::to_string(position);
            message.body = "This is the message at position " + std::to_string(position);
            return message;
          }};
}

std::vector<std::string> ids_of(const std::vector<Message>& messages) {
  std::vector<std::string> ids;
  for (const Message& message : messages) ids.push_back(message.id);
  return ids;
}

std::vector<Message> take_all(broker::Broker& broker, const std::string& queue) {
  std::vector<Message> all;
  while (true) {
    auto held = broker.receive(queue, {.max_messages = 100'000});
    EXPECT_TRUE(succeeded(held));
    if (!held || (*held)->messages().empty()) break;
    all.insert(all.end(), (*held)->messages().begin(), (*held)->messages().end());
    EXPECT_TRUE(succeeded((*held)->acknowledge()));
  }
  return all;
}

::testing::AssertionResult is_complete(const broker::ProduceReport& report) {
  if (report.complete()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << kind_of(report) << ": " << (report.failure ? report.failure->message : "");
}

std::string kind_of(const broker::ProduceReport& report) {
  return report.failure ? std::string(name_of(report.failure->kind)) : "";
}

}  // namespace postino::messages
