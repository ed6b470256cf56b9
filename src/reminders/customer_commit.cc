#include "reminders/customer_commit.h"

#include "base/text.h"
#include "item/attribute_text.h"
#include "mail/address.h"
#include "reminders/record/customer_item.h"
#include "reminders/record/draft.h"
#include "reminders/record/item_fields.h"

namespace postino::reminders {

namespace {

// What makes one item of the other: an update expression with names and values.
store::TransactUpdate difference(const item::Item& before, const item::Item& after) {
  store::TransactUpdate update;
  std::string sets, removals;
  expr::Names names;
  item::Map values;
  const auto placeholder = [&](const std::string& name) {
    std::string short_name = "#a" + std::to_string(names.size());
    names.emplace(short_name, name);
    return short_name;
  };
  for (const item::Attribute& each : after) {
    const item::AttributeValue* const old = before.find(each.name);
    if (old != nullptr && *old == each.value) continue;
    const std::string value = ":v" + std::to_string(values.size());
    sets.append(sets.empty() ? "SET " : ", ").append(placeholder(each.name)).append(" = ").append(value);
    values.set(value, each.value);
  }
  for (const item::Attribute& each : before)
    if (!after.contains(each.name))
      removals.append(removals.empty() ? " REMOVE " : ", ").append(placeholder(each.name));
  update.update.emplace(sets + removals);
  update.placeholders = {std::move(names), std::move(values)};
  return update;
}

}  // namespace

void add_change(Commit& commit, const Keys& keys, const Customer& before, const Customer& after) {
  store::TransactUpdate update = difference(customer_item(keys, before), customer_item(keys, after));
  update.table_name = commit.tables().tracking;
  update.key = Keys::key(keys.customer(before.id), profile_sort);
  update.condition.emplace("version = :seen");
  update.placeholders.values->set(":seen", before.version);
  commit.add(std::move(update));
}

std::string kept_words(const std::string& words) {
  std::string kept;
  base::append_printable(kept, words, longest_reason);
  return kept;
}

bool take_bounce(Customer& customer, const std::string& words, const std::string& address) {
  if (!address.empty() && !mail::is_same_address(address, customer.email)) return false;
  ++customer.hard_bounces;
  customer.last_bounce = kept_words(words);
  return true;
}

void add_objection(Commit& commit, const Keys& keys, const std::string& customer_id, const Objection& before,
                   const Objection& after) {
  if (after == before) return;
  if (after.is_any()) {
    store::TransactPut put;
    put.table_name = commit.tables().audit();
    put.item = objection_item(keys, customer_id, after);
    commit.add(std::move(put));
    return;
  }
  store::TransactDelete removal;
  removal.table_name = commit.tables().audit();
  removal.key = Keys::key(keys.customer(customer_id), objection_sort);
  commit.add(std::move(removal));
}

OrRefusal<Customer> read_profile(const item::Item& item, const std::string& customer_id) {
  auto customer = read_customer(item);
  if (!customer) return base::propagate(refusal_of(customer.error()));
  if (customer->id != customer_id)
    return refuse(RefusalKind::corrupt,
                  "the record " + key_text(item) + " cannot be read: customer_id must be " + customer_id);
  return *std::move(customer);
}

OrRefusal<std::optional<Customer>> mended_customer(ReminderStore& store, const Keys& keys,
                                                   const std::string& customer_id, const Actor& actor) {
  for (int round = 0; round < change_rounds; ++round) {
    TRY(const std::optional<item::Item> item, store.get(keys.customer(customer_id), std::string(profile_sort)));
    if (!item) return std::nullopt;
    // Afterwards, so that an objection that is made or taken back meanwhile changes the record that is written below.
    TRY(const Objection objection, store.objection(keys, customer_id));
    auto found = read_profile(*item, customer_id);
    if (found && with_objection(*found, objection) == *found) return std::optional(*std::move(found));
    if (!found && found.error().kind != RefusalKind::corrupt) return base::propagate(std::move(found).error());
    Commit commit = store.begin();
    Customer remade = with_objection(found ? *found : salvaged_customer(*item, customer_id), objection);
    if (remade.created_at == base::TimePoint()) remade.created_at = commit.now();
    if (remade.opted_out && !remade.opted_out_at) remade.opted_out_at = commit.now();
    remade.updated_at = commit.now();
    // A version that no caller has seen.
    remade.version = base::epoch_milliseconds(commit.now());
    // Attributes of other programs stay.
    item::Item mended = *item;
    for (const std::string& name : customer_attributes()) mended.erase(name);
    for (const item::Attribute& each : customer_item(keys, remade)) mended.set(each.name, each.value);
    expr::Placeholders placeholders;
    std::string condition = same_attributes(*item, customer_attributes(), placeholders);
    commit.put(std::move(mended), std::move(condition), std::move(placeholders));
    add_objection(commit, keys, customer_id, objection, objection_of(remade));
    const std::string cause =
        found ? "the record " + key_text(*item) + " lacked what the customer had said against reminders"
              : found.error().message;
    commit.audit(actor, "customer.record_made_anew", "customers/" + customer_id, {{"cause", cause}}, store.random());
    const auto written = store.write(std::move(commit));
    if (!written && written.error().kind != RefusalKind::busy) return base::propagate(written.error());
  }
  return refuse(RefusalKind::busy, "others change the customer " + customer_id + "; try again");
}

void add_presence(Commit& commit, const Keys& keys, const std::string& customer_id) {
  commit.check(Keys::key(keys.customer(customer_id), profile_sort), "attribute_exists(PK)");
}

OrRefusal<std::vector<std::string>> pending_drafts(ReminderStore& store, const Keys& keys,
                                                   const std::string& customer_id, std::size_t most,
                                                   const ReminderChoice& is_concerned) {
  store::QueryRequest request;
  request.table_name = store.tables().tracking;
  request.key_condition = "PK = :pk AND begins_with(SK, :begin)";
  request.filter = "#status = :draft";
  request.projection = "SK, overdue_invoices";
  request.placeholders.names = expr::Names{{"#status", "status"}};
  request.placeholders.values =
      item::Map{{":begin", draft_begin}, {":draft", name_of(DraftStatus::draft)}, {":pk", keys.customer(customer_id)}};
  request.consistent_read = true;
  std::vector<std::string> ids;
  do {
    TRY(ReminderStore::QueryPage page, store.query(request));
    for (const item::Item& item : page.items) {
      if (ids.size() == most) break;
      TRY(const bool is_one, is_concerned(item));
      if (is_one) ids.push_back(item::attribute_text(item, "SK").substr(draft_begin.size()));
    }
    request.exclusive_start_key = std::move(page.next);
  } while (request.exclusive_start_key && ids.size() < most);
  return ids;
}

void add_withdrawals(Commit& commit, const Keys& keys, const std::string& customer_id,
                     const std::vector<std::string>& draft_ids, const std::string& reason, const Actor& actor,
                     base::Random& random) {
  for (const std::string& id : draft_ids) {
    store::TransactUpdate update;
    update.table_name = commit.tables().tracking;
    update.key = Keys::key(keys.customer(customer_id), std::string(draft_begin) + id);
    update.update.emplace(
        "SET #status = :withdrawn, GSI1PK = :listed, #reason = :reason, decided_by = :by, decided_at_ms = :now, "
        "updated_at_ms = :now, version = if_not_exists(version, :none) + :one");
    update.condition.emplace("#status = :draft");
    update.placeholders.names = expr::Names{{"#reason", "reason"}, {"#status", "status"}};
    update.placeholders.values = item::Map{{":by", actor.known_as()},
                                           {":draft", name_of(DraftStatus::draft)},
                                           {":listed", keys.status(name_of(DraftStatus::withdrawn), id)},
                                           {":none", 0},
                                           {":now", base::epoch_milliseconds(commit.now())},
                                           {":one", 1},
                                           {":reason", reason},
                                           {":withdrawn", name_of(DraftStatus::withdrawn)}};
    commit.add(std::move(update));
    commit.audit(actor, "draft.withdrawn", "drafts/" + id, {}, random);
    commit.count(keys, "withdrawn", customer_id);
  }
}

OrRefusal<void> withdraw_rest(ReminderStore& store, const Keys& keys, const std::string& customer_id,
                              const std::string& reason, const Actor& actor, const ReminderChoice& is_concerned) {
  for (int round = 0; round < change_rounds; ++round) {
    TRY(const std::vector<std::string> drafts,
        pending_drafts(store, keys, customer_id, most_withdrawn_at_once, is_concerned));
    if (drafts.empty()) return {};
    Commit commit = store.begin();
    add_withdrawals(commit, keys, customer_id, drafts, reason, actor, store.random());
    if (const auto written = store.write(std::move(commit)); !written && written.error().kind != RefusalKind::busy)
      return base::propagate(written.error());
  }
  return refuse(RefusalKind::busy, "others change the drafts of the customer " + customer_id + "; try again");
}

}  // namespace postino::reminders
