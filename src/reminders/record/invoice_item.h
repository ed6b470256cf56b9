// Invoices as items of the table.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "item/value.h"
#include "reminders/record/invoice.h"
#include "reminders/record/keys.h"

namespace postino::reminders {

inline constexpr std::string_view unpaid_begin = "UNPAID#";

item::Item invoice_item(const Keys& keys, const Invoice& invoice);
// The copy of one that is not paid. Its sort key has the date that it is due.
item::Item unpaid_item(const Keys& keys, const Invoice& invoice);
item::Key unpaid_key(const Keys& keys, const Invoice& invoice);

// Of either. corrupt, with the attribute, when it cannot be read.
base::Result<Invoice> read_invoice(const item::Item& item);

}  // namespace postino::reminders
