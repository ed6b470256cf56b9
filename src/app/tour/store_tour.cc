#include "app/tour/store_tour.h"

#include <memory>
#include <string>

#include "app/tour/step_printer.h"
#include "base/temporary_directory.h"
#include "engine/engine.h"
#include "item/json_codec.h"

namespace postino::app {

namespace {

const std::string table_name = "Outbox";
const item::Key newest_state{{"Id", "mail-1"}, {"Status", "_META"}};

class StoreTour {
 public:
  StoreTour(std::filesystem::path directory, std::ostream& out) : directory_(std::move(directory)), printer_(out) {}

  store::Answer<void> run() {
    TRY_VOID(open());
    TRY_VOID(create_table());
    TRY_VOID(accept_once());
    TRY_VOID(move_on());
    TRY_VOID(look_by_status());
    TRY_VOID(read_changes());
    TRY_VOID(expire());
    TRY_VOID(reopen());
    printer_.end(
        "That was the store. `make test` tests what it promises, `make bench` measures what it costs.\n"
        "README.md shows a first program that uses it; docs/architecture.md describes how it is built.");
    return {};
  }

 private:
  store::Answer<void> open() {
    printer_.step("Open a store. It is a directory and this process; there is no server to install.");
    printer_.line("directory", directory_.string());
    return open_engine();
  }

  store::Answer<void> open_engine() {
    engine::Options options;
    options.directory = directory_;
    options.clock = clock_;
    options.background = false;  // the tour says when time passes
    TRY(engine_, engine::Engine::open(std::move(options)));
    return {};
  }

  store::Answer<void> create_table() {
    printer_.step("Create a table for e-mails: one item per state, an index by status, a time to live, a stream.");
    store::CreateTableRequest request;
    request.table_name = table_name;
    request.attribute_definitions = {{"Id", item::Type::string}, {"Status", item::Type::string}};
    request.key_schema = {{"Id", store::KeyRole::hash}, {"Status", store::KeyRole::range}};
    request.billing_mode = store::BillingMode::pay_per_request;
    request.global_indexes = {
        {{.name = "StatusIndex",
          .key_schema = {{"Status", store::KeyRole::hash}, {"Id", store::KeyRole::range}},
          .projection = {.type = store::ProjectionType::include, .non_key_attributes = {{"Attributes"}}}}}};
    request.stream = {.enabled = true, .view_type = store::StreamViewType::new_and_old_images};
    auto created = engine_->create_table(request);
    if (!created && created.error().type == store::ErrorType::resource_in_use) {
      printer_.line("found", "the table of an earlier tour, which is deleted");
      TRY_VOID(engine_->delete_table(table_name));
      created = engine_->create_table(request);
    }
    TRY(const store::TableDescription table, std::move(created));
    TRY_VOID(engine_->update_time_to_live(table_name, {.attribute_name = "TTL", .enabled = true}));
    printer_.line("CreateTable", "Outbox, by Id and Status; StatusIndex, by Status and Id; TTL");
    printer_.line("answer", table.arn);
    return {};
  }

  store::Answer<void> accept_once() {
    printer_.step("Accept an e-mail once: the condition allows the first put and refuses every repetition.");
    store::PutItemRequest request;
    request.table_name = table_name;
    request.item = newest_state;
    request.item.set("Attributes", item::Map{{"Latest", "ACCEPTED"}});
    request.condition = "attribute_not_exists(Id)";
    printer_.line("PutItem", request.item);
    printer_.line("if", request.condition->text());
    TRY_VOID(engine_->put_item(request));
    printer_.line("answer", "accepted, and on disk");
    const auto again = engine_->put_item(request);
    if (again) return store::refuse(store::ErrorType::internal_server_error, "the same e-mail was accepted twice");
    printer_.error("once more", again.error());
    return {};
  }

  store::Answer<void> move_on() {
    printer_.step("Record that it was sent: the newest state changes and the history grows, both or neither.");
    store::TransactUpdate update;
    update.table_name = table_name;
    update.key = newest_state;
    update.update = "SET Attributes.Latest = :sent";
    update.condition = "Attributes.Latest = :accepted";
    update.placeholders.values = {{":accepted", "ACCEPTED"}, {":sent", "SENT"}};
    store::TransactPut put;
    put.table_name = table_name;
    put.item = {{"Id", "mail-1"}, {"Status", "SENT"}, {"TTL", base::epoch_seconds(clock_->now()) + day_in_seconds}};
    printer_.line("Update", update.key);
    printer_.line("", update.update->text() + "   if   " + update.condition->text());
    printer_.line("Put", put.item);
    store::TransactWriteItemsRequest request;
    request.actions = {update, put};
    TRY_VOID(engine_->transact_write_items(request));
    printer_.line("answer", "both are written");
    const auto again = engine_->transact_write_items(request);
    if (again) return store::refuse(store::ErrorType::internal_server_error, "the e-mail was sent twice");
    printer_.error("once more", again.error());
    return {};
  }

  store::Answer<void> look_by_status() {
    printer_.step("Ask the index for e-mails by their newest state. It is written in the same commit as the item.");
    store::QueryRequest request;
    request.table_name = table_name;
    request.index_name = "StatusIndex";
    request.key_condition = "#status = :meta";
    request.filter = "Attributes.Latest = :sent";
    request.placeholders.names = expr::Names{{"#status", "Status"}};
    request.placeholders.values = {{":meta", "_META"}, {":sent", "SENT"}};
    printer_.line("Query", "StatusIndex where Status = \"_META\", filter " + request.filter->text());
    TRY(const store::PageResponse page, engine_->query(request));
    for (const item::Item& item : page.items) printer_.line("answer", item);
    return {};
  }

  store::Answer<void> read_changes() {
    printer_.step("Read the stream: every change, in the order of the commits, for a day.");
    return print_new_changes();
  }

  store::Answer<void> print_new_changes() {
    TRY(const auto subscription, engine_->subscribe(table_name, last_seen_));
    TRY(const auto records, subscription->next(store::max_records_per_read, base::Milliseconds(0)));
    for (const store::StreamRecord& record : records) {
      const char* const names[] = {"INSERT", "MODIFY", "REMOVE"};
      printer_.line(names[static_cast<std::size_t>(record.type)],
                    std::string(record.by_time_to_live ? "by the store itself: " : "") +
                        item::to_json(record.new_image ? *record.new_image : *record.old_image));
    }
    last_seen_ = subscription->place();
    return {};
  }

  store::Answer<void> expire() {
    printer_.step("Let a day pass (on the tour's own clock). Expired items are deleted, and the stream records it.");
    clock_->advance(std::chrono::seconds(day_in_seconds + 1));
    for (bool more = true; more;) {
      TRY(more, engine_->run_maintenance_once());
    }
    return print_new_changes();
  }

  store::Answer<void> reopen() {
    printer_.step("Close the store and open it again: everything that was acknowledged is there.");
    engine_.reset();
    TRY_VOID(open_engine());
    store::ScanRequest request;
    request.table_name = table_name;
    printer_.line("Scan", table_name);
    TRY(const store::PageResponse page, engine_->scan(request));
    for (const item::Item& item : page.items) printer_.line("answer", item);
    return {};
  }

  static constexpr std::int64_t day_in_seconds = 24 * 3600;

  std::filesystem::path directory_;
  StepPrinter printer_;
  std::shared_ptr<base::ManualClock> clock_ = std::make_shared<base::ManualClock>(base::SystemClock().now());
  std::unique_ptr<engine::Engine> engine_;
  std::optional<store::StreamPlace> last_seen_;
};

}  // namespace

store::Answer<void> run_store_tour(const std::filesystem::path& directory, std::ostream& out) {
  if (!directory.empty()) return StoreTour(directory, out).run();
  const base::TemporaryDirectory temporary;
  return StoreTour(temporary.path() / "store", out).run();
}

}  // namespace postino::app
