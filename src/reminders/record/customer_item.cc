#include "reminders/record/customer_item.h"

#include "base/timestamp.h"
#include "reminders/record/item_fields.h"

namespace postino::reminders {

namespace {

Customer customer_fields(ItemFields& fields) {
  Customer customer;
  customer.id = fields.text("customer_id");
  customer.name = fields.text("customer_name");
  customer.email = fields.text("customer_email");
  customer.opted_out = fields.flag("opt_out");
  customer.opted_out_at = fields.moment("opted_out_at_ms");
  customer.opted_out_reason = fields.text("opt_out_reason");
  customer.hard_bounces = fields.whole("hard_bounces");
  customer.complaints = fields.whole("complaints");
  customer.last_bounce = fields.text("last_bounce");
  customer.last_complaint = fields.text("last_complaint");
  customer.reminders_sent = fields.whole("reminders_sent");
  customer.late_payments = fields.whole("late_payments");
  customer.created_at = fields.moment("created_at_ms").value_or(base::TimePoint());
  customer.updated_at = fields.moment("updated_at_ms").value_or(customer.created_at);
  customer.version = fields.whole("version");
  return customer;
}

}  // namespace

item::Item customer_item(const Keys& keys, const Customer& customer) {
  item::Item item = Keys::key(keys.customer(customer.id), profile_sort);
  item.set("GSI1PK", keys.listing("CUSTOMERS"));
  item.set("GSI1SK", customer.id);
  item.set("customer_id", customer.id);
  item.set("customer_name", customer.name);
  item.set("customer_email", customer.email);
  item.set("opt_out", customer.opted_out);
  set_moment(item, "opted_out_at_ms", customer.opted_out_at);
  set_text(item, "opt_out_reason", customer.opted_out_reason);
  set_count(item, "hard_bounces", customer.hard_bounces);
  set_count(item, "complaints", customer.complaints);
  set_text(item, "last_bounce", customer.last_bounce);
  set_text(item, "last_complaint", customer.last_complaint);
  set_count(item, "reminders_sent", customer.reminders_sent);
  set_count(item, "late_payments", customer.late_payments);
  item.set("created_date", seed_time(customer.created_at));
  item.set("created_at_ms", base::epoch_milliseconds(customer.created_at));
  item.set("updated_at_ms", base::epoch_milliseconds(customer.updated_at));
  item.set("version", customer.version);
  return item;
}

const std::vector<std::string>& customer_attributes() {
  static const std::vector<std::string> names = {"customer_id",     "customer_name",  "customer_email", "opt_out",
                                                 "opted_out_at_ms", "opt_out_reason", "hard_bounces",   "complaints",
                                                 "last_bounce",     "last_complaint", "reminders_sent", "late_payments",
                                                 "created_date",    "created_at_ms",  "updated_at_ms",  "version"};
  return names;
}

base::Result<Customer> read_customer(const item::Item& item) {
  ItemFields fields(item);
  Customer customer = customer_fields(fields);
  TRY_VOID(fields.check());
  const std::string record = "the record " + key_text(item) + " cannot be read: ";
  if (!may_be_customer(customer.id))
    return base::fail(base::ErrorCode::corrupt, record + "customer_id " + std::string(customer_id_rule));
  // Without one, no commit could tell that it is the same customer.
  if (customer.version < 1)
    return base::fail(base::ErrorCode::corrupt, record + "version must be a whole number from 1 on");
  return customer;
}

Customer salvaged_customer(const item::Item& item, const std::string& id) {
  ItemFields fields(item);
  Customer customer = customer_fields(fields);
  const auto is_readable = [&](const auto& read) {
    ItemFields alone(item);
    read(alone);
    return alone.check().has_value();
  };
  if (!is_readable([](ItemFields& alone) { alone.flag("opt_out"); })) customer.opted_out = true;
  // Our records have both. One that was put in the place of ours does not tell what the customer had decided.
  if (!item.contains("opt_out") || !item.contains("updated_at_ms")) {
    customer.opted_out = true;
    if (customer.opted_out_reason.empty())
      customer.opted_out_reason = "the record was overwritten: it is not known whether the customer wants reminders";
  }
  if (!is_readable([](ItemFields& alone) { alone.whole("complaints"); })) customer.complaints = 1;
  if (!is_readable([](ItemFields& alone) { alone.whole("hard_bounces"); })) customer.hard_bounces = 1;
  customer.id = id;
  customer.version = 0;
  return customer;
}

item::Item late_payer_item(const Keys& keys, const std::string& customer_id) {
  item::Item item = Keys::key(keys.customer(customer_id), late_payer_sort);
  item.set("GSI1PK", keys.listing("LATE_PAYERS"));
  item.set("GSI1SK", customer_id);
  item.set("customer_id", customer_id);
  return item;
}

item::Item erased_item(const Keys& keys, const ErasedCustomer& erased) {
  item::Item item = Keys::key(keys.customer(erased.customer_id), erased_sort);
  item.set("customer_id", erased.customer_id);
  item.set("opt_out", erased.opted_out);
  set_count(item, "complaints", erased.complaints);
  item.set("suppressed", erased.suppressed);
  item.set("began_at_ms", base::epoch_milliseconds(erased.began_at));
  set_moment(item, "finished_at_ms", erased.finished_at);
  if (!erased.finished_at) {
    item.set("GSI1PK", Keys::erasures());
    item.set("GSI1SK", erasure_sort(erased.began_at + erasure_pause));
    set_text(item, "tenant", keys.tenant());
  }
  return item;
}

std::string erasure_sort(base::TimePoint due) { return base::format_timestamp(due); }

base::Result<ErasedCustomer> read_erased(const item::Item& item) {
  ItemFields fields(item);
  ErasedCustomer erased;
  erased.customer_id = fields.text("customer_id");
  erased.opted_out = fields.flag("opt_out");
  erased.complaints = fields.whole("complaints");
  erased.suppressed = fields.flag("suppressed");
  erased.began_at = fields.moment("began_at_ms").value_or(base::TimePoint());
  erased.finished_at = fields.moment("finished_at_ms");
  TRY_VOID(fields.check());
  return erased;
}

}  // namespace postino::reminders
