// What other programs write into the table of e-mails through DynamoDB's API. They know the records alone, and nothing
// of queues, listings, counts and versions: the ledger adopts what they have written (store_adoption.cc).
//
// Before such a write there is a mark in the table, a record with the id of its e-mail, which stays until the ledger
// has looked at the e-mail. So nothing is overlooked when the server ends in between, and a table that
// Postino alone writes costs nothing more.
//
// On a shared store only the process that makes a write knows when it ends. It looks at the e-mail then, by its id: the
// index may not have the mark yet. To other processes the mark is due a minute later, when the write has ended or will
// never be made.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "store/forwarding_store.h"

namespace postino::outbox {

// Which of these writes are under way, and whether there were any. Safe to use from any thread.
class ForeignWriteLog {
 public:
  // There may be marks from before this process: the first look is due.
  ForeignWriteLog() = default;

  void begin(const std::vector<std::string>& ids);
  // They are written, or were refused. With the token of their marks, take_ended() tells of them.
  void end(const std::vector<std::string>& ids, const std::string& token = "");
  bool is_under_way(const std::string& id) const;

  // For a shared store: an e-mail whose write has ended, and the token of its mark.
  struct Ended {
    std::string id;
    std::string token;
  };
  // Since the last call. When there are very many, the oldest are left to their marks.
  std::vector<Ended> take_ended();

  // Is a look at the marks due? True once after each end of a write.
  bool take_news() { return is_news_.load(std::memory_order_relaxed) && is_news_.exchange(false); }
  void be_asked_again() { is_news_ = true; }
  // Calls the listener, as at the end of a write.
  void tell();

  // Called after each end, by the thread that tells of it; must not wait. An empty one ends that: it is not called any
  // more when this returns.
  void listen(std::function<void()> listener);

 private:
  mutable std::mutex mutex_;
  std::multiset<std::string> under_way_;
  std::deque<Ended> ended_;
  std::mutex listener_mutex_;
  std::function<void()> listener_;
  std::atomic<bool> is_news_ = true;
};

// The mark of an e-mail: where marks wait, and what they look like. `token` is different for each write.
inline constexpr std::string_view mark_status = "_ADOPT";
inline constexpr int mark_shards = 4;  // few are written: their number is no setting
std::string mark_queue(int shard);
// Where marks wait beside records that cannot be read, for the next process.
std::string unreadable_queue(int shard);
item::Item mark_of(const std::string& id, base::TimePoint due, const std::string& token);

// The note that all e-mails were looked at. In the table of counts, where no tenant is called so. A recount
// removes it, and the look is repeated.
item::Key look_through_key();

// A store as other programs get it: everything goes to `inner`, and writes to the table of e-mails are marked and told
// to the log.
class ForeignWrites final : public store::ForwardingStore {
 public:
  enum class Watch {
    marks,  // for a ledger in this process
    // No ledger uses the table now. The next one looks at all e-mails: marks would be left in a table that may be no
    // outbox's at all.
    note,
  };
  // All must outlive it, and every write that it has passed on.
  ForeignWrites(store::Store& inner, std::string emails_table, const base::Clock& clock, base::Random& random,
                Watch watch = Watch::marks)
      : ForwardingStore(inner), table_(std::move(emails_table)), clock_(clock), random_(random), watch_(watch) {}

  const std::shared_ptr<ForeignWriteLog>& log() const { return log_; }

  store::Answer<store::WriteItemResponse> put_item(const store::PutItemRequest& request) override;
  store::Answer<store::WriteItemResponse> update_item(const store::UpdateItemRequest& request) override;
  store::Answer<store::WriteItemResponse> delete_item(const store::DeleteItemRequest& request) override;
  store::Answer<store::BatchWriteItemResponse> batch_write_item(const store::BatchWriteItemRequest& request) override;
  store::Answer<store::TransactWriteItemsResponse> transact_write_items(
      const store::TransactWriteItemsRequest& request) override;
  void put_item(const store::PutItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void update_item(const store::UpdateItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void delete_item(const store::DeleteItemRequest& request, store::Completion<store::WriteItemResponse> done) override;
  void batch_write_item(const store::BatchWriteItemRequest& request,
                        store::Completion<store::BatchWriteItemResponse> done) override;
  void transact_write_items(const store::TransactWriteItemsRequest& request,
                            store::Completion<store::TransactWriteItemsResponse> done) override;

 private:
  using Ids = std::vector<std::string>;
  // The e-mails that a request writes to, each once.
  Ids ids_in(const store::PutItemRequest& request) const;
  Ids ids_in(const store::UpdateItemRequest& request) const;
  Ids ids_in(const store::DeleteItemRequest& request) const;
  Ids ids_in(const store::BatchWriteItemRequest& request) const;
  Ids ids_in(const store::TransactWriteItemsRequest& request) const;
  void add_id(const std::string& table, const item::Map& key, Ids& ids) const;

  store::Answer<void> prepare(const Ids& ids, const std::string& token);
  store::Answer<void> mark(const Ids& ids, const std::string& token);
  // Is the end of a write to be told with the token of its mark?
  bool tells_tokens() { return inner().is_shared() && watch_ == Watch::marks; }
  store::Answer<void> add_counted(std::vector<item::Item>& marks);
  store::Answer<void> remove_note();
  template <class Response, class Request>
  store::Answer<Response> write(const Request& request,
                                store::Answer<Response> (store::Store::*function)(const Request&));
  template <class Response, class Request>
  void write(const Request& request, store::Completion<Response> done,
             void (store::Store::*function)(const Request&, store::Completion<Response>));

  const std::string table_;
  const base::Clock& clock_;
  base::Random& random_;
  const Watch watch_;
  std::atomic<bool> is_note_gone_ = false;
  const std::shared_ptr<ForeignWriteLog> log_ = std::make_shared<ForeignWriteLog>();
};

}  // namespace postino::outbox
