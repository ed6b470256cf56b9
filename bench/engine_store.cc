#include "engine_store.h"

#include <thread>
#include <vector>

#include "base/check.h"
#include "mails.h"

namespace postino::bench {

namespace {

using store::KeyRole;

const std::string table_name = "Mails";

store::GlobalIndexDefinition index_by(const std::string& attribute, store::ProjectionType projection) {
  return {.name = attribute + "Index",
          .key_schema = {{attribute, KeyRole::hash}, {"UpdatedAt", KeyRole::range}},
          .projection = {.type = projection}};
}

store::CreateTableRequest table_of(Shape shape) {
  store::CreateTableRequest request;
  request.table_name = table_name;
  request.attribute_definitions = {{"Id", item::Type::string}};
  request.key_schema = {{"Id", KeyRole::hash}};
  request.billing_mode = store::BillingMode::pay_per_request;
  if (shape == Shape::conversations) {
    request.attribute_definitions.push_back({"Conversation", item::Type::string});
    request.key_schema = {{"Conversation", KeyRole::hash}, {"Id", KeyRole::range}};
  }
  if (shape == Shape::indexed || shape == Shape::indexed_keys_only) {
    const bool all = shape == Shape::indexed;
    for (const char* name : {"Recipient", "Status"})
      request.attribute_definitions.push_back({name, item::Type::string});
    request.attribute_definitions.push_back({"UpdatedAt", item::Type::number});
    const auto projection = all ? store::ProjectionType::all : store::ProjectionType::keys_only;
    request.global_indexes = {{index_by("Status", projection), index_by("Recipient", projection)}};
    request.stream = store::StreamSpecification{
        .enabled = true,
        .view_type = all ? store::StreamViewType::new_and_old_images : store::StreamViewType::keys_only};
  }
  return request;
}

std::shared_ptr<store::PutItemRequest> put_request() {
  auto request = std::make_shared<store::PutItemRequest>();
  request->table_name = table_name;
  request->item = make_mail(0);
  return request;
}

store::BatchWriteItemRequest batch_request(int size) {
  store::BatchWriteItemRequest request;
  std::vector<store::BatchWrite> writes(static_cast<std::size_t>(size), store::BatchPut{make_mail(0)});
  request.tables.push_back({table_name, std::move(writes)});
  return request;
}

void become_mails(store::BatchWriteItemRequest& request, std::uint64_t first) {
  for (store::BatchWrite& write : request.tables[0].writes) become_mail(std::get<store::BatchPut>(write).item, first++);
}

}  // namespace

EngineStore::EngineStore(std::filesystem::path directory, Shape shape, std::shared_ptr<store::TrafficObserver> traffic)
    : directory_(std::move(directory)), traffic_(std::move(traffic)) {
  reopen();
  CHECK(engine_->create_table(table_of(shape)));
}

void EngineStore::reopen() {
  engine_.reset();
  engine::Options options;
  options.directory = directory_;
  options.traffic = traffic_;
  auto opened = engine::Engine::open(std::move(options));
  CHECK(opened);
  engine_ = std::move(*opened);
}

void EngineStore::load(std::uint64_t count) {
  constexpr int threads = 16;
  constexpr int batch = static_cast<int>(store::max_batch_write_requests);
  std::vector<std::jthread> loaders;
  for (int i = 0; i < threads; ++i)
    loaders.emplace_back([&] {
      auto request = batch_request(batch);
      for (std::uint64_t first = next_.fetch_add(batch); first < count; first = next_.fetch_add(batch)) {
        become_mails(request, first);
        CHECK(engine_->batch_write_item(request));
      }
    });
}

void EngineStore::enable_recovery() {
  CHECK(engine_->update_continuous_backups(table_name, {.enabled = true, .recovery_period_days = {}}));
}

void EngineStore::restore() {
  store::RestoreToPointInTimeRequest request;
  request.source_table_name = table_name;
  request.target_table_name = "restored";
  request.use_latest_time = true;
  CHECK(engine_->restore_table_to_point_in_time(request));
  while (engine_->describe_table("restored")->status != store::TableStatus::active)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

Operation EngineStore::inserting() {
  return [this, request = put_request()] {
    become_mail(request->item, next_++);
    CHECK(engine_->put_item(*request));
  };
}

Starter EngineStore::inserting_with_callbacks() {
  return [this, request = put_request()](const std::function<void()>& done) {
    become_mail(request->item, next_++);
    engine_->put_item(*request, [done](const store::Answer<store::WriteItemResponse>& answer) {
      CHECK(answer);
      done();
    });
  };
}

Operation EngineStore::inserting_batches(int size) {
  return [this, size, request = std::make_shared<store::BatchWriteItemRequest>(batch_request(size))] {
    become_mails(*request, next_.fetch_add(static_cast<std::uint64_t>(size)));
    CHECK(engine_->batch_write_item(*request));
  };
}

Operation EngineStore::inserting_transactions(int size) {
  auto request = std::make_shared<store::TransactWriteItemsRequest>();
  for (int i = 0; i < size; ++i)
    request->actions.emplace_back(
        store::TransactPut{.table_name = table_name, .item = make_mail(0), .condition = "attribute_not_exists(Id)"});
  return [this, size, request] {
    std::uint64_t number = next_.fetch_add(static_cast<std::uint64_t>(size));
    for (store::TransactAction& action : request->actions)
      become_mail(std::get<store::TransactPut>(action).item, number++);
    CHECK(engine_->transact_write_items(*request));
  };
}

Operation EngineStore::replacing(std::uint64_t count) {
  return [this, count, random = RandomNumbers(), request = put_request()]() mutable {
    become_mail(request->item, random.next() % count);
    request->item.find("UpdatedAt")->as<item::Number>() = item::Number(static_cast<std::int64_t>(next_++));
    CHECK(engine_->put_item(*request));
  };
}

Operation EngineStore::updating_conditionally(std::uint64_t count) {
  auto request = std::make_shared<store::UpdateItemRequest>();
  request->table_name = table_name;
  request->key = {{"Id", ""}};
  request->update = "SET #status = :ready, UpdatedAt = :now, Body = :body";
  request->condition = "#status = :ready AND UpdatedAt < :now";
  request->placeholders.names = expr::Names{{"#status", "Status"}};
  request->placeholders.values = {{":ready", "READY"}, {":now", 0}, {":body", ""}};
  return [this, count, random = RandomNumbers(), request]() mutable {
    const std::uint64_t number = random.next() % count;
    request->key.find("Id")->as<std::string>() = mail_id(number);
    item::Map& values = *request->placeholders.values;
    // Rises from one update of a mail to the next, whichever thread makes it.
    values.find(":now")->as<item::Number>() = item::Number(static_cast<std::int64_t>(next_++) + 4'000'000'000);
    values.find(":body")->as<std::string>() = mail_body(random.next());
    const auto answer = engine_->update_item(*request);
    // Of two threads that meet at one mail, the later number may come first; then the condition has done its work.
    CHECK(answer || answer.error().type == store::ErrorType::conditional_check_failed);
  };
}

Operation EngineStore::getting(std::uint64_t count) {
  auto request = std::make_shared<store::GetItemRequest>();
  request->table_name = table_name;
  request->key = {{"Id", ""}};
  return [this, count, random = RandomNumbers(), request]() mutable {
    request->key.find("Id")->as<std::string>() = mail_id(random.next() % count);
    const auto answer = engine_->get_item(*request);
    CHECK(answer && answer->item);
  };
}

Operation EngineStore::querying(std::uint64_t conversations) {
  auto request = std::make_shared<store::QueryRequest>();
  request->table_name = table_name;
  request->key_condition = "Conversation = :conversation";
  request->placeholders.values = {{":conversation", ""}};
  return [this, conversations, random = RandomNumbers(), request]() mutable {
    request->placeholders.values->find(":conversation")->as<std::string>() =
        conversation_id(random.next() % conversations);
    const auto answer = engine_->query(*request);
    CHECK(answer && answer->items.size() == mails_per_conversation);
  };
}

}  // namespace postino::bench
