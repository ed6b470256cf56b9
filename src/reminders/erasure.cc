#include "reminders/erasure.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/log.h"
#include "item/attribute_text.h"
#include "json/writer.h"
#include "reminders/customer_commit.h"
#include "reminders/customer_records.h"
#include "reminders/customers.h"
#include "reminders/recalls.h"
#include "reminders/record/customer_item.h"
#include "reminders/record/invoice_item.h"
#include "reminders/record/item_fields.h"
#include "reminders/record/plain_json.h"
#include "reminders/record/sent_item.h"

namespace postino::reminders {

namespace {

constexpr std::size_t most_erased_at_once = 50;

// Counts of the erasure, in the record of it, by the kind of what was removed.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> removed_counts = {{
    {"profile", "customer"},
    {"drafts", "drafts"},
    {"revisions", "revisions of drafts"},
    {"sent_reminders", "texts, names and addresses of sent reminders"},
    {"invoices", "invoices"},
    {"overrides", "templates for this customer"},
    {"others", "other records"},
}};
constexpr std::string_view emails_count = "removed_emails";
std::string count_name(std::string_view kind) { return "removed_" + std::string(kind); }

store::TransactDelete removal_of(const Commit& commit, item::Key key) {
  store::TransactDelete removal;
  removal.table_name = commit.tables().tracking;
  removal.key = std::move(key);
  return removal;
}

// In one commit with what is counted, so that a repeated erasure counts nothing twice.
void add_counts(Commit& commit, const Keys& keys, const std::string& id,
                const std::map<std::string, std::int64_t>& counts) {
  store::TransactUpdate update;
  update.table_name = commit.tables().tracking;
  update.key = Keys::key(keys.customer(id), erased_sort);
  update.condition.emplace("attribute_exists(PK)");
  std::string text;
  item::Map values;
  for (const auto& [name, count] : counts) {
    const std::string value = ":c" + std::to_string(values.size());
    text.append(text.empty() ? "ADD " : ", ").append(name).append(" ").append(value);
    values.set(value, count);
  }
  if (text.empty()) return;
  update.update.emplace(std::move(text));
  update.placeholders.values = std::move(values);
  commit.add(std::move(update));
}

// What is left of a sent reminder. Invoices and amounts are what it was about.
constexpr std::array<std::string_view, 26> kept_attributes = {"PK",
                                                              "SK",
                                                              "GSI1PK",
                                                              "GSI1SK",
                                                              "customer_id",
                                                              "reminder_type",
                                                              "status",
                                                              "sent_date",
                                                              "sent_at_ms",
                                                              "approved_by",
                                                              "message_id",
                                                              "ses_message_id",
                                                              "email_id",
                                                              "draft_id",
                                                              "delivery_status",
                                                              "delivered_at_ms",
                                                              "revision",
                                                              "template_id",
                                                              "currency",
                                                              "version",
                                                              "overdue_amount",
                                                              "overdue_totals",
                                                              "erased_at_ms",
                                                              "overdue_invoices",
                                                              ttl_attribute,
                                                              "template_version"};

bool is_number(const item::Item& item, std::string_view name) {
  const item::AttributeValue* const value = item.find(name);
  return value != nullptr && value->get_if<item::Number>() != nullptr;
}

// Other programs may have put anything into it.
bool has_more(const item::Item& sent) {
  return std::ranges::any_of(sent, [](const item::Attribute& attribute) {
    return std::ranges::find(kept_attributes, attribute.name) == kept_attributes.end();
  });
}

// Without whatever may be about a person: only what is known not to be about a person stays, and not for ever.
store::TransactUpdate stripped(const Commit& commit, const item::Item& sent, base::TimePoint sent_at) {
  store::TransactUpdate update;
  update.table_name = commit.tables().tracking;
  update.key = Keys::key(item::attribute_text(sent, "PK"), item::attribute_text(sent, "SK"));
  item::Map values{{":now", base::epoch_milliseconds(commit.now())}, {":one", 1}};
  expr::Names names;
  std::string text = "SET erased_at_ms = :now, version = ";
  text += is_number(sent, "version") ? "version + :one" : ":one";
  if (!is_number(sent, ttl_attribute)) {
    names.emplace("#ttl", ttl_attribute);
    values.set(":ttl", base::epoch_seconds(sent_at + sent_life));
    text += ", #ttl = :ttl";
  }
  int number = 0;
  for (const item::Attribute& attribute : sent) {
    if (std::ranges::find(kept_attributes, attribute.name) != kept_attributes.end()) continue;
    const std::string mark = "#r" + std::to_string(number);
    names.emplace(mark, attribute.name);
    text.append(number++ == 0 ? " REMOVE " : ", ").append(mark);
  }
  update.update.emplace(std::move(text));
  // Two that erase at the same time count it once.
  update.condition.emplace(sent.contains("erased_at_ms")
                               ? "attribute_exists(PK)"
                               : "attribute_exists(PK) AND attribute_not_exists(erased_at_ms)");
  if (!names.empty()) update.placeholders.names = std::move(names);
  update.placeholders.values = std::move(values);
  return update;
}

bool stays(std::string_view sort_key) {
  return sort_key.starts_with(sent_begin) || sort_key == guard_sort || sort_key == erased_sort;
}

}  // namespace

OrRefusal<std::string> Erasure::export_customer(const std::string& id, const Actor& actor) {
  if (!may_be_customer(id)) return refuse_unknown_customer(id);
  const Keys keys = store_.keys(actor.tenant);
  std::map<std::string, std::string, std::less<>> records;  // of each kind, with commas
  for (const char* const kind : {"drafts", "invoices", "overrides", "revisions", "sent_reminders"}) records[kind];
  std::size_t bytes = 0;
  bool is_known = false;
  const auto add = [&](std::string_view kind, item::Item item) {
    std::string& texts = records[std::string(kind)];
    if (!texts.empty()) texts += ',';
    // The sort key tells which record it is; the other keys say nothing more.
    for (const char* const name : {"PK", "GSI1PK", "GSI1SK"}) item.erase(name);
    const std::string text = plain_json(item);
    texts += text;
    bytes += text.size();
  };
  TRY_VOID(read_partition(store_, keys, id, "", [&](std::vector<item::Item> items) -> OrRefusal<void> {
    for (item::Item& item : items) {
      const std::string_view kind = kind_of_record(item::attribute_text(item, "SK"));
      is_known = is_known || (!kind.empty() && kind != "guard");
      if (!kind.empty()) add(kind, std::move(item));
    }
    if (bytes > max_export_bytes)
      return refuse(RefusalKind::wrong_state,
                    "there are more than " + std::to_string(max_export_bytes) + " bytes of the customer " + id);
    return {};
  }));
  if (!is_known) return refuse_unknown_customer(id);
  TRY(std::vector<item::Item> events, audit_events_of(store_, keys, id));
  records["audit"];
  for (item::Item& event : events) add("audit", std::move(event));
  TRY(const Objection objection, store_.objection(keys, id));
  if (objection.is_any()) add("objection", objection_item(keys, id, objection));

  Commit commit = store_.begin();
  commit.audit(actor, "customer.exported", "customers/" + id, {}, store_.random());
  TRY_VOID(store_.write(std::move(commit)));
  std::string text;
  json::Writer writer(text);
  writer.begin_object().key("customer_id").string(id);
  for (const auto& [kind, texts] : records) {
    const bool is_single = kind == "profile" || kind == "guard" || kind == "objection";
    writer.key(kind).raw(is_single ? texts : "[" + texts + "]");
  }
  writer.end_object();
  return text;
}

OrRefusal<void> Erasure::begin_now(const Keys& keys, const std::string& id, const item::Item* profile,
                                   const Actor& actor) {
  TRY(const Guard guard, store_.mended_guard(keys, id, actor));
  Commit commit = store_.begin();
  ErasedCustomer erased;
  erased.customer_id = id;
  erased.began_at = commit.now();
  const item::Key key = Keys::key(keys.customer(id), profile_sort);
  TRY(const Objection objection, store_.objection(keys, id));
  erased.opted_out = objection.opted_out;
  erased.complaints = objection.complaints;
  if (profile != nullptr) {
    store::TransactDelete removal = removal_of(commit, key);
    removal.condition.emplace("attribute_exists(PK)");
    // What cannot be read must be possible to erase, too. What has stopped reminders stays.
    const auto read = read_customer(*profile);
    const Customer customer = with_objection(read ? *read : salvaged_customer(*profile, id), objection);
    erased.opted_out = customer.opted_out;
    erased.complaints = customer.complaints;
    if (!customer.email.empty()) {
      const auto suppressed = mail_.is_suppressed(customer.email, actor.tenant);
      if (!suppressed) return base::propagate(refusal_of(suppressed.error()));
      erased.suppressed = *suppressed;
    }
    if (read) {
      removal.condition.emplace("version = :seen");
      removal.placeholders.values = item::Map{{":seen", customer.version}};
    }
    commit.add(std::move(removal));
  } else {
    commit.check(key, "attribute_not_exists(PK)");
  }
  commit.add(removal_of(commit, Keys::key(keys.customer(id), late_payer_sort)));
  item::Item record = erased_item(keys, erased);
  if (profile != nullptr) record.set(count_name("profile"), 1);
  commit.put(std::move(record));
  commit.move_guard(keys, id, guard, guard);
  commit.audit(actor, "customer.erasure_began", "customers/" + id, {}, store_.random());
  return store_.write(std::move(commit));
}

OrRefusal<ErasedCustomer> Erasure::begin(const Keys& keys, const std::string& id, bool also_unpaid,
                                         const Actor& actor) {
  const std::string partition = keys.customer(id);
  for (int round = 0; round < change_rounds; ++round) {
    TRY(const std::optional<item::Item> profile, store_.get(partition, std::string(profile_sort)));
    TRY(const std::optional<item::Item> record, store_.get(partition, std::string(erased_sort)));
    if (!profile && record) {
      const auto erased = read_erased(*record);
      if (!erased) return base::propagate(refusal_of(erased.error()));
      return *erased;
    }
    store::QueryRequest request;
    request.table_name = store_.tables().tracking;
    request.key_condition = profile ? "PK = :pk AND begins_with(SK, :begin)" : "PK = :pk";
    request.placeholders.values = item::Map{{":pk", partition}};
    if (profile) request.placeholders.values->set(":begin", unpaid_begin);
    request.limit = 2;
    request.consistent_read = true;
    TRY(const ReminderStore::QueryPage some, store_.query(request));
    if (profile && !some.items.empty() && !also_unpaid)
      return refuse(RefusalKind::wrong_state, "the customer " + id + " has invoices that are not paid");
    // Another program may have written drafts and reminders for a customer that we do not know.
    const auto is_guard = [](const item::Item& item) { return item::attribute_text(item, "SK") == guard_sort; };
    if (!profile && std::ranges::all_of(some.items, is_guard)) return refuse_unknown_customer(id);
    const auto begun = begin_now(keys, id, profile ? &*profile : nullptr, actor);
    if (!begun && begun.error().kind != RefusalKind::busy) return base::propagate(begun.error());
  }
  return refuse(RefusalKind::busy, "others change the customer " + id + "; try again");
}

OrRefusal<int> Erasure::erase_sent(const Keys& keys, const std::string& id) {
  int in_flight = 0;
  const auto erase_some = [&](const std::vector<item::Item>& some) -> OrRefusal<void> {
    Commit commit = store_.begin();
    std::map<std::string, std::int64_t> counts;
    for (const item::Item& item : some) {
      const auto sent = read_sent(item, store_.tables().currency);
      // What another program has written may be of any kind, also one of ours that it has damaged.
      const std::string email_id = item::attribute_text(item, "email_id");
      const bool has_email = !email_id.empty();
      if (has_email) {
        const auto is_gone = mail_.erase(email_id, keys.tenant());
        if (!is_gone) return base::propagate(refusal_of(is_gone.error()));
        if (!*is_gone) ++in_flight;
      }
      const bool is_stripped = item.contains("erased_at_ms");
      if (is_stripped && !has_more(item)) continue;
      commit.add(stripped(commit, item, sent ? sent->sent_at : commit.now()));
      if (is_stripped) continue;  // another program has added something since
      ++counts[count_name("sent_reminders")];
      if (has_email) ++counts[std::string(emails_count)];
    }
    if (commit.size() == 0) return {};
    add_counts(commit, keys, id, counts);
    return store_.write(std::move(commit));
  };
  const auto erase_page = [&](const std::vector<item::Item>& items) -> OrRefusal<void> {
    for (std::size_t first = 0; first < items.size(); first += most_erased_at_once) {
      const auto begin = items.begin() + static_cast<std::ptrdiff_t>(first);
      const auto count = static_cast<std::ptrdiff_t>(std::min(most_erased_at_once, items.size() - first));
      TRY_VOID(erase_some({begin, begin + count}));
    }
    return {};
  };
  TRY_VOID(read_partition(store_, keys, id, std::string(sent_begin), erase_page));
  return in_flight;
}

OrRefusal<void> Erasure::erase_records(const Keys& keys, const std::string& id) {
  return read_partition(store_, keys, id, "", [&](std::vector<item::Item> items) -> OrRefusal<void> {
    std::erase_if(items, [](const item::Item& item) { return stays(item::attribute_text(item, "SK")); });
    for (std::size_t first = 0; first < items.size(); first += most_erased_at_once) {
      Commit commit = store_.begin();
      std::map<std::string, std::int64_t> counts;
      for (std::size_t i = first; i < std::min(first + most_erased_at_once, items.size()); ++i) {
        const std::string sort = item::attribute_text(items[i], "SK");
        commit.add(removal_of(commit, Keys::key(keys.customer(id), sort)));
        if (const std::string_view kind = kind_of_record(sort); !kind.empty()) ++counts[count_name(kind)];
      }
      add_counts(commit, keys, id, counts);
      TRY_VOID(store_.write(std::move(commit)));
    }
    return {};
  });
}

OrRefusal<Erasure::KeptReminders> Erasure::kept_reminders(const Keys& keys, const std::string& id) {
  KeptReminders kept;
  const auto look = [&](const std::vector<item::Item>& items) -> OrRefusal<void> {
    for (const item::Item& item : items) {
      const auto sent = read_sent(item, store_.tables().currency);
      bool was_sent =
          !sent || (sent->delivery != DeliveryStatus::failed && sent->delivery != DeliveryStatus::cancelled);
      if (sent && !sent->email_id.empty()) {
        const auto email = mail_.find(sent->email_id, keys.tenant());
        if (!email) return base::propagate(refusal_of(email.error()));
        // The outbox knows first what has become of it.
        if (*email) was_sent = outbox::was_sent((*email)->state) || (*email)->may_have_gone_out;
        if (*email) ++(was_sent ? kept.sent_emails : kept.other_emails);
        TRY(const auto watch, store_.get(Keys::email(sent->email_id), std::string(watch_sort)));
        if (watch) ++kept.watches;
      }
      ++(was_sent ? kept.sent : kept.others);
    }
    return {};
  };
  TRY_VOID(read_partition(store_, keys, id, std::string(sent_begin), look));
  return kept;
}

OrRefusal<ErasureReport> Erasure::report(const Keys& keys, const std::string& id) {
  TRY(const std::optional<item::Item> record, store_.get(keys.customer(id), std::string(erased_sort)));
  if (!record) return refuse_unknown_customer(id);
  const auto erased = read_erased(*record);
  if (!erased) return base::propagate(refusal_of(erased.error()));
  ItemFields counts(*record);
  ErasureReport report;
  for (const auto& [kind, name] : removed_counts)
    if (const std::int64_t count = counts.whole(count_name(kind)); count > 0)
      report.removed.push_back({std::string(name), count, ""});
  if (const std::int64_t emails = counts.whole(emails_count); emails > 0)
    report.removed.push_back({"contents of e-mails in the outbox", emails, ""});
  TRY(const KeptReminders kept, kept_reminders(keys, id));
  const auto keep = [&](std::string_view what, std::int64_t count, const char* why) {
    if (count > 0) report.kept.push_back({std::string(what), count, why});
  };
  keep(ErasureReport::sent_emails, kept.sent_emails,
       "they prove that each was sent once; they have address and subject, and expire with the outbox's history");
  keep("records of e-mails that were not sent", kept.other_emails,
       "they prove that these were not sent; they have address and subject, and expire with the outbox's history");
  keep("sent reminders", kept.sent,
       "they prove what was demanded and when; they have no text, name or address, and expire a year after they were "
       "sent");
  keep("reminders that were not sent", kept.others,
       "they prove that the customer did not get them; they have no text, name or address, and expire a year after "
       "they were approved");
  keep(
      "links from e-mails to reminders", kept.watches,
      "so that a bounce that comes later is written down; they have ids alone, and expire 45 days after the outbox has "
      "finished with the e-mail");
  TRY(const std::vector<item::Item> events, audit_events_of(store_, keys, id));
  report.kept.push_back({"audit events", static_cast<std::int64_t>(events.size()),
                         "they prove who decided what; they have no names, addresses or texts of customers"});
  TRY(const Guard guard, store_.shown_guard(keys, id));
  if (!guard.last.empty())
    report.kept.push_back({"times of the last reminders", static_cast<std::int64_t>(guard.last.size()),
                           "a customer who comes back is not reminded too soon"});
  if (erased->opted_out || erased->complaints > 0)
    report.kept.push_back({"objection to reminders", 1, "it still counts when the customer comes back"});
  if (erased->suppressed)
    report.kept.push_back({"address on the suppression list", 1, "so that no mail is sent to it again"});
  return report;
}

OrRefusal<ErasureReport> Erasure::erase(const std::string& id, bool also_unpaid, const Actor& actor) {
  if (!may_be_customer(id)) return refuse_unknown_customer(id);
  const Keys keys = store_.keys(actor.tenant);
  TRY(const ErasedCustomer erased, begin(keys, id, also_unpaid, actor));
  auto report = finish(keys, id, erased, actor);
  if (report) return report;
  // Something was done, whatever failed.
  Refusal& refusal = report.error();
  if (refusal.kind == RefusalKind::unavailable) refusal.kind = RefusalKind::outcome_unknown;
  refusal.message += "; the erasure of the customer " + id +
                     " has begun, and what is erased stays erased: repeat it, and it goes on where it was";
  return report;
}

OrRefusal<int> Erasure::run_once(int limit) {
  store::QueryRequest request;
  request.table_name = store_.tables().tracking;
  request.index_name = std::string(status_index);
  request.key_condition = "GSI1PK = :pk AND GSI1SK <= :now";
  request.placeholders.values = item::Map{{":pk", Keys::erasures()}, {":now", erasure_sort(store_.clock().now())}};
  request.limit = limit;
  TRY(const ReminderStore::QueryPage page, store_.query(std::move(request)));
  int finished = 0;
  for (const item::Item& record : page.items) {
    TRY(const bool is_finished, go_on(record));
    finished += is_finished ? 1 : 0;
  }
  return finished;
}

OrRefusal<bool> Erasure::go_on(const item::Item& listed) {
  const std::string partition = item::attribute_text(listed, "PK"), sort = item::attribute_text(listed, "SK");
  TRY(const std::optional<item::Item> found, store_.get(partition, sort));
  // The index may still have what another process has finished or put off. Its customer may be there again by now.
  if (!found || item::attribute_text(*found, "GSI1SK") != item::attribute_text(listed, "GSI1SK")) return false;
  const item::Item& record = *found;
  const std::string tenant = item::attribute_text(record, "tenant");
  const Keys keys = store_.keys(tenant);
  auto erased = read_erased(record);
  const auto done = erased ? finish(keys, erased->customer_id, *erased,
                                    {.tenant = tenant, .name = "reminders", .key = {}, .from = {}})
                           : OrRefusal<ErasureReport>(base::propagate(refusal_of(erased.error())));
  if (done) return true;
  ++store_.troubles().erasures;
  store::TransactUpdate update;
  update.table_name = store_.tables().tracking;
  update.key = Keys::key(partition, sort);
  update.update.emplace("SET GSI1SK = :due");
  update.condition.emplace("attribute_exists(GSI1PK)");
  update.placeholders.values = item::Map{{":due", erasure_sort(store_.clock().now() + erasure_pause)}};
  Commit commit = store_.begin();
  commit.add(std::move(update));
  // What is wrong with the store as a whole is told once, and not of each record.
  if (const auto written = store_.write(std::move(commit)); !written && written.error().kind != RefusalKind::busy)
    return base::propagate(written.error());
  base::log_warning("reminders", "an erasure that was interrupted is not finished yet",
                    {{"record", key_text(record)}, {"cause", done.error().message}});
  return false;
}

OrRefusal<ErasureReport> Erasure::finish(const Keys& keys, const std::string& id, const ErasedCustomer& erased,
                                         const Actor& actor) {
  // Also when it is finished: another program may have written something since. What waits is called back first, so
  // that its record, the audit and the counts tell what became of it.
  const Recalled recalled = recall_reminders(store_, mail_, keys, id, std::string(erased_reason), actor);
  if (!recalled.trouble.empty()) return refuse(RefusalKind::unavailable, recalled.trouble);
  TRY(const int in_flight, erase_sent(keys, id));
  TRY_VOID(erase_records(keys, id));
  if (in_flight > 0)
    return refuse(RefusalKind::busy,
                  "a reminder to the customer " + id + " is being sent at this moment; everything else is erased");
  if (!erased.finished_at) {
    Commit commit = store_.begin();
    store::TransactUpdate update;
    update.table_name = commit.tables().tracking;
    update.key = Keys::key(keys.customer(id), erased_sort);
    update.update.emplace("SET finished_at_ms = :now REMOVE GSI1PK, GSI1SK, tenant");
    // Another one may have finished it. Of two events of one erasure one would be false.
    update.condition.emplace("attribute_exists(PK) AND attribute_not_exists(finished_at_ms)");
    update.placeholders.values = item::Map{{":now", base::epoch_milliseconds(commit.now())}};
    commit.add(std::move(update));
    commit.audit(actor, "customer.erased", "customers/" + id, {}, store_.random());
    if (const auto written = store_.write(std::move(commit)); !written && written.error().kind != RefusalKind::busy)
      return base::propagate(written.error());
  }
  return report(keys, id);
}

}  // namespace postino::reminders
