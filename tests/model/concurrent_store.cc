#include "concurrent_store.h"

#include <future>

#include "base/effort_testing.h"
#include "contents_check.h"
#include "request_builder.h"
#include "request_text.h"

namespace postino::model {

namespace {

template <class Response, class Request>
store::Answer<Response> send_either_way(Choice& choice, const Request& request,
                                        const std::function<store::Answer<Response>(const Request&)>& wait,
                                        const std::function<void(const Request&, store::Completion<Response>)>& tell) {
  if (choice.one_in(2)) return wait(request);
  // Shared, because the one who keeps it may still be at it when the one who waits has gone.
  const auto promise = std::make_shared<std::promise<store::Answer<Response>>>();
  tell(request, [promise](store::Answer<Response> answer) { promise->set_value(std::move(answer)); });
  return promise->get_future().get();
}

store::UpdateTableRequest index_update(const std::string& table, store::GlobalIndexUpdate update) {
  store::UpdateTableRequest request;
  request.table_name = table;
  request.global_index_updates.push_back(std::move(update));
  return request;
}

}  // namespace

ConcurrentStore::ConcurrentStore() { reopen(); }
ConcurrentStore::~ConcurrentStore() = default;

void ConcurrentStore::reopen() {
  engine_.reset();
  engine::Options options;
  options.directory = directory_.path() / "data";
  options.durability = GetParam().durability;
  options.background = GetParam().background;
  options.maintenance_interval = base::Milliseconds(1);
  options.memtable_bytes = 1 << 20;
  options.clock = clock_;
  auto opened = engine::Engine::open(std::move(options));
  CHECK(opened.has_value());
  engine_ = *std::move(opened);
}

int ConcurrentStore::scaled(int operations) { return std::max(1, operations * base::test_effort() / 25); }

void ConcurrentStore::create(ModelTable& table) {
  table.stream = store::StreamViewType::new_and_old_images;
  const auto created = engine_->create_table(create_request(table));
  ASSERT_TRUE(created) << text_of(created.error());
  tables_.push_back(table);
}

void ConcurrentStore::put(const std::string& table, const item::Item& item) {
  store::PutItemRequest request;
  request.table_name = table;
  request.item = item;
  const auto written = engine_->put_item(request);
  ASSERT_TRUE(written) << text_of(written.error());
}

std::optional<item::Item> ConcurrentStore::get(const std::string& table, const item::Key& key) {
  store::GetItemRequest request;
  request.table_name = table;
  request.key = key;
  request.consistent_read = true;
  const auto read = engine_->get_item(request);
  EXPECT_TRUE(read) << text_of(read.error());
  return read ? read->item : std::nullopt;
}

void ConcurrentStore::run(int threads, const std::function<void(int, Choice&)>& work) {
  std::atomic<bool> stop = false;
  std::thread changer;
  if (GetParam().new_indexes) changer = std::thread([&] { change_indexes(stop); });
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i)
    workers.emplace_back([&, i] {
      Choice choice(static_cast<std::uint64_t>(i) + 1);
      work(i, choice);
    });
  for (std::thread& worker : workers) worker.join();
  stop = true;
  if (changer.joinable()) changer.join();
}

void ConcurrentStore::change_indexes(const std::atomic<bool>& stop) {
  const ModelTable& table = tables_.front();
  std::string attribute = table.hash;
  for (const auto& [name, type] : table.types)
    if (name != table.hash && name != table.range) attribute = name;
  const ModelIndex index = plain_index("passing", attribute, table.hash);
  while (!stop) {
    store::UpdateTableRequest creation = index_update(table.name, store::CreateGlobalIndex{global_definition(index)});
    creation.attribute_definitions = definitions_of(table, index.keys());
    ASSERT_TRUE(engine_->update_table(creation));
    for (bool filling = true; filling;) {
      ASSERT_TRUE(GetParam().background || engine_->run_maintenance_once());
      const auto described = engine_->describe_table(table.name);
      ASSERT_TRUE(described);
      filling = false;
      for (const auto& shown : described->global_indexes) filling |= shown.status == store::IndexStatus::creating;
      if (filling) std::this_thread::yield();
    }
    ASSERT_TRUE(engine_->update_table(index_update(table.name, store::DeleteGlobalIndex{index.name})));
  }
  // One stays, so that it can be compared with the items at the end.
  store::UpdateTableRequest last = index_update(table.name, store::CreateGlobalIndex{global_definition(index)});
  last.attribute_definitions = definitions_of(table, index.keys());
  ASSERT_TRUE(engine_->update_table(last));
  tables_.front().indexes.push_back(index);
}

void ConcurrentStore::check_all(const std::string& when) {
  for (const ModelTable& table : tables_) {
    const std::string found = difference_of_contents(*engine_, table);
    EXPECT_TRUE(found.empty()) << table.name << " " << when << ": " << found;
  }
}

void ConcurrentStore::finish_maintenance() {
  for (bool more = true; more;) {
    const auto result = engine_->run_maintenance_once();
    ASSERT_TRUE(result) << text_of(result.error());
    more = *result;
  }
}

void ConcurrentStore::check_contents() {
  finish_maintenance();
  // A pass that was under way has not met what was written behind it.
  finish_maintenance();
  check_all("at the end");
  reopen();
  check_all("when opened again");
}

ModelTable plain_table(const std::string& name) {
  ModelTable table;
  table.name = name;
  table.hash = "pk";
  table.types["pk"] = item::Type::string;
  return table;
}

ModelIndex plain_index(const std::string& name, const std::string& hash, const std::string& range) {
  ModelIndex index;
  index.name = name;
  index.hash = {hash};
  if (!range.empty()) index.range = {range};
  return index;
}

store::Answer<store::WriteItemResponse> send(store::Store& store, Choice& choice,
                                             const store::UpdateItemRequest& request) {
  return send_either_way<store::WriteItemResponse, store::UpdateItemRequest>(
      choice, request, [&](const auto& sent) { return store.update_item(sent); },
      [&](const auto& sent, auto done) { store.update_item(sent, std::move(done)); });
}

store::Answer<store::WriteItemResponse> send(store::Store& store, Choice& choice,
                                             const store::PutItemRequest& request) {
  return send_either_way<store::WriteItemResponse, store::PutItemRequest>(
      choice, request, [&](const auto& sent) { return store.put_item(sent); },
      [&](const auto& sent, auto done) { store.put_item(sent, std::move(done)); });
}

store::Answer<store::WriteItemResponse> send(store::Store& store, Choice& choice,
                                             const store::DeleteItemRequest& request) {
  return send_either_way<store::WriteItemResponse, store::DeleteItemRequest>(
      choice, request, [&](const auto& sent) { return store.delete_item(sent); },
      [&](const auto& sent, auto done) { store.delete_item(sent, std::move(done)); });
}

store::Answer<store::BatchWriteItemResponse> send(store::Store& store, Choice& choice,
                                                  const store::BatchWriteItemRequest& request) {
  return send_either_way<store::BatchWriteItemResponse, store::BatchWriteItemRequest>(
      choice, request, [&](const auto& sent) { return store.batch_write_item(sent); },
      [&](const auto& sent, auto done) { store.batch_write_item(sent, std::move(done)); });
}

store::Answer<store::TransactWriteItemsResponse> send(store::Store& store, Choice& choice,
                                                      const store::TransactWriteItemsRequest& request) {
  return send_either_way<store::TransactWriteItemsResponse, store::TransactWriteItemsRequest>(
      choice, request, [&](const auto& sent) { return store.transact_write_items(sent); },
      [&](const auto& sent, auto done) { store.transact_write_items(sent, std::move(done)); });
}

}  // namespace postino::model
