#include "reminders/record/objection.h"

#include <algorithm>

#include "reminders/record/item_fields.h"

namespace postino::reminders {

Objection objection_of(const Customer& customer) {
  Objection objection;
  objection.opted_out = customer.opted_out;
  if (customer.opted_out) objection.opted_out_at = customer.opted_out_at;
  objection.complaints = std::max<std::int64_t>(0, customer.complaints);
  return objection;
}

Customer with_objection(Customer customer, const Objection& objection) {
  if (objection.opted_out && !customer.opted_out) {
    customer.opted_out = true;
    customer.opted_out_at = objection.opted_out_at;
  }
  customer.complaints = std::max(customer.complaints, objection.complaints);
  return customer;
}

item::Item objection_item(const Keys& keys, const std::string& customer_id, const Objection& objection) {
  item::Item item = Keys::key(keys.customer(customer_id), objection_sort);
  item.set("customer_id", customer_id);
  item.set("opt_out", objection.opted_out);
  set_moment(item, "opted_out_at_ms", objection.opted_out_at);
  set_count(item, "complaints", objection.complaints);
  return item;
}

base::Result<Objection> read_objection(const item::Item& item) {
  ItemFields fields(item);
  Objection objection;
  objection.opted_out = fields.flag("opt_out");
  objection.opted_out_at = fields.moment("opted_out_at_ms");
  objection.complaints = fields.whole("complaints");
  TRY_VOID(fields.check());
  return objection;
}

}  // namespace postino::reminders
