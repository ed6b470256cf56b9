// Runs random operations against the store and the model, and stops at the first difference.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/temporary_directory.h"
#include "comparison.h"
#include "engine/engine.h"
#include "engine/memory_directory_testing.h"
#include "operation_generator.h"
#include "request_builder.h"

namespace postino::model {

struct RunSettings {
  std::uint64_t seed = 0;
  int operations = 1000;
  Vocabulary vocabulary;
  engine::Durability durability = engine::Durability::relaxed;
  int table_count = 2;
  // What stands before the embedded store and gets all requests; none: they go to it.
  std::function<std::unique_ptr<store::Store>(engine::Engine& engine)> front = {};
};

class Runner {
 public:
  explicit Runner(const RunSettings& settings);
  ~Runner();

  // What differed, with everything needed to see it again; empty when nothing did.
  std::string run();

 private:
  using Operation = void (Runner::*)();

  // Single items, batches and transactions.
  void write_item();
  void get_item();
  void write_batch();
  void get_batch();
  void write_transaction();
  void get_transaction();
  void repeat_transaction();

  // Queries and scans.
  void read_pages();
  void scan_segments();
  std::optional<std::vector<Row>> read_order(const PageOperation& operation);
  store::Answer<store::PageResponse> read_page(const PageOperation& operation);
  bool follow_pages(PageOperation operation, const std::vector<Row>& ordered);

  // Tables, time and everything that happens by itself.
  void create_table(const std::string& name);
  void replace_table();
  void add_index();
  void remove_index();
  void switch_time_to_live();
  void switch_stream();
  void advance_clock();
  void maintain_once();
  void maintain_until_done();
  void reopen();
  void learn_from_maintenance();

  // Looking at the whole.
  void describe_table();
  void follow_stream();
  void check_streams();
  void check_everything();
  void check_table(const ModelTable& table);
  void drain(const ModelTable& table);
  void check_stream(const ModelTable& table, const std::string& arn);

  bool one_step();
  // Says what is being done, for the report.
  void announce(std::string text);
  // Ends the run when there is a difference.
  void expect_same(const std::string& difference);
  // Compares the outcomes; true when there is an answer on both sides.
  template <class T, class Response>
  bool both_succeed(const Expected<T>& expected, const store::Answer<Response>& actual) {
    expect_same(difference_of_outcome(expected, actual));
    return expected && actual;
  }
  void open();
  // All requests go to it.
  store::Store& store() { return front_ ? *front_ : *engine_; }
  template <class Request>
  store::Answer<store::WriteItemResponse> send(
      const Request& request, store::Answer<store::WriteItemResponse> (store::Store::*wait)(const Request&),
      void (store::Store::*tell)(const Request&, store::Completion<store::WriteItemResponse>));

  // What follows a stream inside the process, and how many of the model's records it has shown.
  struct Follower {
    std::unique_ptr<store::Subscription> subscription;
    std::size_t seen = 0;
    std::optional<store::StreamPlace> place;
  };

  RunSettings settings_;
  base::TemporaryDirectory directory_{engine::memory_directory()};
  std::shared_ptr<base::ManualClock> clock_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<store::Store> front_;
  Choice choice_;
  ModelStore model_;
  OperationGenerator generator_;
  RequestBuilder builder_;
  std::map<std::string, Follower> followers_;
  std::vector<std::pair<TransactionOperation, store::TransactWriteItemsRequest>> sent_with_token_;
  int index_number_ = 0;
  int operation_number_ = 0;
  std::deque<std::string> last_operations_;
  std::string failure_;
};

}  // namespace postino::model
