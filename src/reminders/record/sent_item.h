// Sent reminders as items of the table: the seed's attributes, and ours beside them.
#pragma once

#include <string>

#include "base/result.h"
#include "item/value.h"
#include "reminders/record/keys.h"
#include "reminders/record/sent_reminder.h"

namespace postino::reminders {

// GSI1PK is STATUS#sent, or STATUS#failed for those that the customer did not get.
item::Item sent_item(const Keys& keys, const SentReminder& sent);
// Also one that another program wrote, without our attributes. corrupt, with the attribute, when it cannot be read.
base::Result<SentReminder> read_sent(const item::Item& item, const std::string& usual_currency);

}  // namespace postino::reminders
