// Drafts and their revisions as items of the table: the seed's attributes, and ours beside them.
#pragma once

#include <string>

#include "base/result.h"
#include "item/value.h"
#include "reminders/record/draft.h"
#include "reminders/record/keys.h"

namespace postino::reminders {

item::Item draft_item(const Keys& keys, const Draft& draft);
// Also one that another program wrote, without our attributes. corrupt, with the attribute, when it cannot be read.
base::Result<Draft> read_draft(const item::Item& item, const std::string& usual_currency);

// `customer_id` and `created_at` are those of the draft.
item::Item revision_item(const Keys& keys, const std::string& customer_id, base::TimePoint created_at,
                         const Revision& revision);
// Which revision the current text is, for when another program puts the draft again, without the number.
item::Item noted_revision_item(const Keys& keys, const Draft& draft);
base::Result<Revision> read_revision(const item::Item& item);

}  // namespace postino::reminders
