#include "exchange/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <utility>

#include "base/base64.h"
#include "base/temporary_directory.h"
#include "item/json_codec.h"
#include "json/document.h"

namespace postino::exchange {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr base::TimePoint exchange_start = base::TimePoint(seconds(1'767'323'045));  // 2026-01-02T03:04:05Z
const std::string stock_arn = "arn:aws:dynamodb:us-east-1:000000000000:table/stock";

class ItemsOfTest final : public store::ItemReader {
 public:
  explicit ItemsOfTest(std::vector<item::Item> items) : items_(std::move(items)) {}
  store::Answer<store::ItemPortion> next() override { return store::ItemPortion{std::move(items_), 42, true}; }

 private:
  std::vector<item::Item> items_;
};

class ChangesOfTest final : public store::ChangeReader {
 public:
  explicit ChangesOfTest(std::vector<store::ItemChange> changes) : changes_(std::move(changes)) {}
  store::Answer<store::ChangePortion> next() override { return store::ChangePortion{std::move(changes_), true}; }

 private:
  std::vector<store::ItemChange> changes_;
};

// One table with point-in-time recovery, and one that is imported.
class TransfersOfTest final : public store::TableTransfers {
 public:
  store::Answer<store::PastTable> past_table(const std::string& arn, std::optional<base::TimePoint> time) override {
    if (arn != stock_arn) return store::refuse(store::ErrorType::table_not_found, "Table not found: " + arn);
    return store::PastTable{"stock", arn, "id-of-stock", {"id"}, time.value_or(exchange_start)};
  }
  store::Answer<std::unique_ptr<store::ItemReader>> read_items(const store::PastTable&) override {
    if (is_gone) return store::refuse(store::ErrorType::table_not_found, "Table not found: stock");
    return std::unique_ptr<store::ItemReader>(std::make_unique<ItemsOfTest>(items));
  }
  store::Answer<std::unique_ptr<store::ChangeReader>> read_changes(const store::PastTable&, base::TimePoint) override {
    return std::unique_ptr<store::ChangeReader>(std::make_unique<ChangesOfTest>(changes));
  }
  store::Answer<store::TableDescription> begin_import(const store::CreateTableRequest& request,
                                                      const store::TransferRecord& record) override {
    kept[record.id] = record.text;
    store::TableDescription description;
    description.name = request.table_name;
    description.id = "id-of-" + request.table_name;
    return description;
  }
  store::Answer<store::ImportedItems> import_items(const std::string&, std::vector<item::Item> put) override {
    store::ImportedItems outcome;
    for (const item::Item& item : put) {
      if (!item.contains("id")) {
        outcome.refusals.emplace_back("no key");
        continue;
      }
      ++outcome.count;
      imported.push_back(item::to_json(item));
    }
    return outcome;
  }
  store::Answer<void> end_import(const std::string& table, bool keep, const store::TransferRecord& record) override {
    ended.push_back(table + (keep ? " stays" : " goes"));
    kept[record.id] = record.text;
    return {};
  }
  store::Answer<void> put_record(const store::TransferRecord& record) override {
    kept[record.id] = record.text;
    return {};
  }
  store::Answer<void> remove_record(const std::string& id) override {
    kept.erase(id);
    return {};
  }
  store::Answer<std::vector<store::TransferRecord>> records() override {
    std::vector<store::TransferRecord> all;
    for (const auto& [id, text] : kept) all.push_back({id, text});
    return all;
  }

  std::vector<item::Item> items;
  std::vector<store::ItemChange> changes;
  bool is_gone = false;
  std::vector<std::string> imported;
  std::vector<std::string> ended;
  std::map<std::string, std::string> kept;
};

class OneText final : public ByteSource {
 public:
  explicit OneText(std::string bytes) : bytes_(std::move(bytes)) {}
  base::Result<std::optional<std::string>> next() override { return std::exchange(bytes_, std::nullopt); }

 private:
  std::optional<std::string> bytes_;
};

class ExchangeTest : public testing::Test {
 protected:
  ExchangeTest() {
    fs::create_directory(directory_.path() / "lake");
    open();
  }

  void open() { exchange_ = Exchange::open(transfers_, buckets_, {}, clock_, random_).value(); }
  void run_all() {
    while (exchange_->run_once()) {
    }
  }
  static item::Item json(std::string_view text) { return item::parse_item(text).value(); }
  static ExportRequest export_request() {
    ExportRequest request;
    request.table_arn = stock_arn;
    request.bucket = "lake";
    request.prefix = "nightly";
    request.encryption = "AES256";
    return request;
  }
  ExportDescription run_export(const ExportRequest& request) {
    const auto begun = exchange_->export_table(request);
    EXPECT_TRUE(begun);
    if (!begun) return {};
    EXPECT_EQ(begun->status, TransferStatus::in_progress);
    run_all();
    return exchange_->describe_export(begun->arn).value();
  }
  static ImportRequest import_request(DataFormat format, Packing packing, const std::string& prefix) {
    ImportRequest request;
    request.bucket = "lake";
    request.prefix = prefix;
    request.format = format;
    request.packing = packing;
    request.table.table_name = "copy";
    request.table.attribute_definitions = {{"id", item::Type::string}};
    request.table_text = R"({"TableName":"copy"})";
    return request;
  }
  ImportDescription run_import(const ImportRequest& request) {
    const auto begun = exchange_->import_table(request);
    EXPECT_TRUE(begun);
    if (!begun) return {};
    run_all();
    return exchange_->describe_import(begun->arn).value();
  }
  std::string file(const std::string& name) const {
    std::ifstream in(directory_.path() / "lake" / name, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  void write_file(const std::string& name, const std::string& bytes) const {
    const fs::path path = directory_.path() / "lake" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
  // The names of the objects in the bucket.
  std::vector<std::string> objects() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(directory_.path() / "lake"))
      if (entry.is_regular_file())
        names.push_back(entry.path().lexically_relative(directory_.path() / "lake").string());
    std::ranges::sort(names);
    return names;
  }
  static std::string member(const std::string& text, std::string_view name) {
    json::Document document;
    json::FieldErrors errors;
    EXPECT_TRUE(document.parse(text, errors)) << text;
    const auto found = document.root().member(name);
    return found ? found->compact() : "none";
  }

  base::TemporaryDirectory directory_;
  base::ManualClock clock_{exchange_start};
  base::SeededRandom random_{1};
  TransfersOfTest transfers_;
  DirectoryBuckets buckets_{directory_.path(), clock_, random_};
  std::unique_ptr<Exchange> exchange_;
};

TEST_F(ExchangeTest, AnExportHasTheLayoutOfDynamoDb) {
  transfers_.items = {json(R"({"id":{"S":"a"},"count":{"N":"1"}})"), json(R"({"id":{"S":"b"}})")};
  const ExportDescription done = run_export(export_request());
  EXPECT_EQ(done.status, TransferStatus::completed);
  EXPECT_EQ(done.item_count, 2);
  EXPECT_EQ(done.bytes, 42);
  const std::string id = done.arn.substr(done.arn.rfind('/') + 1);
  EXPECT_EQ(done.arn, stock_arn + "/export/" + id);
  EXPECT_THAT(id, testing::MatchesRegex("[0-9]{17}-[0-9a-f]{8}"));
  const std::string folder = "nightly/AWSDynamoDB/" + id + "/";
  EXPECT_EQ(done.manifest, folder + "manifest-summary.json");
  const std::vector<std::string> names = objects();
  ASSERT_EQ(names.size(), 6U);
  EXPECT_EQ(names[0], folder + "_started");
  EXPECT_THAT(names[1], HasSubstr(folder + "data/"));
  EXPECT_THAT(names[1], testing::EndsWith(".json.gz"));
  for (const std::string name : {"manifest-files", "manifest-summary"})
    EXPECT_EQ(file(folder + name + ".checksum"), base::to_base64(md5(file(folder + name + ".json"))));
  const std::string files = file(folder + "manifest-files.json");
  const std::string line = files.substr(0, files.find('\n'));
  EXPECT_EQ(member(line, "dataFileS3Key"), "\"" + names[1] + "\"");
  EXPECT_EQ(member(line, "md5Checksum"), "\"" + base::to_base64(md5(file(names[1]))) + "\"");
  const std::string summary = file(folder + "manifest-summary.json");
  EXPECT_EQ(member(summary, "version"), "\"2020-06-30\"");
  EXPECT_EQ(member(summary, "exportTime"), "\"2026-01-02T03:04:05.000Z\"");
  EXPECT_EQ(member(summary, "itemCount"), "2");
  EXPECT_EQ(member(summary, "manifestFilesS3Key"), "\"" + folder + "manifest-files.json\"");
  EXPECT_EQ(member(summary, "outputFormat"), "\"DYNAMODB_JSON\"");
}

TEST_F(ExchangeTest, WhatIsExportedIsImportedAgain) {
  transfers_.items = {json(R"({"id":{"S":"a"},"n":{"NS":["1","2.5"]},"m":{"M":{"x y":{"B":"AAEC"}}}})"),
                      json(R"({"id":{"S":"b"},"t":{"S":"line\n\"quoted\""}})")};
  for (const DataFormat format : {DataFormat::dynamodb_json, DataFormat::ion}) {
    transfers_.imported.clear();
    ExportRequest request = export_request();
    request.format = format;
    const ExportDescription done = run_export(request);
    const std::string folder = done.manifest.substr(0, done.manifest.rfind('/') + 1);
    const ImportDescription imported = run_import(import_request(format, Packing::gzip, folder));
    EXPECT_EQ(imported.status, TransferStatus::completed);
    EXPECT_EQ(imported.imported_items, 2);
    EXPECT_EQ(imported.table_id, "id-of-copy");
    EXPECT_THAT(transfers_.imported,
                ElementsAre(item::to_json(transfers_.items[0]), item::to_json(transfers_.items[1])));
  }
  EXPECT_THAT(transfers_.ended, ElementsAre("copy stays", "copy stays"));
}

TEST_F(ExchangeTest, AnIncrementalExportHasWhatBecameOfItems) {
  transfers_.changes = {{json(R"({"id":{"S":"a"}})"), json(R"({"id":{"S":"a"},"v":{"N":"1"}})"),
                         json(R"({"id":{"S":"a"},"v":{"N":"2"}})"), exchange_start},
                        {json(R"({"id":{"S":"b"}})"), json(R"({"id":{"S":"b"}})"), std::nullopt, exchange_start}};
  ExportRequest request = export_request();
  request.is_incremental = true;
  request.from = exchange_start - hours(1);
  request.to = exchange_start;
  const ExportDescription done = run_export(request);
  ASSERT_EQ(done.status, TransferStatus::completed);
  const std::string files = file(done.manifest.substr(0, done.manifest.rfind('/')) + "/manifest-files.json");
  std::string data = member(files.substr(0, files.find('\n')), "dataFileS3Key");
  data = data.substr(1, data.size() - 2);
  EXPECT_THAT(data, HasSubstr("nightly/AWSDynamoDB/data/"));
  OneText packed(file(data));
  EXPECT_EQ(unpacked(packed, Packing::gzip)->next().value(),
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1767323045000000"}},"Keys":{"id":{"S":"a"}},)"
            R"("OldImage":{"id":{"S":"a"},"v":{"N":"1"}},"NewImage":{"id":{"S":"a"},"v":{"N":"2"}}})"
            "\n"
            R"({"Metadata":{"WriteTimestampMicros":{"N":"1767323045000000"}},"Keys":{"id":{"S":"b"}},)"
            R"("OldImage":{"id":{"S":"b"}}})"
            "\n");
  const std::string summary = file(done.manifest);
  EXPECT_EQ(member(summary, "version"), "\"2023-08-01\"");
  EXPECT_EQ(member(summary, "exportFromTime"), "\"2026-01-02T02:04:05.000Z\"");
  EXPECT_EQ(member(summary, "outputView"), "\"NEW_AND_OLD_IMAGES\"");
}

TEST_F(ExchangeTest, PeriodsHaveLimits) {
  ExportRequest request = export_request();
  request.is_incremental = true;
  request.to = exchange_start;
  for (const auto length : {seconds(14 * 60 + 59), seconds(24 * 3'600 + 1)}) {
    request.from = exchange_start - length;
    const auto refused = exchange_->export_table(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().type, store::ErrorType::invalid_export_time);
  }
}

TEST_F(ExchangeTest, ATokenBeginsOneTransfer) {
  ExportRequest request = export_request();
  request.token = "once";
  const std::string arn = exchange_->export_table(request)->arn;
  EXPECT_EQ(exchange_->export_table(request)->arn, arn);
  run_all();
  open();
  EXPECT_EQ(exchange_->export_table(request)->arn, arn);
  ExportRequest other = request;
  other.prefix = "other";
  const auto refused = exchange_->export_table(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().type, store::ErrorType::export_conflict);
  EXPECT_EQ(refused.error().message, "Export conflict: Duplicate request detected with conflicting parameters");
  clock_.advance(hours(8));
  EXPECT_NE(exchange_->export_table(request)->arn, arn);
}

TEST_F(ExchangeTest, WhatWasUnderWayGoesOnAfterAStart) {
  transfers_.items = {json(R"({"id":{"S":"a"}})")};
  const std::string arn = exchange_->export_table(export_request())->arn;
  open();
  EXPECT_EQ(exchange_->describe_export(arn)->status, TransferStatus::in_progress);
  EXPECT_TRUE(exchange_->run_once());
  EXPECT_FALSE(exchange_->run_once());
  open();
  EXPECT_EQ(exchange_->describe_export(arn)->status, TransferStatus::completed);
  EXPECT_FALSE(exchange_->run_once());
}

TEST_F(ExchangeTest, AnExportThatIsRunAgainLeavesTheSameObjects) {
  transfers_.items = {json(R"({"id":{"S":"a"}})")};
  exchange_->export_table(export_request()).value();
  const std::map<std::string, std::string> before = transfers_.kept;
  run_all();
  const std::vector<std::string> first = objects();
  transfers_.kept = before;  // as a crash before its end was written down leaves it
  open();
  run_all();
  EXPECT_EQ(objects(), first);
}

TEST_F(ExchangeTest, WhatCannotGoOnHasFailed) {
  transfers_.is_gone = true;
  const ExportDescription gone = run_export(export_request());
  EXPECT_EQ(gone.status, TransferStatus::failed);
  EXPECT_EQ(gone.failure->message, "Table not found: stock");
  EXPECT_THAT(gone.manifest, IsEmpty());
  ExportRequest elsewhere = export_request();
  elsewhere.bucket = "nowhere";
  EXPECT_EQ(run_export(elsewhere).failure->code, "S3NoSuchBucket");
}

TEST_F(ExchangeTest, NothingOutsideABucketIsReached) {
  fs::create_directory(directory_.path() / "secret");
  for (const std::string bucket : {"../secret", "..", "lake/..", "/etc", ""}) {
    ExportRequest request = export_request();
    request.bucket = bucket;
    const auto begun = exchange_->export_table(request);
    if (!begun) continue;
    run_all();
    EXPECT_EQ(exchange_->describe_export(begun->arn)->status, TransferStatus::failed) << bucket;
  }
  for (const std::string prefix : {"../secret", "a/../../secret", "/secret", "a//b"}) {
    ExportRequest request = export_request();
    request.prefix = prefix;
    EXPECT_FALSE(exchange_->export_table(request)) << prefix;
    EXPECT_FALSE(exchange_->import_table(import_request(DataFormat::ion, Packing::none, prefix))) << prefix;
  }
  EXPECT_TRUE(fs::is_empty(directory_.path() / "secret"));
}

TEST_F(ExchangeTest, ALinkInABucketLeadsNowhere) {
  fs::create_directory(directory_.path() / "secret");
  std::ofstream(directory_.path() / "secret" / "data.json") << R"({"Item":{"id":{"S":"secret"}}})";
  fs::create_directory(directory_.path() / "lake" / "in");
  fs::create_symlink(directory_.path() / "secret" / "data.json", directory_.path() / "lake" / "in" / "data.json");
  fs::create_directory_symlink(directory_.path() / "secret", directory_.path() / "lake" / "in" / "folder");
  for (const std::string prefix : {"in/", "in/folder/", "in/data.json"}) {
    EXPECT_EQ(run_import(import_request(DataFormat::dynamodb_json, Packing::none, prefix)).status,
              TransferStatus::failed)
        << prefix;
    EXPECT_THAT(transfers_.ended.back(), "copy goes");
    EXPECT_THAT(transfers_.imported, IsEmpty()) << prefix;
  }
}

TEST_F(ExchangeTest, GoodItemsAreKeptWhenOthersAreNot) {
  write_file("in/1.json", R"({"Item":{"id":{"S":"a"}}})"
                          "\nno json\n"
                          R"({"Item":{"other":{"S":"b"}}})"
                          "\n"
                          R"({"item":{}})"
                          "\n"
                          R"({"Item":{"id":{"S":"c"}}})");
  const ImportDescription done = run_import(import_request(DataFormat::dynamodb_json, Packing::none, "in/"));
  EXPECT_EQ(done.status, TransferStatus::failed);
  EXPECT_EQ(done.failure->code, "ItemValidationError");
  EXPECT_EQ(done.processed_items, 5);
  EXPECT_EQ(done.imported_items, 2);
  EXPECT_EQ(done.error_count, 3);
  EXPECT_THAT(transfers_.imported, ElementsAre(R"({"id":{"S":"a"}})", R"({"id":{"S":"c"}})"));
  EXPECT_THAT(transfers_.ended, ElementsAre("copy stays"));
}

TEST_F(ExchangeTest, AnImportIsBrokenOffAlsoWhereThereAreNoRecords) {
  write_file("in/1.json", std::string(1'000'000, '\n'));
  const std::string arn = exchange_->import_table(import_request(DataFormat::dynamodb_json, Packing::none, "in/"))->arn;
  exchange_->stop();
  exchange_->run_once();
  EXPECT_EQ(exchange_->describe_import(arn)->status, TransferStatus::in_progress) << "the next start goes on with it";
  EXPECT_THAT(transfers_.ended, IsEmpty());
}

TEST_F(ExchangeTest, ATableOfNothingGoes) {
  const ImportDescription done = run_import(import_request(DataFormat::csv, Packing::none, "in/"));
  EXPECT_EQ(done.failure->message, "There are no objects with data below the prefix");
  EXPECT_THAT(transfers_.ended, ElementsAre("copy goes"));
}

TEST_F(ExchangeTest, LinesOfCsvAreItems) {
  write_file("in/1.csv", "id,name\na,\"x, y\"\n");
  write_file("in/2.csv", "id,count\nb,7\n");
  EXPECT_EQ(run_import(import_request(DataFormat::csv, Packing::none, "in/")).status, TransferStatus::completed);
  EXPECT_THAT(transfers_.imported,
              ElementsAre(R"({"id":{"S":"a"},"name":{"S":"x, y"}})", R"({"count":{"S":"7"},"id":{"S":"b"}})"));
  transfers_.imported.clear();
  ImportRequest with_header = import_request(DataFormat::csv, Packing::none, "in/1");
  with_header.header = {"id", "name"};
  EXPECT_EQ(run_import(with_header).imported_items, 2);  // the first line is data then
  EXPECT_THAT(transfers_.imported,
              ElementsAre(R"({"id":{"S":"id"},"name":{"S":"name"}})", R"({"id":{"S":"a"},"name":{"S":"x, y"}})"));
}

TEST_F(ExchangeTest, TransfersAreListedInPages) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(exchange_->export_table(export_request()));
    clock_.advance(seconds(1));
  }
  ListTransfersRequest request;
  request.most = 2;
  const auto first = exchange_->list_exports(request).value();
  EXPECT_EQ(first.transfers.size(), 2U);
  ASSERT_TRUE(first.next);
  request.after = *first.next;
  const auto rest = exchange_->list_exports(request).value();
  EXPECT_EQ(rest.transfers.size(), 1U);
  EXPECT_FALSE(rest.next);
  request = {};
  request.table_arn = "arn:other";
  EXPECT_THAT(exchange_->list_exports(request)->transfers, IsEmpty());
}

TEST_F(ExchangeTest, ThereIsALimitAndOldOnesAreForgotten) {
  std::string first;
  for (int i = 0; i < 50; ++i) {
    const auto begun = exchange_->export_table(export_request());
    ASSERT_TRUE(begun);
    if (first.empty()) first = begun->arn;
  }
  const auto refused = exchange_->export_table(export_request());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().type, store::ErrorType::limit_exceeded);
  run_all();
  clock_.advance(std::chrono::days(90));
  ASSERT_TRUE(exchange_->export_table(export_request()));
  EXPECT_EQ(exchange_->describe_export(first).error().message, "Export not found: " + first);
  EXPECT_EQ(transfers_.kept.size(), 1U);
}

}  // namespace
}  // namespace postino::exchange
