// E-mails of other programs that write to the same table.
//
// Before another program writes through DynamoDB's API, there is a mark for the e-mail (foreign_writes.h). Who looks
// for work adopts first what is marked: it gets what only Postino knows, in one commit that also takes the mark away.
// What was written while no server was running, by an earlier version or before the table was Postino's, is found by
// going through all e-mails once.
#include <algorithm>
#include <map>

#include "base/log.h"
#include "item/attribute_text.h"
#include "outbox/email/description.h"
#include "outbox/store_ledger/email_item.h"
#include "outbox/store_ledger/foreign_email.h"
#include "outbox/store_ledger/store_counts.h"
#include "outbox/store_ledger/work_queue.h"

namespace postino::outbox {

namespace {

item::Key mark_key(const std::string& id) { return {{"Id", id}, {"Status", mark_status}}; }

// Another write may have begun since the mark was read. One that another program has made may have no token.
template <class Action>
void expect_same_mark(const item::Item& mark, Action& action) {
  const item::AttributeValue* const token = mark.find("Token");
  action.condition = token != nullptr ? "#token = :token" : "attribute_not_exists(#token)";
  action.placeholders.names = expr::Names{{"#token", "Token"}};
  if (token != nullptr) action.placeholders.values = item::Map{{":token", *token}};
}

// Why a transaction can never be carried out, whatever others do meanwhile.
std::optional<std::string> broken_rule(const store::Error& cancelled) {
  if (cancelled.details)
    for (const store::CancellationReason& reason : cancelled.details->reasons)
      if (reason.code == store::cancellation_code(store::ErrorType::validation)) return reason.message;
  return std::nullopt;
}

}  // namespace

base::Result<EmailRecords> StoreLedger::read_records(const std::string& id) {
  store::QueryRequest query;
  query.table_name = tables_.emails;
  query.key_condition = "Id = :id";
  query.placeholders.values = item::Map{{":id", id}};
  query.consistent_read = true;
  EmailRecords records;
  std::size_t pages = 0;  // of a megabyte
  do {
    if (++pages > most_history_bytes >> 20 || records.lines.size() > most_history_lines)
      return base::fail(base::ErrorCode::corrupt, "the history of e-mail " + id + " has more than " +
                                                      std::to_string(most_history_lines) + " lines or " +
                                                      std::to_string(most_history_bytes >> 20) +
                                                      " MB, and cannot be taken over from another program");
    auto page = retry_([&] { return store_.query(query); });
    if (!page) return base::propagate(store::as_error(page.error()));
    for (item::Item& item : page->items) {
      const std::string& status = item.find("Status")->as<std::string>();
      if (status == meta_status)
        records.meta = std::move(item);
      else if (status == mark_status)
        records.mark = std::move(item);
      else
        records.lines.push_back(std::move(item));
    }
    query.exclusive_start_key = page->last_evaluated_key;
  } while (query.exclusive_start_key);
  return records;
}

// nullopt when the payload cannot be read now. What is wrong with one that can is for intake to say.
std::optional<event::Adopted> StoreLedger::read_foreign_payload(const Email& email, bool is_new) {
  constexpr std::size_t parsing_factor = 4;  // its text, the parser's copy, its strings and the payload
  event::Adopted event;
  if (!is_new && !email.recipients.empty()) return event;
  MessageRoom room(options_.memory);
  bool is_admitted = true;
  const auto text = read_contents(spool(), SpoolKind::payload, email.id, email.payload_path, [&](std::size_t bytes) {
    is_admitted = room.try_take(parsing_factor * bytes);
    return is_admitted;
  });
  if (!is_admitted) return std::nullopt;
  using enum base::ErrorCode;
  if (!text && text.error().code != not_found && text.error().code != corrupt) {
    base::log_warning("outbox", "the payload of an e-mail of another program cannot be read",
                      {{"id", email.id}, {"error", text.error().message}});
    return std::nullopt;
  }
  if (text)
    if (const auto payload = parse_payload(*text)) event.description = describe(*payload);
  return event;
}

// Adds what makes the e-mail one of the ledger's. False when its payload cannot be read now.
base::Result<bool> StoreLedger::add_adoption(const EmailRecords& records, const Email& read,
                                             store::TransactWriteItemsRequest& request) {
  const item::Item& meta = *records.meta;
  const bool is_new = !meta.contains("Version");
  auto event = read_foreign_payload(read, is_new);
  if (!event) return false;
  TRY(AdoptedEmail after,
      adopted(records, read, *std::move(event), policy_, clock_.now(), shards_.most(), !is_shared()));
  store::TransactPut put;
  put.table_name = tables_.emails;
  put.condition = store::ConditionExpression(is_new ? "Attributes = :seen AND attribute_not_exists(Version)"
                                                    : "Attributes = :seen AND Version = :version");
  put.placeholders.values = item::Map{{":seen", *meta.find("Attributes")}};
  if (!is_new) put.placeholders.values->set(":version", *meta.find("Version"));
  put.item = std::move(after.meta);
  request.actions.emplace_back(std::move(put));
  if (is_shared() && (is_finished(after.email) || meta.contains("TTL"))) add_lives(after, request);
  add_lines(std::move(after.lines), request);
  CountChanges counts;
  const auto counted = counted_state(meta);
  if (counted && meta.contains("CreatedAt")) {
    Email before = read;
    before.state = *counted;
    counts.left(before);
  }
  if (const auto lost = lost_email(records)) counts.left(*lost);
  counts.entered(after.email);
  add_counts(counts, request);
  return true;
}

// The other program has finished the e-mail, or begun it again: that counts for Postino's own records, too.
void StoreLedger::add_lives(const AdoptedEmail& after, store::TransactWriteItemsRequest& request) const {
  for (store::TransactUpdate& update : lives_.in_commit(after.email, life_of(after.email))) {
    const bool is_rewritten =
        update.table_name == tables_.emails && std::ranges::any_of(after.lines, [&](const item::Item& line) {
          return *line.find("Status") == *update.key.find("Status");
        });
    if (!is_rewritten) request.actions.emplace_back(std::move(update));
  }
}

// Adds what is due when nothing has to be adopted: lines that come late, and the end of an e-mail that is gone.
void StoreLedger::add_remainder(const EmailRecords& records, const std::optional<Email>& email,
                                store::TransactWriteItemsRequest& request) const {
  if (email) add_lines(late_lines(records, *email, life_of(*email)), request);
  if (const auto lost = lost_email(records)) {
    CountChanges counts;
    counts.left(*lost);
    add_counts(counts, request);
  }
}

void StoreLedger::add_lines(std::vector<item::Item> lines, store::TransactWriteItemsRequest& request) const {
  for (item::Item& line : lines) {
    store::TransactPut put;
    put.table_name = tables_.emails;
    put.item = std::move(line);
    request.actions.emplace_back(std::move(put));
  }
}

// A mark that stays beside a record that cannot be read: the next process finds it again.
void StoreLedger::add_lasting_mark(const std::string& id, const EmailRecords& records,
                                   store::TransactWriteItemsRequest& request) {
  const std::string queue = unreadable_queue(shard_of(id, mark_shards));
  if (records.mark && item::attribute_text(*records.mark, "Queue") == queue) return;
  store::TransactPut put;
  put.table_name = tables_.emails;
  put.item = mark_of(id, clock_.now(), base::make_uuid(random_));
  put.item.set("Queue", queue);
  if (records.mark) keep_counted(*records.mark, put.item);
  if (records.mark)
    expect_same_mark(*records.mark, put);
  else
    put.condition = "attribute_not_exists(Id)";
  request.actions.emplace_back(std::move(put));
}

// What to write; nothing when the e-mail must wait.
base::Result<std::optional<store::TransactWriteItemsRequest>> StoreLedger::adoption_of(const std::string& id,
                                                                                       const EmailRecords& records) {
  store::TransactWriteItemsRequest request;
  std::optional<Email> email;
  if (records.meta) {
    const bool is_foreign = needs_adoption(*records.meta);
    auto read = is_foreign ? foreign_email_of(*records.meta, clock_.now()) : email_of(*records.meta);
    if (!read) {
      malformed_.note(id, read.error());
      add_lasting_mark(id, records, request);
      return request;
    }
    if (is_foreign) {
      TRY(const bool now, add_adoption(records, *read, request));
      if (!now) return std::nullopt;
    } else {
      email = *std::move(read);
    }
  }
  malformed_.forget(id);
  if (request.actions.empty()) add_remainder(records, email, request);
  if (records.mark) {
    store::TransactDelete removal;
    removal.table_name = tables_.emails;
    removal.key = mark_key(id);
    expect_same_mark(*records.mark, removal);
    request.actions.emplace_back(std::move(removal));
  }
  return request;
}

// Is the write over, or will never be made? Of the one with this token it is known.
bool StoreLedger::is_mark_due(const item::Item& mark, const std::string& ended) const {
  if (!ended.empty() && item::attribute_text(mark, "Token") == ended) return true;
  const item::AttributeValue* const value = mark.find("DueAt");
  const item::Number* const due = value != nullptr ? value->get_if<item::Number>() : nullptr;
  return !is_shared() || due == nullptr || *due <= item::Number(base::epoch_milliseconds(clock_.now()));
}

base::Result<bool> StoreLedger::adopt(const std::string& id, const std::string& ended) {
  constexpr int rounds = 8;  // it may be moved between the look and the write
  store::CountMender counts = mender_of_counts(store_, tables_.counts());
  for (int round = 0; round < rounds; ++round) {
    const bool under_way = options_.foreign_writes && options_.foreign_writes->is_under_way(id);
    if (under_way) return true;  // the end of the write is told of
    TRY(EmailRecords records, read_records(id));
    if (records.mark && !is_mark_due(*records.mark, ended)) {
      // Another process makes a write: what was written before is adopted, and the mark stays for what comes.
      if (!records.meta || !needs_adoption(*records.meta)) return true;
      if (const auto read = foreign_email_of(*records.meta, clock_.now()); !read) {
        malformed_.note(id, read.error());
        return true;
      }
      records.mark.reset();
    }
    TRY(const auto request, adoption_of(id, records));
    if (!request) return false;
    if (request->actions.empty()) return true;
    const auto answer = retry_([&] { return store_.transact_write_items(*request); });
    if (answer) return true;
    if (counts.mend(*request, answer.error())) continue;
    if (answer.error().type != store::ErrorType::transaction_canceled)
      return base::propagate(store::as_error(answer.error()));
    if (const auto fault = broken_rule(answer.error())) return base::fail(base::ErrorCode::corrupt, *fault);
  }
  return false;
}

// One that breaks a rule of the store is left alone, and told of. False when it is to be tried again.
base::Result<bool> StoreLedger::adopt_or_leave(const std::string& id, const std::string& ended) {
  auto done = adopt(id, ended);
  using enum base::ErrorCode;
  if (done || (done.error().code != invalid && done.error().code != corrupt)) return done;
  malformed_.note(id, done.error());
  return false;
}

// Goes on where the last call has stopped, and looks at so many marks at most: claims must not wait for all of them.
// True when it has come to the end.
base::Result<bool> StoreLedger::adopt_some(int limit) {
  // Those that the process before this one could not read come after the others, once.
  const int queues = are_unreadable_found_ ? mark_shards : 2 * mark_shards;
  while (adoption_queue_ < queues) {
    if (limit <= 0) return false;
    const int wanted = std::min(limit, static_cast<int>(max_ledger_batch));
    const std::string queue =
        adoption_queue_ < mark_shards ? mark_queue(adoption_queue_) : unreadable_queue(adoption_queue_ - mark_shards);
    auto entries = retry_([&] { return read_queue(queue, base::TimePoint(), wanted, adopted_up_to_); });
    if (!entries) return base::propagate(store::as_error(entries.error()));
    if (is_shared()) std::erase_if(*entries, [now = clock_.now()](const WorkEntry& each) { return each.due > now; });
    for (const WorkEntry& entry : *entries) {
      TRY(const bool done, adopt_or_leave(entry.id));
      if (!done) is_adoption_left_ = true;
      adopted_up_to_ = entry.key;
    }
    limit -= static_cast<int>(entries->size());
    if (entries->size() == static_cast<std::size_t>(wanted)) continue;
    ++adoption_queue_;
    adopted_up_to_.reset();
  }
  adoption_queue_ = 0;
  are_unreadable_found_ = true;
  return true;
}

// A worker that comes meanwhile claims what is there: other threads are told when there is more.
void StoreLedger::adopt_marked() {
  constexpr int most_at_once = 100;
  if (is_shared()) return adopt_what_others_marked(most_at_once);
  if (!options_.foreign_writes) return;
  const std::unique_lock turn(adoption_turn_, std::try_to_lock);
  if (!turn.owns_lock() || !options_.foreign_writes->take_news()) return;
  const auto done = adopt_some(most_at_once);
  if (!done) {
    is_adoption_left_ = true;
    base::log_warning("outbox", "e-mails of other programs could not be taken over now",
                      {{"error", done.error().message}});
    return;
  }
  if (!*done) options_.foreign_writes->be_asked_again();
  options_.foreign_writes->tell();
}

// On a shared store: writes that this process has made are known by their ids, and marks of others are looked for now
// and then.
void StoreLedger::adopt_what_others_marked(int most_at_once) {
  constexpr base::Milliseconds between_looks = std::chrono::seconds(30);
  const std::unique_lock turn(adoption_turn_, std::try_to_lock);
  if (!turn.owns_lock()) return;
  const auto tell_trouble = [](const base::Error& error) {
    base::log_warning("outbox", "e-mails of other programs could not be taken over now", {{"error", error.message}});
  };
  bool is_news = false;
  if (options_.foreign_writes)
    for (const ForeignWriteLog::Ended& ended : options_.foreign_writes->take_ended()) {
      is_news = true;
      if (const auto done = adopt_or_leave(ended.id, ended.token); !done) tell_trouble(done.error());  // the mark stays
    }
  const base::Milliseconds now = clock_.monotonic();
  if (now >= next_look_at_marks_) {
    const auto done = adopt_some(most_at_once);
    if (!done) tell_trouble(done.error());
    if (!done || *done) next_look_at_marks_ = now + between_looks;
    is_news |= done && !*done;
  }
  if (is_news && options_.foreign_writes) options_.foreign_writes->tell();
}

base::Result<std::vector<item::Item>> StoreLedger::read_metas(const std::vector<std::string>& ids) {
  std::vector<item::Item> metas;
  store::BatchGetItemRequest request;
  store::BatchGetTable table;
  table.table_name = tables_.emails;
  table.consistent_read = true;
  for (const std::string& id : ids) table.keys.push_back(meta_key(id));
  if (!ids.empty()) request.tables.push_back(std::move(table));
  while (!request.tables.empty()) {
    auto answer = retry_([&] { return store_.batch_get_item(request); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
    for (auto& found : answer->tables) std::ranges::move(found.items, std::back_inserter(metas));
    request.tables = std::move(answer->unprocessed);
  }
  return metas;
}

base::Result<std::optional<Email>> StoreLedger::find_foreign(const item::Item& meta) {
  const std::string& id = meta.find("Id")->as<std::string>();
  {
    const std::lock_guard turn(adoption_turn_);
    TRY(const bool done, adopt_or_leave(id));
    if (!done) is_adoption_left_ = true;
  }
  TRY(const std::vector<item::Item> metas, read_metas({id}));
  if (metas.empty()) return std::nullopt;
  // While a write is under way, or the payload cannot be read, it is shown as the other program has it.
  TRY(Email email,
      needs_adoption(metas.front()) ? foreign_email_of(metas.front(), clock_.now()) : email_of(metas.front()));
  return std::optional<Email>(std::move(email));
}

// So that it is tried again, and found again after a start.
base::Result<void> StoreLedger::mark(const std::string& id) {
  store::PutItemRequest put;
  put.table_name = tables_.emails;
  put.item = mark_of(id, clock_.now(), base::make_uuid(random_));
  // Another process may be about to write, and its mark is not due so soon.
  if (is_shared()) put.condition = "attribute_not_exists(Id)";
  const auto answer = retry_([&] { return store_.put_item(put); });
  if (!answer && answer.error().type != store::ErrorType::conditional_check_failed)
    return base::propagate(store::as_error(answer.error()));
  is_adoption_left_ = true;
  return {};
}

}  // namespace postino::outbox
