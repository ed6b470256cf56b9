#include "messages/queue_table.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "item/size.h"
#include "store/count_mender.h"
#include "store/table_setup.h"

namespace postino::messages {

namespace {

constexpr std::size_t counts_at_most = 2;    // of queues that one move can touch
constexpr std::size_t most_bytes = 3 << 20;  // of a transaction, which may have 4 MB; the rest is for names

std::size_t actions_of(const QueueMove& move) { return (move.from ? 1 : 0) + (move.to ? 1 : 0); }
std::size_t bytes_of(const QueueMove& move) { return move.to ? move.to->content.size() + 1'024 : 1'024; }

bool condition_failed(const store::Error& error, std::size_t action) {
  return error.details != nullptr && action < error.details->reasons.size() &&
         error.details->reasons[action].code == store::cancellation_code(store::ErrorType::conditional_check_failed);
}

}  // namespace

// Some moves that are written together.
class QueueTable::Transaction {
 public:
  explicit Transaction(const std::string& table) : table_(table) {}

  void add(const QueueMove& move) {
    first_action_.push_back(request_.actions.size());
    if (move.from) {
      request_.actions.emplace_back(removal(*move.from));
      --changes_[move.from->queue][static_cast<std::size_t>(move.from->shelf)];
    }
    if (move.to) {
      store::TransactPut put;
      put.table_name = table_;
      put.item = to_item(*move.to);
      request_.actions.emplace_back(std::move(put));
      ++changes_[move.to->queue][static_cast<std::size_t>(move.to->shelf)];
    }
  }

  // Each slice of the counts is one item: those who write at the same time should not have the same one.
  const store::TransactWriteItemsRequest& finish(base::Random& random) {
    for (const auto& [queue, change] : changes_) {
      store::TransactUpdate update;
      update.table_name = table_;
      update.key = {{"Shelf", counts_name(queue)}, {"Position", std::to_string(random.next() % count_slices)}};
      update.update = store::UpdateExpression("ADD Ready :ready, Later :later, Held :held");
      update.placeholders.values = item::Map{{":ready", change[0]}, {":later", change[1]}, {":held", change[2]}};
      request_.actions.emplace_back(std::move(update));
    }
    return request_;
  }

  bool was_gone(const store::Error& error, std::size_t move) const {
    return condition_failed(error, first_action_[move]);
  }

 private:
  store::TransactDelete removal(const StoredMessage& message) const {
    store::TransactDelete removal;
    removal.table_name = table_;
    removal.key = key_of(message);
    removal.condition = "attribute_exists(Shelf)";
    // What has no owner is held by none of our receivers: another program has put it there.
    if (message.shelf == Shelf::held && !message.owner.empty()) {
      removal.condition = "LeaseOwner = :owner";
      removal.placeholders.values = item::Map{{":owner", message.owner}};
    }
    return removal;
  }

  const std::string& table_;
  store::TransactWriteItemsRequest request_;
  std::vector<std::size_t> first_action_;  // of each move
  std::map<std::string, Counts> changes_;  // by queue
};

store::Answer<void> QueueTable::prepare() {
  if (prepared_) return {};
  const std::lock_guard lock(preparing_);
  if (prepared_) return {};
  const store::TableSetup wanted = setup(name_);
  TRY_VOID(store::prepare_table(store_, wanted.request, wanted.expiry));
  prepared_ = true;
  return {};
}

store::TableSetup QueueTable::setup(const std::string& name) {
  using item::Type;
  return {store::table_request(name, {{"Shelf", Type::string}, {"Position", Type::string}}), ""};
}

store::Answer<std::vector<StoredMessage>> QueueTable::read(Shelf shelf, const std::string& queue,
                                                           const std::string& from, const std::string& until,
                                                           int limit) {
  if (!until.empty() && from > until) return std::vector<StoredMessage>();
  store::QueryRequest query;
  query.table_name = name_;
  query.key_condition =
      until.empty() ? "Shelf = :shelf AND #position >= :from" : "Shelf = :shelf AND #position BETWEEN :from AND :until";
  query.placeholders.names = expr::Names{{"#position", "Position"}};
  query.placeholders.values = item::Map{{":shelf", shelf_name(shelf, queue)}, {":from", from}};
  if (!until.empty()) query.placeholders.values->set(":until", until);
  query.limit = limit;
  query.consistent_read = true;
  TRY(const store::PageResponse page, retry_([&] { return store_.query(query); }));
  std::vector<StoredMessage> messages;
  for (const item::Item& item : page.items) messages.push_back(stored_message(shelf, queue, item));
  return messages;
}

std::size_t QueueTable::moves_at_once(std::size_t actions_each) {
  return (store::max_transaction_actions - counts_at_most) / actions_each;
}

std::size_t QueueTable::move_some(const std::vector<QueueMove>& moves, std::size_t first, MoveReport& report) {
  std::vector<std::size_t> group;
  std::size_t end = first, actions = counts_at_most, bytes = 0;
  for (; end < moves.size(); ++end) {
    actions += actions_of(moves[end]);
    bytes += bytes_of(moves[end]);
    if (!group.empty() && (actions > store::max_transaction_actions || bytes > most_bytes)) break;
    group.push_back(end);
  }
  store::CountMender mender(store_, name_, {std::begin(count_names), std::end(count_names)});
  // Those that another caller has moved meanwhile must not keep the others.
  while (!group.empty()) {
    Transaction transaction(name_);
    for (const std::size_t i : group) transaction.add(moves[i]);
    const store::TransactWriteItemsRequest& request = transaction.finish(random_);
    const auto answer = retry_.transact(store_, request);
    if (answer) {
      for (const std::size_t i : group) report.done[i] = true;
      break;
    }
    std::vector<std::size_t> rest;
    for (std::size_t place = 0; place < group.size(); ++place)
      if (!transaction.was_gone(answer.error(), place)) rest.push_back(group[place]);
    if (rest.size() == group.size() && mender.mend(request, answer.error())) continue;
    if (rest.size() == group.size()) {
      report.trouble = answer.error();
      break;
    }
    group = std::move(rest);
  }
  return end;
}

MoveReport QueueTable::move(const std::vector<QueueMove>& moves) {
  MoveReport report;
  report.done.resize(moves.size(), false);
  for (std::size_t next = 0; next < moves.size() && !report.trouble;) next = move_some(moves, next, report);
  return report;
}

}  // namespace postino::messages
