// The store as a process has it that shares it with others: with indexes that lag behind, and with answers and requests
// that are lost on the way. It also counts what is asked of it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "outbox/store_ledger/store_ledger.h"
#include "store/forwarding_store.h"

namespace postino::outbox {

// For tests of one thread, but for the updates with an answer that comes later.
class SharedStore final : public store::ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  bool is_shared() const override { return true; }

  // The next transactions are done, and nothing is heard of that.
  void lose_answers(int count) { lost_answers_ = count; }
  // The next transaction is lost on its way. Before the caller hears of an error, others do something.
  void lose_request(std::function<void()> meanwhile) { meanwhile_ = std::move(meanwhile); }
  // The next reads of several items fail.
  void fail_reads(int count) { failing_reads_ = count; }

  // As if the contents of e-mails were so large that a transaction can have no more of them.
  void limit_contents(int most) { most_contents_ = most; }

  // From now on the work index shows what it shows now, whatever becomes of the items.
  void stop_index() {
    stale_.emplace();
    store::ScanRequest scan;
    scan.table_name = StoreTables().emails;
    scan.index_name = std::string(work_index);
    do {
      const auto page = inner().scan(scan);
      if (!page) return;
      stale_->insert(stale_->end(), page->items.begin(), page->items.end());
      scan.exclusive_start_key = page->last_evaluated_key;
    } while (scan.exclusive_start_key);
  }

  void resume_index() { stale_.reset(); }

  // Updates whose answers come later wait until so many have gathered; then for the next number.
  void gather_updates(std::deque<std::size_t> sizes) { sizes_ = std::move(sizes); }

  bool have_all_gathered() const { return sizes_.empty() && gathered_.empty(); }

  int requests() const { return requests_; }
  int queries(const std::string& part_of_condition) const {
    int count = 0;
    for (const std::string& condition : conditions_)
      count += condition.find(part_of_condition) != std::string::npos ? 1 : 0;
    return count;
  }
  const std::vector<std::string>& queues_read() const { return queues_read_; }
  void count_anew() {
    requests_ = 0;
    conditions_.clear();
    queues_read_.clear();
  }

  using ForwardingStore::transact_write_items;
  using ForwardingStore::update_item;

  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override {
    ++requests_;
    if (meanwhile_) {
      std::exchange(meanwhile_, {})();
      return store::refuse(store::ErrorType::internal_server_error, "the request was lost");
    }
    if (contents_in(request) > most_contents_)
      return store::refuse_invalid("Transaction payload size cannot exceed 4MB");
    auto answer = inner().transact_write_items(request);
    if (lost_answers_ == 0) return answer;
    --lost_answers_;
    return store::refuse(store::ErrorType::internal_server_error, "the answer was lost");
  }

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override {
    ++requests_;
    return inner().put_item(request);
  }
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override {
    ++requests_;
    return inner().update_item(request);
  }
  void update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) override {
    ++requests_;
    if (sizes_.empty()) return inner().update_item(request, std::move(done));
    gathered_.emplace_back(request, std::move(done));
    if (gathered_.size() < sizes_.front()) return;
    sizes_.pop_front();
    for (auto& [each, answer] : std::exchange(gathered_, {})) answer(inner().update_item(each));
  }
  store::Answer<store::GetItemResponse> get_item(const store::GetItemRequest& request) override {
    ++requests_;
    return inner().get_item(request);
  }
  store::Answer<store::BatchGetItemResponse> batch_get_item(const store::BatchGetItemRequest& request) override {
    ++requests_;
    if (failing_reads_ == 0) return inner().batch_get_item(request);
    --failing_reads_;
    return store::refuse(store::ErrorType::internal_server_error, "nothing can be read");
  }
  store::Answer<store::PageResponse> query(const store::QueryRequest& request) override {
    ++requests_;
    conditions_.push_back(request.key_condition->text());
    if (request.index_name != work_index) return inner().query(request);
    queues_read_.push_back(request.placeholders.values->find(":queue")->as<std::string>());
    return stale_ ? stale_page(request) : inner().query(request);
  }

 private:
  static int contents_in(const store::TransactWriteItemsRequest& request) {
    int count = 0;
    for (const store::TransactAction& action : request.actions)
      count += std::visit([](const auto& each) { return each.table_name == StoreTables().spool(); }, action) ? 1 : 0;
    return count;
  }

  store::PageResponse stale_page(const store::QueryRequest& request) const {
    store::PageResponse page;
    const item::AttributeValue* const from = request.placeholders.values->find(":from");
    if (from == nullptr || request.exclusive_start_key) return page;
    for (const item::Item& entry : *stale_)
      if (*entry.find("Queue") == *request.placeholders.values->find(":queue") &&
          entry.find("DueAt")->as<item::Number>() >= from->as<item::Number>())
        page.items.push_back(entry);
    return page;
  }

  int lost_answers_ = 0;
  int failing_reads_ = 0;
  int most_contents_ = 100;
  std::function<void()> meanwhile_;
  std::optional<std::vector<item::Item>> stale_;
  std::deque<std::size_t> sizes_;
  std::vector<std::pair<store::UpdateItemRequest, store::Completion<store::WriteItemResponse>>> gathered_;
  int requests_ = 0;
  std::vector<std::string> conditions_;
  std::vector<std::string> queues_read_;
};

// A process with a ledger on the store that others have, too; its clock may be wrong.
class OutboxProcess {
 public:
  OutboxProcess(store::Store& inner, const StoreTables& tables, const Policy& policy, base::TimePoint now,
                std::uint64_t seed, const store::Retry& retry, StoreLedgerOptions options = {})
      : clock_(now),
        random_(seed),
        store_(inner),
        ledger_(store_, tables, policy, clock_, random_, retry, nullptr, std::move(options)) {}

  SharedStore& store() { return store_; }
  StoreLedger& ledger() { return ledger_; }
  base::ManualClock& clock() { return clock_; }

 private:
  base::ManualClock clock_;
  base::SeededRandom random_;
  SharedStore store_;
  StoreLedger ledger_;
};

}  // namespace postino::outbox
