#include "outbox/store_ledger/record_lives.h"

#include <algorithm>

#include "outbox/store_ledger/store_spool.h"

namespace postino::outbox {

namespace {

// Most e-mails have three or four. A transaction has a hundred actions, for this e-mail and others.
constexpr std::size_t most_lines_in_commit = 40;

// What the e-mail has gone through says which lines it has. If one is not there, because another program has counted
// otherwise, the update leaves a record without attributes, which no reader takes for a line.
std::vector<item::Key> line_keys(const Email& email) {
  std::vector<item::Key> keys;
  const auto add = [&](std::string_view status, int count) {
    for (int occurrence = 1; occurrence <= std::min<int>(count, most_history_lines); ++occurrence)
      keys.push_back({{"Id", email.id}, {"Status", line_name(status, occurrence)}});
  };
  for (const State state : all_states()) add(name_of(state), email.reached[index_of(state)]);
  add("BOUNCED", static_cast<int>(email.bounces.size()));
  return keys;
}

template <class Request>
Request life_update(const std::string& table, const item::Key& key, const RecordLife& life) {
  Request update;
  update.table_name = table;
  update.key = key;
  update.update = store::UpdateExpression(life.has_begun ? "SET #ttl = :ttl" : "REMOVE #ttl");
  update.placeholders.names = expr::Names{{"#ttl", "TTL"}};
  if (life.has_begun) update.placeholders.values = item::Map{{":ttl", base::epoch_seconds(life.expires)}};
  return update;
}

}  // namespace

std::vector<item::Key> RecordLives::keys_of_contents(const Email& email) const {
  std::vector<item::Key> keys;
  if (!has_contents_) return keys;
  for (const std::string& path : {email.payload_path, email.message_path})
    if (StoreSpool::is_in_one_part(path, email.id)) keys.push_back(StoreSpool::key_of_part(path, 0));
  return keys;
}

std::vector<store::TransactUpdate> RecordLives::in_commit(const Email& email, const RecordLife& life) const {
  std::vector<store::TransactUpdate> updates;
  std::vector<item::Key> lines = line_keys(email);
  if (lines.size() > most_lines_in_commit) lines.resize(most_lines_in_commit);
  for (const item::Key& key : lines) updates.push_back(life_update<store::TransactUpdate>(tables_.emails, key, life));
  for (const item::Key& key : keys_of_contents(email))
    updates.push_back(life_update<store::TransactUpdate>(tables_.spool(), key, life));
  return updates;
}

std::size_t RecordLives::count_in_commit(const Email& email) const {
  return std::min(line_keys(email).size(), most_lines_in_commit) + keys_of_contents(email).size();
}

base::Result<void> RecordLives::write_rest(const Email& email, const RecordLife& life) const {
  const std::vector<item::Key> lines = line_keys(email);
  for (std::size_t i = most_lines_in_commit; i < lines.size(); ++i) {
    const auto update = life_update<store::UpdateItemRequest>(tables_.emails, lines[i], life);
    const auto answer = retry_([&] { return store_.update_item(update); });
    if (!answer) return base::propagate(store::as_error(answer.error()));
  }
  if (!has_contents_) return {};
  for (const std::string& path : {email.payload_path, email.message_path})
    if (StoreSpool::is_in_several_parts(path, email.id)) TRY_VOID(write_parts(path, life));
  return {};
}

// How many there are says the first one, which is large: the end is where none is.
base::Result<void> RecordLives::write_parts(const std::string& path, const RecordLife& life) const {
  for (std::size_t part = 0; part < StoreSpool::most_parts; ++part) {
    auto update = life_update<store::UpdateItemRequest>(tables_.spool(), StoreSpool::key_of_part(path, part), life);
    update.condition = "attribute_exists(SpoolPath)";
    const auto answer = retry_([&] { return store_.update_item(update); });
    if (!answer && answer.error().type == store::ErrorType::conditional_check_failed) return {};
    if (!answer) return base::propagate(store::as_error(answer.error()));
  }
  return {};
}

}  // namespace postino::outbox
