// What the items of drafts and of sent reminders have in common: to whom it goes, its text, and what it is about.
#pragma once

#include <string>

#include "reminders/record/item_fields.h"

namespace postino::reminders {

template <class Record>
void set_reminder_fields(item::Item& item, const Record& record) {
  item.set("customer_id", record.customer_id);
  set_text(item, "customer_name", record.customer_name);
  set_text(item, "customer_email", record.customer_email);
  item.set("reminder_type", record.reminder_type);
  item.set("email_subject", record.text.subject);
  item.set("email_content", record.text.body);
  set_text(item, "email_html", record.text.html);
  set_text(item, "template_id", record.template_id);
  set_count(item, "template_version", record.template_version);
  set_money(item, "overdue_amount", "currency", record.overdue_amount);
  set_texts(item, "overdue_totals", record.overdue_totals);
  set_texts(item, "overdue_invoices", record.overdue_invoices);
}

// All of these but the customer's id, for which the key counts as well.
template <class Record>
void read_reminder_fields(ItemFields& fields, Record& record, const std::string& usual_currency) {
  record.customer_name = fields.text("customer_name");
  record.customer_email = fields.text("customer_email");
  record.reminder_type = fields.text("reminder_type");
  record.text = {fields.text("email_subject"), fields.text("email_content"), fields.text("email_html")};
  record.template_id = fields.text("template_id");
  record.template_version = fields.count("template_version");
  record.overdue_amount = fields.money("overdue_amount", "currency", usual_currency);
  record.overdue_totals = fields.texts("overdue_totals");
  record.overdue_invoices = fields.texts("overdue_invoices");
}

}  // namespace postino::reminders
