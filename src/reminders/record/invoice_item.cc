#include "reminders/record/invoice_item.h"

#include "reminders/record/customer.h"
#include "reminders/record/item_fields.h"

namespace postino::reminders {

namespace {

void set_invoice(item::Item& item, const Invoice& invoice) {
  item.set("customer_id", invoice.customer_id);
  item.set("invoice_id", invoice.id);
  item.set("amount", invoice.amount.amount);
  item.set("currency", invoice.amount.currency);
  item.set("paid", invoice.paid);
  item.set("due_date", invoice.due_date);
  set_moment(item, "paid_at_ms", invoice.paid_at);
  if (invoice.paid_day_unknown) item.set("paid_day_unknown", true);
  item::List payments;
  for (const RecordedPayment& payment : invoice.payments)
    payments.emplace_back(item::Map{{"amount", payment.amount},
                                    {"paid_at_ms", base::epoch_milliseconds(payment.paid_at)},
                                    {"reference", payment.reference}});
  if (!payments.empty()) item.set("payments", std::move(payments));
  item.set("created_at_ms", base::epoch_milliseconds(invoice.created_at));
  item.set("updated_at_ms", base::epoch_milliseconds(invoice.updated_at));
  item.set("version", invoice.version);
}

std::string invoice_fault(const item::Item& item, const Invoice& invoice) {
  if (!is_record_id(invoice.customer_id)) return std::string("customer_id ").append(record_id_rule);
  if (!is_record_id(invoice.id)) return std::string("invoice_id ").append(record_id_rule);
  if (!item.contains("amount")) return "amount is missing";
  if (const auto amount = Money::parse(invoice.amount.amount.to_string(), invoice.amount.currency); !amount)
    return "amount " + amount.error().message;
  if (const auto paid = Money::parse(invoice.paid.to_string(), invoice.amount.currency); !paid)
    return "paid " + paid.error().message;
  if (!is_date(invoice.due_date)) return std::string("due_date ").append(date_rule);
  if (invoice.version < 1) return "version must be a whole number from 1 on";
  return "";
}

}  // namespace

item::Key unpaid_key(const Keys& keys, const Invoice& invoice) {
  return Keys::key(keys.customer(invoice.customer_id), std::string(unpaid_begin) + invoice.due_date + "#" + invoice.id);
}

item::Item invoice_item(const Keys& keys, const Invoice& invoice) {
  item::Item item = Keys::key(keys.customer(invoice.customer_id), std::string(invoice_begin) + invoice.id);
  item.set("GSI1PK", keys.listing("INVOICES"));
  item.set("GSI1SK", invoice.customer_id + "#" + invoice.id);
  set_invoice(item, invoice);
  return item;
}

item::Item unpaid_item(const Keys& keys, const Invoice& invoice) {
  item::Item item = unpaid_key(keys, invoice);
  item.set("GSI1PK", keys.status("unpaid", invoice.customer_id));
  item.set("GSI1SK", invoice.due_date + "#" + invoice.customer_id + "#" + invoice.id);
  set_invoice(item, invoice);
  return item;
}

base::Result<Invoice> read_invoice(const item::Item& item) {
  ItemFields fields(item);
  Invoice invoice;
  invoice.customer_id = fields.text("customer_id");
  invoice.id = fields.text("invoice_id");
  invoice.amount = fields.money("amount", "currency", "").value_or(Money());
  invoice.paid = fields.number("paid").value_or(item::Number());
  invoice.due_date = fields.text("due_date");
  invoice.paid_at = fields.moment("paid_at_ms");
  invoice.paid_day_unknown = fields.flag("paid_day_unknown");
  invoice.created_at = fields.moment("created_at_ms").value_or(base::TimePoint());
  invoice.updated_at = fields.moment("updated_at_ms").value_or(invoice.created_at);
  invoice.version = fields.whole("version");
  TRY_VOID(fields.check());
  const auto broken = [&](const std::string& what) {
    return base::fail(base::ErrorCode::corrupt, "the record " + key_text(item) + " cannot be read: " + what);
  };
  if (const std::string fault = invoice_fault(item, invoice); !fault.empty()) return broken(fault);
  const item::AttributeValue* const payments = item.find("payments");
  if (payments != nullptr && payments->get_if<item::List>() == nullptr) return broken("payments must be a list");
  const item::List none;
  for (const item::AttributeValue& each : payments != nullptr ? payments->as<item::List>() : none) {
    const item::Map* const entry = each.get_if<item::Map>();
    if (entry == nullptr) return broken("payments must have maps");
    ItemFields of_payment(*entry);
    const auto amount = of_payment.number("amount");
    const auto at = of_payment.moment("paid_at_ms");
    invoice.payments.push_back(
        {of_payment.text("reference"), amount.value_or(item::Number()), at.value_or(base::TimePoint())});
    if (!amount || !at || !of_payment.check()) return broken("payments must have amount, paid_at_ms and reference");
  }
  return invoice;
}

}  // namespace postino::reminders
