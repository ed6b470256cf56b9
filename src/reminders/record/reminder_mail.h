// The e-mail of a sent reminder.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "outbox/outbox.h"
#include "reminders/record/sent_reminder.h"

namespace postino::reminders {

// Derived, so that one revision of a draft can become one e-mail only, however many processes try and how often.
std::string reminder_email_id(const std::string& tenant, const std::string& draft_id, int revision);

// The customer of a reminder by the tags of its e-mail; empty when they do not tell.
std::string customer_in_tags(const std::vector<std::string>& tags);

// invalid, with the field, when it cannot be an e-mail: another program may have written any text into a draft.
base::Result<outbox::Payload> make_payload(const SentReminder& sent, const std::string& from,
                                           const std::string& reply_to);

}  // namespace postino::reminders
