#include "reminders/customers.h"

#include <algorithm>

#include "item/attribute_text.h"
#include "mail/address.h"
#include "reminders/customer_commit.h"
#include "reminders/customer_records.h"
#include "reminders/listing.h"
#include "reminders/record/customer_item.h"

namespace postino::reminders {

namespace {

tl::unexpected<Refusal> refuse_busy_customer(const std::string& id) {
  return refuse(RefusalKind::busy, "others change the customer " + id + "; try again");
}

std::string customer_subject(const std::string& id) { return "customers/" + id; }

OrRefusal<void> check_customer(const Customer& customer) {
  Refusal refusal;
  const auto note = [&](const char* field, std::string rule) {
    if (refusal.faults.empty()) refusal.message = std::string(field) + " " + rule;
    refusal.faults.push_back({field, std::move(rule)});
  };
  if (!is_record_id(customer.id)) note("customer_id", std::string(record_id_rule));
  if (const auto checked = check_customer_name(customer.name); !checked) note("customer_name", checked.error().message);
  if (const auto checked = check_customer_email(customer.email); !checked)
    note("customer_email", checked.error().message);
  if (!refusal.faults.empty()) return base::propagate(std::move(refusal));
  return {};
}

void opt_out_now(Customer& customer, base::TimePoint now) {
  customer.opted_out = true;
  customer.opted_out_at = now;
}

auto refuse_opting_in() {
  return refuse_field("opted_out",
                      "must not be false, because the customer has opted out; opting in is another request");
}

}  // namespace

tl::unexpected<Refusal> refuse_unknown_customer(const std::string& id) {
  return refuse(RefusalKind::unknown_customer,
                is_record_id(id) ? "there is no customer " + id : "there is no such customer");
}

OrRefusal<Customer> Customers::find(const std::string& id, const std::string& tenant) {
  if (!may_be_customer(id)) return refuse_unknown_customer(id);
  TRY(const std::optional<item::Item> item, store_.get(store_.keys(tenant).customer(id), std::string(profile_sort)));
  if (!item) return refuse_unknown_customer(id);
  auto customer = read_profile(*item, id);
  if (!customer) {
    customer.error().message += "; it is made again when the customer opts out, or is put once more";
    return customer;
  }
  TRY(const Objection objection, store_.objection(store_.keys(tenant), id));
  return with_objection(*std::move(customer), objection);
}

OrRefusal<void> Customers::check_known(const std::string& id, const std::string& tenant) {
  const auto found = find(id, tenant);
  // One that cannot be read is there.
  if (found || found.error().kind == RefusalKind::corrupt) return {};
  if (found.error().kind != RefusalKind::unknown_customer || !may_be_customer(id))
    return base::propagate(found.error());
  TRY(const std::optional<item::Item> newest, newest_reminder(store_, store_.keys(tenant), id));
  if (!newest) return refuse_unknown_customer(id);
  return {};
}

OrRefusal<Customer> Customers::change(const std::string& id, const Actor& actor, const std::string& action,
                                      const std::function<bool(Customer&)>& decide, IfUnknown if_unknown) {
  if (!may_be_customer(id)) return refuse_unknown_customer(id);
  const Keys keys = store_.keys(actor.tenant);
  for (int round = 0; round < change_rounds; ++round) {
    TRY(const Guard guard, store_.mended_guard(keys, id, actor));
    TRY(const std::optional<Customer> known, mended_customer(store_, keys, id, actor));
    if (!known) {
      if (if_unknown == IfUnknown::refuse) return refuse_unknown_customer(id);
      TRY_VOID(make_from_reminders(keys, id, actor));
      continue;
    }
    const Customer& before = *known;
    Customer after = before;
    if (!decide(after)) return before;
    Commit commit = store_.begin();
    after.updated_at = commit.now();
    ++after.version;
    add_change(commit, keys, before, after);
    add_objection(commit, keys, id, objection_of(before), objection_of(after));
    commit.move_guard(keys, id, guard, guard);
    commit.audit(actor, action, customer_subject(id), {}, store_.random());
    // Which reminders are called back is not known yet.
    if (actor.note_answer) commit.add(actor.note_answer(""));
    const auto written = store_.write(std::move(commit));
    if (written) return after;
    if (written.error().kind != RefusalKind::busy) return base::propagate(written.error());
  }
  return refuse_busy_customer(id);
}

// Answers busy when another caller has made it meanwhile.
OrRefusal<Customer> Customers::make(const Keys& keys, Customer customer, const Actor& actor, bool must_not_object) {
  TRY(const std::optional<item::Item> item, store_.get(keys.customer(customer.id), std::string(erased_sort)));
  // Another program may have removed the record of this customer, and that of its erasure.
  TRY(const Objection objection, store_.objection(keys, customer.id));
  Commit commit = store_.begin();
  if (item) {
    const auto erased = read_erased(*item);
    if (!erased) return base::propagate(refusal_of(erased.error()));
    if (!erased->finished_at)
      return refuse(RefusalKind::wrong_state,
                    "the erasure of the customer " + customer.id + " is not finished; repeat it first");
    customer.opted_out = customer.opted_out || erased->opted_out;
    customer.complaints = erased->complaints;
  }
  if (customer.opted_out) opt_out_now(customer, commit.now());
  customer = with_objection(std::move(customer), objection);
  if (must_not_object && customer.opted_out) return refuse_opting_in();
  customer.created_at = customer.updated_at = commit.now();
  customer.version = 1;
  commit.put(customer_item(keys, customer), "attribute_not_exists(PK)");
  add_objection(commit, keys, customer.id, objection, objection_of(customer));
  commit.check(Keys::key(keys.customer(customer.id), erased_sort),
               "attribute_not_exists(PK) OR attribute_exists(finished_at_ms)");
  commit.audit(actor, "customer.created", customer_subject(customer.id), {}, store_.random());
  TRY_VOID(store_.write(std::move(commit)));
  return customer;
}

OrRefusal<void> Customers::make_from_reminders(const Keys& keys, const std::string& id, const Actor& actor) {
  TRY(const std::optional<item::Item> erased, store_.get(keys.customer(id), std::string(erased_sort)));
  if (erased) return refuse_unknown_customer(id);
  TRY(const std::optional<item::Item> newest, newest_reminder(store_, keys, id));
  if (!newest) return refuse_unknown_customer(id);
  Customer customer;
  customer.id = id;
  customer.name = item::attribute_text(*newest, "customer_name");
  customer.email = item::attribute_text(*newest, "customer_email");
  const auto made = make(keys, std::move(customer), actor);
  // busy: another caller has made it meanwhile.
  if (!made && made.error().kind != RefusalKind::busy) return base::propagate(made.error());
  return {};
}

OrRefusal<Taken<Customer>> Customers::take_known(const Customer& customer, const Actor& actor, bool says_opted_out) {
  bool changed = false;
  bool takes_back = false;
  const base::TimePoint now = store_.clock().now();
  bool opts_out = false;
  TRY(Customer stored, change(customer.id, actor, "customer.changed", [&](Customer& after) {
        const Customer before = after;
        takes_back = says_opted_out && !customer.opted_out && before.opted_out;
        if (takes_back) return false;
        after.name = customer.name;
        after.email = customer.email;
        if (!mail::is_same_address(before.email, after.email)) {
          after.hard_bounces = 0;
          after.last_bounce.clear();
        }
        opts_out = customer.opted_out && !before.opted_out;
        if (opts_out) opt_out_now(after, now);
        changed = after != before;
        return changed;
      }));
  if (takes_back) return refuse_opting_in();
  Recalled recalled;
  if (opts_out) recalled = recall(customer.id, why_stopped(stored), actor);
  return Taken<Customer>{std::move(stored), changed, std::move(recalled)};
}

OrRefusal<Taken<Customer>> Customers::take(const Customer& customer, const Actor& actor, bool says_opted_out) {
  TRY_VOID(check_customer(customer));
  const Keys keys = store_.keys(actor.tenant);
  Customer made;
  made.id = customer.id;
  made.name = customer.name;
  made.email = customer.email;
  made.opted_out = customer.opted_out;
  for (int round = 0; round < change_rounds; ++round) {
    TRY(const std::optional<item::Item> item, store_.get(keys.customer(customer.id), std::string(profile_sort)));
    if (item) return take_known(customer, actor, says_opted_out);
    auto answer = make(keys, made, actor, says_opted_out && !customer.opted_out);
    if (answer) return Taken<Customer>{*std::move(answer), true};
    if (answer.error().kind != RefusalKind::busy) return base::propagate(std::move(answer).error());
  }
  return refuse_busy_customer(customer.id);
}

OrRefusal<Customer> Customers::put(const Customer& customer, const Actor& actor) {
  TRY(Taken<Customer> taken, take(customer, actor));
  return std::move(taken.record);
}

OrRefusal<std::vector<LastSent>> Customers::last_reminders(const std::string& id, const std::string& tenant) {
  TRY(Guard guard, store_.shown_guard(store_.keys(tenant), id));
  std::ranges::sort(guard.last, {}, &LastSent::type);
  return std::move(guard.last);
}

OrRefusal<Page<Customer>> Customers::list(const PageRequest& page, const std::string& tenant) {
  Listing listing;
  listing.name = "customers";
  listing.partitions = {store_.keys(tenant).listing("CUSTOMERS")};
  listing.in_index = true;
  TRY(const Page<item::Item> items, list_items(store_, listing, page));
  Page<Customer> answer = readable_page<Customer>(items, "customers", read_customer);
  for (Customer& customer : answer.entries) {
    TRY(const Objection objection, store_.objection(store_.keys(tenant), customer.id));
    customer = with_objection(std::move(customer), objection);
  }
  return answer;
}

OrRefusal<Page<Customer>> Customers::late_payers(const PageRequest& page, const std::string& tenant) {
  Listing listing;
  listing.name = "late payers";
  listing.partitions = {store_.keys(tenant).listing("LATE_PAYERS")};
  listing.in_index = true;
  TRY(const Page<item::Item> items, list_items(store_, listing, page));
  Page<Customer> answer;
  answer.cursor = items.cursor;
  for (const item::Item& item : items.entries) {
    auto customer = find(item::attribute_text(item, "customer_id"), tenant);
    if (customer && is_late_payer(*customer)) answer.entries.push_back(*std::move(customer));
    // One that was erased a moment ago, or cannot be read.
    else if (!customer && customer.error().kind == RefusalKind::corrupt)
      leave_out(answer, "late payers", customer.error().message);
    else if (!customer && customer.error().kind != RefusalKind::unknown_customer)
      return base::propagate(std::move(customer).error());
  }
  return answer;
}

Recalled Customers::recall(const std::string& id, const std::string& reason, const Actor& actor,
                           const ReminderChoice& is_concerned) {
  if (mail_ == nullptr || reason.empty()) return {};
  return recall_reminders(store_, *mail_, store_.keys(actor.tenant), id, reason, actor, is_concerned);
}

Stopping<Customer> Customers::stopped(Customer customer, const Actor& actor) {
  Stopping<Customer> stopped{std::move(customer)};
  stopped.recalled = recall(stopped.id, why_stopped(stopped), actor);
  // Those that were called back do not count as sent.
  if (!stopped.recalled.cancelled.empty())
    if (auto by_now = find(stopped.id, actor.tenant)) static_cast<Customer&>(stopped) = *std::move(by_now);
  return stopped;
}

OrRefusal<Stopping<Customer>> Customers::opt_out(const std::string& id, const std::string& reason, const Actor& actor) {
  const base::TimePoint now = store_.clock().now();
  const auto decide = [&](Customer& after) {
    if (after.opted_out) return false;
    opt_out_now(after, now);
    after.opted_out_reason = kept_words(reason);
    return true;
  };
  TRY(Customer customer, change(id, actor, "customer.opted_out", decide, IfUnknown::make));
  return stopped(std::move(customer), actor);
}

OrRefusal<Customer> Customers::opt_in(const std::string& id, const Actor& actor) {
  return change(id, actor, "customer.opted_in", [](Customer& customer) {
    if (why_stopped(customer).empty()) return false;
    customer.opted_out = false;
    customer.opted_out_at.reset();
    customer.opted_out_reason.clear();
    customer.hard_bounces = customer.complaints = 0;
    customer.last_bounce.clear();
    customer.last_complaint.clear();
    return true;
  });
}

OrRefusal<Stopping<Customer>> Customers::complain(const std::string& id, const std::string& reason,
                                                  const Actor& actor) {
  const auto decide = [&](Customer& after) {
    ++after.complaints;
    after.last_complaint = kept_words(reason);
    return true;
  };
  TRY(Customer customer, change(id, actor, "customer.complained", decide, IfUnknown::make));
  return stopped(std::move(customer), actor);
}

OrRefusal<Customer> Customers::hard_bounce(const std::string& id, const std::string& words, const Actor& actor,
                                           const std::string& address) {
  return change(id, actor, "customer.bounced",
                [&](Customer& customer) { return take_bounce(customer, words, address); });
}

}  // namespace postino::reminders
